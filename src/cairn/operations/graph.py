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
        lambda ws, asked, bar: ws.graph.callers(asked.symbol, limit=asked.limit, progress=bar), ("links",)
    ),
    "callees": Question(
        lambda ws, asked, bar: ws.graph.callees(asked.symbol, limit=asked.limit, progress=bar), ("links",)
    ),
    "path": Question(lambda ws, asked, bar: ws.graph.call_path(asked.source, asked.target, progress=bar), ("steps",)),
    "importers": Question(lambda ws, asked, bar: ws.graph.importers(asked.target, progress=bar), ("importers",)),
    "impact": Question(
        lambda ws, asked, bar: ws.graph.impact(asked.symbol, diff=asked.diff, limit=asked.limit, progress=bar),
        ("affected", "deleted", "tests", "importers", "changed"),
    ),
    "tests": Question(
        lambda ws, asked, bar: ws.graph.choose_tests(asked.symbol, diff=asked.diff, limit=asked.limit, progress=bar),
        ("tests", "deleted", "changed"),
    ),
}


def answer(question: Question, workspace: Workspace, request: Any, progress: Progress | None) -> Any:  # noqa: ANN401 - JSON
    """Answer a question, of an index that is up to date if the request says so."""
    told = workspace.refresh(progress) if request.update else ""
    document = graph_to_dict(question.ask(workspace, request, progress))
    if told:
        document["notes"] = [*document["notes"], told]
    if request.max_tokens is not None:
        fit_lists(document, request.max_tokens, question.lists)
    return document


PERFORM = {f"graph/{name}": partial(answer, question) for name, question in QUESTIONS.items()}
