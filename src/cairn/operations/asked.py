"""Notes what was asked and found, for pages and tuning; where nothing is remembered, nothing is noted."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cairn.errors import AmbiguousError, NotFoundError, StoreError

if TYPE_CHECKING:
    from cairn.workspace import Workspace


def note_question(workspace: Workspace, request: Any, document: Any) -> None:  # noqa: ANN401 - of a search or a recall
    """Note a search or a recall, and which memories answered it. What cannot be noted is no reason to fail."""
    if not _keeps(workspace) or not workspace.has_memory:
        return
    hits, memories = document.get("code", ()), document["memory"]
    is_of_code = "code" in document and request.type != "memory"
    with suppress(StoreError, NotFoundError, AmbiguousError):
        found = workspace.memory.store.observations([row["id"] for row in memories]) if memories else []
        workspace.memory.usage.note_question(
            "code" if is_of_code else "memory",
            request.query,
            len(hits if is_of_code else memories) + document["omitted"],
            session=request.session,
            relevance=max((row.get("relevance", 0.0) for row in (*hits, *memories)), default=0.0),
            ids=[observation.id for observation in found],
        )


def note_fetched(workspace: Workspace, session: str, ids: list[str]) -> None:
    """Note that a session fetched memories, if it was shown them."""
    if _keeps(workspace):
        with suppress(StoreError):
            found = workspace.memory.store.observations(ids)
            workspace.memory.usage.note_use(session, [observation.id for observation in found], "fetched")


def _keeps(workspace: Workspace) -> bool:
    """Tell whether the user lets usage be kept."""
    return workspace.settings.memory is None or workspace.settings.memory.capture
