"""What the server says, whatever carries it: tools, prompts and resources as the plain values of the protocol."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, NamedTuple

from cairn.client import Client
from cairn.errors import CairnError, ProjectError, RequestError
from cairn.hints import show
from cairn.mcp.about import INVALID_PARAMS, ProtocolError
from cairn.mcp.tools import CORE_FILES, INDEX_STATUS, TOOLS, Asked, Report, Tool, call
from cairn.protocol.requests import ProjectRequest
from cairn.schema import decode

_log = logging.getLogger("cairn.mcp")
Params = dict[str, Any]
Prepare = Callable[[], Awaitable[str | None]]
MAX_AT_ONCE = 16  # calls; others wait here, for the daemon would refuse them


class Prompt(NamedTuple):
    """Something a user can have the agent do; `text` may hold the one argument's name in braces."""

    name: str
    description: str
    text: str
    argument: str = ""
    argument_description: str = ""


PROMPTS = {
    one.name: one
    for one in (
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
    """Something a user can attach: what a tool answers to a request without arguments."""

    uri: str
    name: str
    description: str
    tool: Tool


RESOURCES = {
    one.uri: one
    for one in (
        Resource("cairn://status", "status", "How much of this project is indexed", INDEX_STATUS),
        Resource("cairn://core-files", "core files", "The files to know first, and what they define", CORE_FILES),
    )
}


async def _nowhere(done: float, total: float, message: str) -> None:
    """Report to nobody: the agent did not ask for it."""


class Surface:
    """Answers the methods of the protocol that are about content.

    Args:
        client: asks the daemon.
        project: name or folder of the project that is meant when an agent names none.
        prepare: awaited before each call, for what has to be so before the daemon is asked; returns the project that
            is meant instead, if it found that out.
    """

    def __init__(self, client: Client, project: str = "", prepare: Prepare | None = None) -> None:
        self._client = client
        self._project = project
        self._prepare = prepare
        self._turns = asyncio.Semaphore(MAX_AT_ONCE)
        self._methods: dict[str, Callable[[Params, Report], Awaitable[Params]]] = {
            "tools/list": _list_tools,
            "tools/call": self._call_tool,
            "prompts/list": _list_prompts,
            "prompts/get": _get_prompt,
            "resources/list": _list_resources,
            "resources/read": self._read_resource,
        }

    def handles(self, method: str) -> bool:
        """Tell whether a method is one of those that `handle` answers."""
        return method in self._methods

    async def handle(self, method: str, params: Params, report: Report = _nowhere) -> Params:
        """Answer a method.

        Args:
            method: one that this `handles`.
            params: of the request.
            report: is told how far a long call is.

        Raises:
            ProtocolError: for a name that is not known, or params of another shape. What goes wrong in a tool is an
                answer.
        """
        return await self._methods[method](params, report)

    async def _call_tool(self, params: Params, report: Report) -> Params:
        tool = _named(TOOLS, params, "name", "tool")
        arguments = _arguments(params)
        try:
            return _text(await self._run(tool, arguments, report))
        except CairnError as error:
            return _text(_told(error), is_error=True)
        except Exception as error:  # noqa: BLE001 - the edge of a tool call; it is logged
            _log.exception("internal error in %s", tool.name)
            return _text(f"error[internal]: {type(error).__name__}: {error}", is_error=True)

    async def _run(self, tool: Tool, arguments: Params, report: Report) -> str:
        # Some agents fill what they leave out with null.
        given = {name: value for name, value in arguments.items() if value is not None}
        given["project"] = given.get("project") or self._project
        try:
            request: ProjectRequest = decode(tool.request, given)
        except RequestError as error:
            raise RequestError(str(error), f"{tool.name} takes: {', '.join(tool.offers)}") from error
        async with self._turns:
            if self._prepare is not None:
                # Where the agent was started need be no project when it names another one.
                with suppress(ProjectError) if request.project != self._project else nullcontext():
                    found = await self._prepare()
                    if found is not None and request.project == self._project:
                        request = replace(request, project=found)
            return await call(tool, Asked(self._client, report), request)

    async def _read_resource(self, params: Params, report: Report) -> Params:
        resource = _named(RESOURCES, params, "uri", "resource")
        try:
            found = await self._run(resource.tool, {}, report)
        except CairnError as error:
            found = _told(error)
        return {"contents": [{"uri": resource.uri, "mimeType": "text/plain", "text": found}]}


async def _list_tools(params: Params, report: Report) -> Params:
    return {"tools": [one.describe() for one in TOOLS.values()]}


async def _list_prompts(params: Params, report: Report) -> Params:
    return {"prompts": [_describe_prompt(one) for one in PROMPTS.values()]}


def _describe_prompt(prompt: Prompt) -> Params:
    shown: Params = {"name": prompt.name, "description": prompt.description}
    if prompt.argument:
        shown["arguments"] = [{"name": prompt.argument, "description": prompt.argument_description, "required": True}]
    return shown


async def _get_prompt(params: Params, report: Report) -> Params:
    prompt = _named(PROMPTS, params, "name", "prompt")
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


async def _list_resources(params: Params, report: Report) -> Params:
    return {
        "resources": [
            {"uri": one.uri, "name": one.name, "description": one.description, "mimeType": "text/plain"}
            for one in RESOURCES.values()
        ]
    }


def _named(table: dict[str, Any], params: Params, key: str, what: str) -> Any:  # noqa: ANN401 - an entry of the table
    name = params.get(key)
    if not isinstance(name, str):
        raise ProtocolError(INVALID_PARAMS, f"{key!r} must be a text")
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


def _told(error: CairnError) -> str:
    hint = f"\ntry: {show(error.hint, 'tools')}" if error.hint else ""
    return f"error[{error.code}]: {error}{hint}"


def _text(text: str, *, is_error: bool = False) -> Params:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
