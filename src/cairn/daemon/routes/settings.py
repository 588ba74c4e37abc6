"""`/api/settings…`: settings with their sources, and changes to those that do not decide where data goes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from cairn.daemon.http import Request, Response, Route
from cairn.fields import Rule
from cairn.loading import load
from cairn.protocol.requests import ProjectRequest

if TYPE_CHECKING:
    from cairn.operations.settings import ChangedSetting


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsetRequest(ProjectRequest):
    """Remove a setting from a file."""

    name: Annotated[str, Rule("the setting, such as garbage_days", min_length=1, max_length=200)]
    shared: Annotated[bool, Rule("in the project's file instead of the user's")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRequest(UnsetRequest):
    """Write a setting into a file."""

    value: Annotated[str, Rule("its value, as it is typed", max_length=10_000)]


class ChangedDocument(TypedDict):
    """The outcome of a change: what was written, where, and whether that is a difference."""

    name: str
    value: Any
    file: str
    changed: bool


async def _show(request: Request) -> Response:
    arguments = request.query(ProjectRequest)
    return Response(
        await asyncio.to_thread(load("cairn.operations.settings:settings_document"), _root(request, arguments))
    )


async def _set(request: Request) -> Response:
    arguments = await request.read(SetRequest)
    return await _change(request, arguments, "change_setting", [arguments.value])


async def _unset(request: Request) -> Response:
    return await _change(request, await request.read(UnsetRequest), "unset_setting", [])


async def _change(request: Request, arguments: UnsetRequest, function: str, values: list[str]) -> Response:
    load("cairn.operations.settings:check_free")(arguments.name)
    change = partial(load(f"cairn.operations.settings:{function}"), _root(request, arguments), arguments.name, values)
    made: ChangedSetting = await asyncio.to_thread(change, shared=arguments.shared)
    answer: ChangedDocument = {
        "name": arguments.name, "value": made.value, "file": str(made.file), "changed": made.changed,
    }  # fmt: skip
    return Response(answer)


def _root(request: Request, arguments: ProjectRequest) -> Path:
    return Path(request.daemon.projects.registry.find(arguments.project).root)


ROUTES = [
    Route("GET", "/api/settings", _show, "List settings with where each comes from", ProjectRequest, dict[str, Any]),
    Route("POST", "/api/settings/set", _set, "Write a setting into a file", SetRequest, ChangedDocument),
    Route("POST", "/api/settings/unset", _unset, "Take a setting out of a file", UnsetRequest, ChangedDocument),
]
