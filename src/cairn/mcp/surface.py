"""What the server offers over any transport: tools, prompts and resources, as plain values of the protocol."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.errors import CairnError, PathError, ProjectError, RequestError
from cairn.mcp.about import INVALID_PARAMS, ProtocolError
from cairn.mcp.text import error_text
from cairn.mcp.tools import CORE_FILES, INDEX_STATUS, TOOLS, AgentCall, Report, Tool, call
from cairn.memory.actors import agent_named
from cairn.protocol.requests import ProjectRequest
from cairn.schema import decode

_log = logging.getLogger("cairn.mcp")
Params = dict[str, Any]
Prepare = Callable[[], Awaitable[str | None]]
MAX_AT_ONCE = 16  # calls at once; others wait here, because the daemon would refuse them


class Prompt(NamedTuple):
    """Something a user can have the agent do; `text` may contain the name of its single argument in braces."""

    name: str
    description: str
    text: str
    argument: str = ""
    argument_description: str = ""


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "search",
            "Find and explain code in this project",
            "Find the code that answers this, with the tools of cairn: {question}\n"
            "Begin with `search`, `fetch` what matters, and use `graph` for who calls what. "
            "Answer with the places as path:line.",
            "question",
            "what to find, in prose or as a name",
        ),
        Prompt(
            "index",
            "Bring the index of this project up to date and say what is in it",
            "Call `index_status` of cairn with check=true. If it tells of an error, run the command that it names in a "
            "shell, and call it again. Then say in a few sentences what is indexed and what is skipped.",
        ),
        Prompt(
            "status",
            "Show how much of this project is indexed",
            "Call `index_status` of cairn and sum up the answer in two sentences.",
        ),
    )
}


class Resource(NamedTuple):
    """Something a user can attach: a tool's answer without arguments."""

    uri: str
    name: str
    description: str
    tool: Tool


RESOURCES = {
    resource.uri: resource
    for resource in (
        Resource("cairn://status", "status", "How much of this project is indexed", INDEX_STATUS),
        Resource("cairn://core-files", "core files", "The files to know first, and what they define", CORE_FILES),
    )
}


async def report_nowhere(done: float, total: float, message: str) -> None:
    """Report progress to nobody, since the agent did not ask for it."""


class Caller(NamedTuple):
    """The caller: a function for the progress of long calls, and the name of the agent's program."""

    report: Report
    name: str


class Surface:
    """Answers the protocol's methods about content.

    Args:
        client: asks the daemon.
        project: name or folder of the default project.
        prepare: awaited before each call; may return another project to use.
        texts: returns replacements for tools' descriptions, by `tool.NAME`.
    """

    def __init__(
        self,
        client: Client,
        project: str = "",
        prepare: Prepare | None = None,
        texts: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._client = client
        self._project = project
        self._prepare = prepare
        self._texts = texts
        self._turns = asyncio.Semaphore(MAX_AT_ONCE)
        self._methods: dict[str, Callable[[Params, Caller], Awaitable[Params]]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "prompts/list": _list_prompts,
            "prompts/get": _get_prompt,
            "resources/list": _list_resources,
            "resources/read": self._read_resource,
        }

    def handles(self, method: str) -> bool:
        """Return whether `handle` answers a method."""
        return method in self._methods

    async def handle(
        self, method: str, params: Params, report: Report = report_nowhere, client: object = None
    ) -> Params:
        """Answer a method.

        Args:
            method: one that this `handles`.
            params: of the request.
            report: called with the progress of a long call.
            client: the name of the agent's program, if given.

        Raises:
            ProtocolError: for an unknown name or malformed params. An error of a tool is a normal answer.
        """
        return await self._methods[method](params, Caller(report, agent_named(client)))

    async def _list_tools(self, params: Params, caller: Caller) -> Params:
        texts = await asyncio.to_thread(self._texts)
        return {"tools": [tool.describe(texts.get(f"tool.{tool.name}", "")) for tool in TOOLS.values()]}

    async def _call_tool(self, params: Params, caller: Caller) -> Params:
        tool = _entry(TOOLS, params, "name", "tool")
        arguments = _arguments(params)
        try:
            return _text(await self._run(tool, arguments, caller))
        except CairnError as error:
            return _text(error_text(error), is_error=True)
        except Exception as error:  # noqa: BLE001 - the edge of a tool call; it is logged
            _log.exception("internal error in %s", tool.name)
            return _text(f"error[internal]: {type(error).__name__}: {error}", is_error=True)

    async def _run(self, tool: Tool, arguments: Params, caller: Caller) -> str:
        # Some agents send null for omitted arguments.
        given = {name: value for name, value in arguments.items() if value is not None}
        given["project"] = given.get("project") or self._project
        try:
            request: ProjectRequest = decode(tool.request, given, tool.offers)
        except RequestError as error:
            raise RequestError(str(error), f"{tool.name} takes: {', '.join(tool.offers)}") from error
        async with self._turns:
            if self._prepare is not None:
                # The agent's own folder may not exist or be a project if it names another one.
                with suppress(ProjectError, PathError) if request.project != self._project else nullcontext():
                    project = await self._prepare()
                    if project is not None and request.project == self._project:
                        request = replace(request, project=project)
            return await call(tool, AgentCall(self._client, caller.report, caller.name), request)

    async def _read_resource(self, params: Params, caller: Caller) -> Params:
        resource = _entry(RESOURCES, params, "uri", "resource")
        try:
            text = await self._run(resource.tool, {}, caller)
        except CairnError as error:
            text = error_text(error)
        return {"contents": [{"uri": resource.uri, "mimeType": "text/plain", "text": text}]}


async def _list_prompts(params: Params, caller: Caller) -> Params:
    return {"prompts": [_describe_prompt(prompt) for prompt in PROMPTS.values()]}


def _describe_prompt(prompt: Prompt) -> Params:
    shown: Params = {"name": prompt.name, "description": prompt.description}
    if prompt.argument:
        shown["arguments"] = [{"name": prompt.argument, "description": prompt.argument_description, "required": True}]
    return shown


async def _get_prompt(params: Params, caller: Caller) -> Params:
    prompt = _entry(PROMPTS, params, "name", "prompt")
    arguments = _arguments(params)
    text = prompt.text
    if prompt.argument:
        value = arguments.get(prompt.argument)
        if not isinstance(value, str) or not value.strip():
            raise ProtocolError(INVALID_PARAMS, f"the prompt needs the argument {prompt.argument!r}")
        text = text.replace(f"{{{prompt.argument}}}", value)
    return {
        "description": prompt.description,
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }


async def _list_resources(params: Params, caller: Caller) -> Params:
    return {
        "resources": [
            {"uri": resource.uri, "name": resource.name, "description": resource.description, "mimeType": "text/plain"}
            for resource in RESOURCES.values()
        ]
    }


def _entry(table: dict[str, Any], params: Params, key: str, what: str) -> Any:  # noqa: ANN401 - an entry of the table
    name = params.get(key)
    if not isinstance(name, str):
        raise ProtocolError(INVALID_PARAMS, f"{key!r} must be a string")
    if name not in table:
        raise ProtocolError(INVALID_PARAMS, f"unknown {what}: {name[:200]}", {key: name[:200]})
    return table[name]


def _arguments(params: Params) -> Params:
    arguments = params.get("arguments")
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, "arguments must be an object")
    return arguments


def _text(text: str, *, is_error: bool = False) -> Params:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
