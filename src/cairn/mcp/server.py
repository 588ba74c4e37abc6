"""The server built on the official SDK, for HTTP and for tests; only imported there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from cairn.client import Client
from cairn.mcp.about import INSTRUCTIONS, ProtocolError, server_info
from cairn.mcp.surface import Surface

_Result = TypeVar("_Result", bound=BaseModel)
_Context = ServerRequestContext[Any]


def create_server(client: Client, project: str = "", texts: Callable[[], Mapping[str, str]] = dict) -> Server[Any]:
    """Return a server whose tools ask the daemon.

    Args:
        client: asks the daemon.
        project: name or folder of the default project.
        texts: see `Surface`.
    """
    surface = Surface(client, project, texts=texts)

    async def answer(kind: type[_Result], method: str, ctx: _Context, params: BaseModel | None) -> _Result:
        async def report(done: float, total: float, message: str) -> None:
            await ctx.session.report_progress(done, total, message)

        asked = {} if params is None else params.model_dump(by_alias=True, exclude_none=True, mode="json")
        try:
            return kind.model_validate(await surface.handle(method, asked, report, _client_name(ctx)))
        except ProtocolError as error:
            raise MCPError(code=error.code, message=str(error), data=error.data) from error

    async def list_tools(ctx: _Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return await answer(types.ListToolsResult, "tools/list", ctx, params)

    async def call_tool(ctx: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await answer(types.CallToolResult, "tools/call", ctx, params)

    async def list_prompts(ctx: _Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return await answer(types.ListPromptsResult, "prompts/list", ctx, params)

    async def get_prompt(ctx: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await answer(types.GetPromptResult, "prompts/get", ctx, params)

    async def list_resources(ctx: _Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return await answer(types.ListResourcesResult, "resources/list", ctx, params)

    async def read_resource(ctx: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await answer(types.ReadResourceResult, "resources/read", ctx, params)

    return Server(
        **server_info(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _client_name(ctx: _Context) -> str | None:
    """Return the client's name; None over HTTP, where it is only sent in a separate request."""
    params = ctx.session.client_params
    return None if params is None else params.client_info.name
