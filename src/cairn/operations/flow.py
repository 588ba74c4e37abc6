"""How control and data flow in a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.errors import QueryError
from cairn.hints import Hint
from cairn.protocol.documents import flow_to_dict
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress
    from cairn.protocol.requests import FlowRequest


def flow(workspace: Workspace, request: FlowRequest, progress: Progress | None = None) -> dict[str, Any]:
    """Return the flow of a function.

    Raises:
        QueryError: if the place names no function, or flow is not supported for its language.
        NotFoundError, AmbiguousError, PathError: if there is no such file or function.
    """
    return flow_to_dict(workspace.code.flow(*parse_function_place(request.place)))


def parse_function_place(text: str) -> tuple[str, str]:
    """Return the file and the name in `FILE:FUNCTION` or `FILE#FUNCTION`.

    Raises:
        QueryError: if it is neither.
    """
    file, _, function = text.rpartition(":") if ":" in text else text.partition("#")
    if not file or not function:
        raise QueryError(f"{text!r} does not name a function", Hint.of("flow", place="FILE:FUNCTION"))
    return file, function


PERFORM = {"flow": flow}
