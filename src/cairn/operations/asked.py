"""Records what was asked, shown and fetched, for pages and tuning; only in projects with a memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cairn.errors import AmbiguousError, NotFoundError, StoreError
from cairn.memory.feedback import FetchedPlace
from cairn.memory.handles import is_handle
from cairn.storage.memory.rows import AskedQuestion, ShownHit

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_Document = Mapping[str, Any]


def note_answer(
    workspace: Workspace,
    operation: str,
    request: Any,  # noqa: ANN401 - of the operation
    document: Any,  # noqa: ANN401 - JSON
    surface: str,
) -> None:
    """Record a question, or what was fetched. Failing to record is not an error.

    Args:
        workspace: the project.
        operation: `search`, `recall`, `context` or `fetch`; others are not recorded.
        request: of the operation.
        document: its answer.
        surface: where it was asked: `mcp`, `http` or `cli`.
    """
    if not _keeps(workspace) or not workspace.has_memory:
        return
    with suppress(StoreError, NotFoundError, AmbiguousError):
        if operation == "recall" or (operation == "search" and request.type == "memory"):
            _note_recall(workspace, request, document)
        elif operation == "search":
            n_found = len(document["code"]) + document["omitted"]
            _note_search(workspace, request, request.query, document, document["code"], n_found, surface)
        elif operation == "context" and request.task:
            n_found = len(document["items"]) + document["omitted"]
            _note_search(workspace, request, request.task, document, document["items"], n_found, surface)
        elif operation in ("context", "fetch"):
            items = document["items"] if operation == "context" else document
            workspace.memory.feedback.note_fetched(request.session, _fetched(request.ids, items))


def _note_recall(workspace: Workspace, request: Any, document: _Document) -> None:  # noqa: ANN401 - as above
    memories = document["memory"]
    workspace.memory.usage.note_question(
        "memory",
        request.query,
        len(memories) + document["omitted"],
        session=request.session,
        relevance=_best(memories),
        ids=_ids_of(workspace, memories),
    )


def _note_search(
    workspace: Workspace,
    request: Any,  # noqa: ANN401 - as above
    text: str,
    document: _Document,
    hits: Iterable[_Document],
    n_found: int,
    surface: str,
) -> None:
    memories = document["memory"]
    shown = [_shown(rank, hit) for rank, hit in enumerate(hits, 1)]
    ids = _ids_of(workspace, memories)
    if workspace.memory.feedback.keeps:
        relevance = max(_best(memories), max((hit.relevance for hit in shown), default=0.0))
        asked = AskedQuestion(request.session, 0.0, "code", text, n_found, relevance, surface)
        workspace.memory.feedback.note_answer(asked, shown, ids)
    elif ids:  # having answered keeps these memories from being retired
        workspace.memory.usage.note_question("code", "", n_found, session=request.session, ids=ids)


def _shown(rank: int, hit: _Document) -> ShownHit:
    symbol, relevance = hit.get("qualified_name") or hit["name"], hit.get("relevance", 0.0)
    return ShownHit(0, rank, hit["id"], hit["filepath"], hit["start_line"], hit["end_line"], symbol, relevance)


def _fetched(ids: Iterable[str], items: Iterable[_Document]) -> list[FetchedPlace]:
    """Return the fetched code; an id that includes a path is recorded by its file."""
    asked = {id for id in ids if not is_handle(id)}
    return [
        FetchedPlace(item["id"] if item["id"] in asked else "", item["filepath"], item["name"])
        for item in items
        if item["filepath"] and not is_handle(item["id"])
    ]


def _best(rows: Iterable[_Document]) -> float:
    return max((row.get("relevance", 0.0) for row in rows), default=0.0)


def _ids_of(workspace: Workspace, memories: Iterable[_Document]) -> list[str]:
    ids = [row["id"] for row in memories]
    return [observation.id for observation in workspace.memory.store.observations(ids)] if ids else []


def note_fetched(workspace: Workspace, session: str, ids: list[str]) -> None:
    """Record that a session fetched memories, if it was shown them."""
    if _keeps(workspace):
        with suppress(StoreError):
            found = workspace.memory.store.observations(ids)
            workspace.memory.usage.note_use(session, [observation.id for observation in found], "fetched")


def _keeps(workspace: Workspace) -> bool:
    """Tell whether the user allows usage to be recorded."""
    return workspace.settings.memory is None or workspace.settings.memory.capture
