"""Questions to the symbol graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from cairn.budget import fit_lists
from cairn.protocol.documents import graph_to_dict
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress


class Question(NamedTuple):
    """A question, and the lists of its answer that a budget cuts, the first one last."""

    ask: Callable[[Workspace, Any, Progress | None], object]
    lists: tuple[str, ...]


QUESTIONS = {
    "callers": Question(
        lambda ws, request, progress: ws.graph.callers(request.symbol, limit=request.limit, progress=progress),
        ("links",),
    ),
    "callees": Question(
        lambda ws, request, progress: ws.graph.callees(request.symbol, limit=request.limit, progress=progress),
        ("links",),
    ),
    "references": Question(
        lambda ws, request, progress: ws.graph.references(
            request.symbol, kinds=request.kinds, limit=request.limit, progress=progress
        ),
        ("references",),
    ),
    "subclasses": Question(
        lambda ws, request, progress: ws.graph.subclasses(request.symbol, limit=request.limit, progress=progress),
        ("links",),
    ),
    "path": Question(
        lambda ws, request, progress: ws.graph.call_path(request.source, request.target, progress=progress), ("steps",)
    ),
    "importers": Question(
        lambda ws, request, progress: ws.graph.importers(request.target, progress=progress), ("importers",)
    ),
    "impact": Question(
        lambda ws, request, progress: ws.graph.impact(
            request.symbol, diff=request.diff, limit=request.limit, progress=progress
        ),
        ("affected", "deleted", "tests", "importers", "changed"),
    ),
    "tests": Question(
        lambda ws, request, progress: ws.graph.choose_tests(
            request.symbol, diff=request.diff, limit=request.limit, progress=progress
        ),
        ("tests", "deleted", "changed"),
    ),
}


def answer(question: Question, workspace: Workspace, request: Any, progress: Progress | None) -> Any:  # noqa: ANN401 - JSON
    """Answer a question, of an index that is up to date if the request says so."""
    note = workspace.refresh(progress) if request.update else ""
    document = graph_to_dict(question.ask(workspace, request, progress))
    if note:
        document["notes"] = [*document["notes"], note]
    if request.max_tokens is not None:
        fit_lists(document, request.max_tokens, question.lists)
    return document


PERFORM = {f"graph/{name}": partial(answer, question) for name, question in QUESTIONS.items()}
