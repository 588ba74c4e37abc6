"""Questions to the history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.budget import fit_lists
from cairn.protocol.documents import graph_to_dict
from cairn.protocol.history_requests import HistoryRequest, RelatedRequest, WhyRequest
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress


def _solve(workspace: Workspace, request: HistoryRequest, _: Progress | None) -> Any:  # noqa: ANN401 - JSON
    found = workspace.history.solve(request.query, limit=request.limit, update=request.update)
    return _fit(found, request.max_tokens, ("commits", "files"))


def _relate(workspace: Workspace, request: RelatedRequest, _: Progress | None) -> Any:  # noqa: ANN401 - JSON
    found = workspace.history.related(request.file, limit=request.limit, update=request.update)
    return _fit(found, request.max_tokens, ("files",))


def _explain(workspace: Workspace, request: WhyRequest, _: Progress | None) -> Any:  # noqa: ANN401 - JSON
    found = workspace.history.why(request.place, limit=request.limit, update=request.update)
    return _fit(found, request.max_tokens, ("commits",))


def _fit(found: object, max_tokens: int | None, lists: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON
    document = graph_to_dict(found)
    if max_tokens is not None:
        fit_lists(document, max_tokens, lists)
    return document


PERFORM = {"history": _solve, "history/related": _relate, "history/why": _explain}
