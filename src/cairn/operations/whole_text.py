"""Removes lone surrogates from requests to the memory, since databases refuse them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cairn.schema import encode

if TYPE_CHECKING:
    from cairn.index.limits import Progress
    from cairn.workspace import Workspace

Perform = Callable[..., Any]


def perform_all(operations: Mapping[str, Perform]) -> dict[str, Perform]:
    """Return operations that never get lone surrogates."""
    return {name: _asked_with_whole_text(perform) for name, perform in operations.items()}


def _asked_with_whole_text(perform: Perform) -> Perform:
    def perform_it(workspace: Workspace, request: Any, progress: Progress | None = None) -> Any:  # noqa: ANN401 - JSON
        given = {name: _whole(value) for name, value in encode(request).items()}
        return perform(workspace, replace(request, **given), progress)

    return perform_it


def _whole(value: Any) -> Any:  # noqa: ANN401 - of any kind that a field has
    if isinstance(value, tuple):
        return tuple(map(_whole, value))
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
