"""What memories rest on: the code that they speak of, then and now, and the vectors by which they are found."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from cairn.errors import NotFoundError
from cairn.facets.memory import MemoryFacet, by_whom
from cairn.memory.handles import handle_of
from cairn.memory.linked_code import LinkedCodes
from cairn.memory.links import link_to, name_of
from cairn.memory.reembedding import Reembedding
from cairn.memory.store import By
from cairn.operations.memory_rows import changed_rows
from cairn.operations.whole_text import perform_all
from cairn.protocol.memory_documents import (
    ChangedMemoriesDocument,
    EmbeddedDocument,
    LinkedCodeDocument,
    MemoryCodeDocument,
    ModelWorkDocument,
)
from cairn.protocol.memory_requests import EmbedRequest, MemoryCodeRequest, MemoryKeepRequest
from cairn.storage.memory.rows import CodeLink, Observation
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_NOBODY = "agent:unknown"  # asks, if the request does not say who


def show_code(workspace: Workspace, request: MemoryCodeRequest, progress: Progress | None = None) -> MemoryCodeDocument:
    """Show the code that a memory speaks of, as it was when it was linked and as it is now."""
    observation = workspace.memory.store.observation(request.id)
    (now,) = workspace.memory.recall.followed([observation])
    codes = LinkedCodes(workspace.root).of(observation, now.links)
    links = [cast("LinkedCodeDocument", code._asdict()) for code in codes]
    return {"id": handle_of(observation.id), "links": links}


def keep(workspace: Workspace, request: MemoryKeepRequest, progress: Progress | None = None) -> ChangedMemoriesDocument:
    """Say that memories are right as they are, of all or none.

    They are tied to their code as it is now, and no more to what is gone. Where agents were shown one, it helped.
    """
    memory, by = workspace.memory, by_whom(request.actor or _NOBODY)
    found = memory.store.observations(list(dict.fromkeys(request.ids)))
    if not found:
        return {"memories": []}
    ties = [
        _ties(workspace, observation, now)
        for observation, now in zip(found, memory.recall.followed(found), strict=True)
    ]
    with memory.store.writing():
        kept = [_kept(memory, observation, by, own) for observation, own in zip(found, ties, strict=True)]
    return changed_rows(memory, kept)


def _ties(workspace: Workspace, observation: Observation, now: Observation) -> list[tuple[CodeLink, CodeLink | None]]:
    """Return the links of a memory, each with what it is to be once the memory is right; None if its code is gone.

    Args:
        workspace: of the project.
        observation: the memory.
        now: the same, with its links leading to where their files are now.
    """
    staleness = workspace.memory.recall.staleness(now)
    ties: list[tuple[CodeLink, CodeLink | None]] = []
    for link, moved in zip(observation.links, now.links, strict=True):
        name = name_of(moved)
        right = link_to(workspace.root, name) if name in staleness.changed else moved
        ties.append((link, None if name in staleness.gone else right))
    return ties


def _kept(
    memory: MemoryFacet, observation: Observation, by: By, ties: Sequence[tuple[CodeLink, CodeLink | None]]
) -> Observation:
    for link, right in ties:
        if right is not None and right != link:
            observation = memory.lifecycle.link(observation.id, right, by)
        if right is None or (right.path, right.symbol) != (link.path, link.symbol):
            observation = memory.lifecycle.unlink(observation.id, link.path, link.symbol, by)
    with suppress(NotFoundError):  # it was shown to nobody
        memory.feedback.mark_memory(observation.id, "good")
    return observation


def embed(workspace: Workspace, request: EmbedRequest, progress: Progress | None = None) -> EmbeddedDocument:
    """Embed all memories again, or say what that takes."""
    work = Reembedding(workspace.memory.store, workspace.memory.recall.models)
    works = work.estimate() if request.dry_run else work.run(progress)
    rows = [cast("ModelWorkDocument", row._asdict()) for row in works]
    return {"dry_run": request.dry_run, "models": rows}


PERFORM = perform_all({"memories/code": show_code, "memories/keep": keep, "memories/embed": embed})
