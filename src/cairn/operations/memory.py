"""Memories: kept, listed, changed, settled, erased."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cairn.budget import fit_lists, fit_memories, fit_recall
from cairn.errors import NotFoundError, RequestError
from cairn.facets.memory import by_whom
from cairn.hints import Hint
from cairn.memory.handles import handle_of
from cairn.memory.identity import session_to_keep
from cairn.memory.links import link_to, name_of
from cairn.memory.shown import sources_of
from cairn.memory.store import By
from cairn.memory.targets import MARK, Target, target_below
from cairn.operations.memory_rows import changed_rows, memory_of, memory_row, memory_rows, whole_memory
from cairn.operations.periods import end_of, folder_or_file, start_of
from cairn.operations.whole_text import perform_all
from cairn.protocol.documents import memory_hit_to_dict
from cairn.protocol.memory_documents import (
    ChangedMemoriesDocument,
    ForgottenDocument,
    MemoryDocument,
    MemoryListDocument,
    RecallDocument,
    RememberedDocument,
)
from cairn.protocol.memory_requests import (
    ActingRequest,
    ForgetRequest,
    MemoriesRequest,
    MemoryEditRequest,
    MemoryFilter,
    MemoryRequest,
    MemoryStatusRequest,
    MemoryUndoRequest,
    RecallRequest,
    RememberRequest,
)
from cairn.source.text import pluralize
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import CodeLink, Observation
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_NOBODY = "agent:unknown"  # asks, if the request does not say who
_FAINT_ONES = 3  # memories that are shown where none is like the question
_MOST_SHOWN = 20  # of the last times at which agents were shown a memory
_REMOVED = re.compile(r"\[redacted: [a-z0-9-]+\]|\[private\]")


def remember(workspace: Workspace, request: RememberRequest, progress: Progress | None = None) -> RememberedDocument:
    """Keep a memory; see `MemoryFacet.remember`."""
    made = workspace.memory.remember(
        request.text,
        type=request.type,
        files=request.files,
        importance=request.importance,
        tags=request.tags,
        shared=request.shared,
        session=request.session,
        actor=request.actor or _NOBODY,
    )
    observation = made.observation
    notes = []
    if n_removed := len(_REMOVED.findall(observation.text)) - len(_REMOVED.findall(request.text)):
        notes.append(f"{pluralize(n_removed, 'secret or private part was', 'secrets or private parts were')} left out.")
    notes += [f"It takes the place of {handle_of(old.id)}." for old in made.replaced]
    return {
        "id": handle_of(observation.id),
        "is_new": made.is_new,
        "memory": memory_row(observation),
        "notes": notes,
    }


def recall(workspace: Workspace, request: RecallRequest, progress: Progress | None = None) -> RecallDocument:
    """Find memories by what they say; see `MemoryAnswers.find`."""
    started = time.perf_counter()
    hits = memory_of(workspace).answers.find(
        request.query,
        request.limit,
        types=request.types,
        include_resolved=request.include_resolved,
        all_branches=request.all_branches,
        at_least=_FAINT_ONES,
    )
    document: RecallDocument = {
        "query": request.query,
        "memory": [memory_hit_to_dict(hit, whole=True) for hit in hits],
        "omitted": 0,
        "took_ms": round(1000 * (time.perf_counter() - started), 2),
        "notes": [],
    }
    if request.max_tokens is not None:
        fit_recall(document, request.max_tokens)
    return document


def list_memories(
    workspace: Workspace, request: MemoriesRequest, progress: Progress | None = None
) -> MemoryListDocument:
    """List memories by what they are; nothing is ranked."""
    store, conditions = memory_of(workspace).store, conditions_of(workspace, request)
    found = store.select(conditions, request.limit or None, request.offset)
    document: MemoryListDocument = {
        "memories": memory_rows(workspace.memory, found),
        "total": store.count(conditions),
        "omitted": 0,
    }
    if request.max_tokens is not None:
        fit_lists(document, request.max_tokens, ("memories",))  # type: ignore[arg-type] # it has the fields of a dict
    return document


def conditions_of(workspace: Workspace, request: MemoryFilter) -> Conditions:
    """Return what a filter asks for as conditions of the store."""
    path = folder_or_file(workspace.root, request.file)
    paths, moved = workspace.memory.recall.places_of(path) if path else ((), ())
    return Conditions(
        statuses=request.statuses,
        types=request.types,
        origins=request.origins,
        branches=(request.branch,) if request.branch else (),
        session=session_to_keep(request.session),
        tag=request.tag,
        paths=paths,
        moved=moved,
        text=request.text,
        since=start_of(request.since),
        until=end_of(request.until),
    )


def show(workspace: Workspace, request: MemoryRequest, progress: Progress | None = None) -> list[MemoryDocument]:
    """Show memories whole; beyond the budget their histories go first, then the ends of their texts."""
    store = workspace.memory.store
    observations = store.observations(request.ids)
    for observation in observations:
        if observation.is_redacted:
            raise NotFoundError(f"the memory {handle_of(observation.id)} was erased", Hint("find them", "memories"))
    sources, now = sources_of(store, observations), workspace.memory.recall.followed(observations)
    documents = [
        whole_memory(
            observation,
            store.history(observation.id),
            sources.get(observation.id, ""),
            workspace.memory.usage.injections(observation=observation.id, limit=_MOST_SHOWN),
        )
        for observation in now
    ]
    return documents if request.max_tokens is None else fit_memories(documents, request.max_tokens)


def edit(workspace: Workspace, request: MemoryEditRequest, progress: Progress | None = None) -> ChangedMemoriesDocument:
    """Change what a memory says or is tied to, all of it or nothing."""
    fields: dict[str, object] = {
        name: value
        for name, value in (
            ("text", request.text),
            ("type", request.type),
            ("importance", request.importance),
            ("is_shared", request.shared),
        )
        if value is not None
    }
    if not (fields or request.tags or request.remove_tags or request.files or request.remove_files):
        raise RequestError("nothing is to be changed", "say what: text, type, importance, tags, files or shared")
    memory, by = workspace.memory, _by(request)
    removed = _removed(workspace, request)
    links = [link_to(workspace.root, file) for file in request.files]
    with memory.store.writing():
        observation = memory.store.observation(request.id)
        if request.tags or request.remove_tags:
            fields["tags"] = sorted({*observation.tags, *request.tags} - set(request.remove_tags))
        if fields:
            observation = memory.lifecycle.edit(observation.id, by, **fields)
        for link in links:
            observation = memory.lifecycle.link(observation.id, link, by)
        for link in removed:
            observation = memory.lifecycle.unlink(observation.id, link.path, link.symbol, by)
    return changed_rows(memory, [observation])


def _removed(workspace: Workspace, request: MemoryEditRequest) -> list[CodeLink]:
    """Return the links that are to be taken from a memory, each by what it says or by what its file is called now.

    Raises:
        NotFoundError: if there is no such memory, or it has no such link or tag.
    """
    observation = workspace.memory.store.observation(request.id)
    (now,) = workspace.memory.recall.followed([observation])
    removed = []
    for file in request.remove_files:
        target = target_below(workspace.root, file)
        pairs = zip(observation.links, now.links, strict=True)
        found = [link for link, moved in pairs if target in (_target_of(link), _target_of(moved))]
        if not found:
            name = f"{target.path}{MARK}{target.symbol}" if target.symbol else target.path
            raise _is_not_there(observation, f"tied to {name}", list(map(name_of, now.links)))
        removed += found
    for tag in request.remove_tags:
        if tag not in observation.tags:
            raise _is_not_there(observation, f"tagged {tag}", observation.tags)
    return list(dict.fromkeys(removed))


def _target_of(link: CodeLink) -> Target:
    return Target(link.path, link.symbol)


def _is_not_there(observation: Observation, what: str, there: Sequence[str]) -> NotFoundError:
    hint = f"give one of these: {', '.join(there)}" if there else "it has none"
    return NotFoundError(f"{handle_of(observation.id)} is not {what}", hint)


def change_status(
    workspace: Workspace, request: MemoryStatusRequest, progress: Progress | None = None
) -> ChangedMemoriesDocument:
    """Give memories another status, all of them or none.

    Raises:
        RequestError: unless ids or a session are given, or `superseded_by` goes with its status.
        AuthorityError: if a person decided otherwise about one.
    """
    if bool(request.ids) == bool(request.session):
        raise RequestError("give ids of memories, or a session", Hint("find them", "memories"))
    if (request.status == "superseded") != bool(request.superseded_by):
        raise RequestError("`superseded_by` goes with the status `superseded`", "give both or neither")
    memory, by = workspace.memory, _by(request)
    if request.session:
        found = memory.store.select(Conditions(statuses=("active",), session=session_to_keep(request.session)))
    else:
        found = memory.store.observations(list(dict.fromkeys(request.ids)))
    change = _changer(workspace, request, by)
    if not found:
        return {"memories": []}
    with memory.store.writing():
        changed = [change(observation) for observation in found]
    return changed_rows(memory, changed)


def _changer(workspace: Workspace, request: MemoryStatusRequest, by: By) -> Callable[[Observation], Observation]:
    lifecycle, reason = workspace.memory.lifecycle, request.reason
    return {
        "resolved": lambda observation: lifecycle.resolve(observation.id, by, reason),
        "archived": lambda observation: lifecycle.archive(observation.id, by, reason),
        "active": lambda observation: lifecycle.reopen(observation.id, by, reason),
        "superseded": lambda observation: lifecycle.supersede(observation.id, request.superseded_by, by, reason),
    }[request.status]


def undo(workspace: Workspace, request: MemoryUndoRequest, progress: Progress | None = None) -> ChangedMemoriesDocument:
    """Undo the last change of status of each memory, of all or none."""
    changed = _change_all(workspace, request.ids, partial(workspace.memory.lifecycle.undo, by=_by(request)))
    return changed_rows(workspace.memory, changed)


def forget(workspace: Workspace, request: ForgetRequest, progress: Progress | None = None) -> ForgottenDocument:
    """Erase memories for ever, all of them or none; nothing brings them back.

    Raises:
        AuthorityError: if a person made one and an agent asks.
    """
    erased = _change_all(workspace, request.ids, partial(workspace.memory.lifecycle.erase, by=_by(request)))
    return {"ids": [handle_of(observation.id) for observation in erased]}


def _change_all(workspace: Workspace, ids: Sequence[str], change: Callable[[str], Observation]) -> list[Observation]:
    store = workspace.memory.store
    found = store.observations(list(dict.fromkeys(ids)))
    with store.writing():
        return [change(observation.id) for observation in found]


def _by(request: ActingRequest) -> By:
    return by_whom(request.actor or _NOBODY)


PERFORM = perform_all(
    {
        "remember": remember,
        "recall": recall,
        "memories": list_memories,
        "memories/show": show,
        "memories/edit": edit,
        "memories/status": change_status,
        "memories/undo": undo,
        "memories/forget": forget,
    }
)
