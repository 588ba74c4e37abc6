"""Many memories at once, chosen by a filter: changed alike, or written down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cairn.errors import NotFoundError, RequestError
from cairn.hints import Hint
from cairn.memory.handles import handle_of
from cairn.operations.memory import change_status, conditions_of, forget
from cairn.operations.memory_upkeep import keep
from cairn.operations.whole_text import perform_all
from cairn.protocol.memory_documents import BulkChangeDocument, ExportDocument
from cairn.protocol.memory_requests import (
    ForgetRequest,
    MemoryChangeRequest,
    MemoryExportRequest,
    MemoryKeepRequest,
    MemoryStatusRequest,
)
from cairn.storage.memory.observation_db import Conditions
from cairn.types import MemoryStatus
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_AT_ONCE = 1_000  # memories of one transaction, so that others can write in between
_STATUSES: dict[str, MemoryStatus] = {"archive": "archived", "resolve": "resolved", "reopen": "active"}


def change(workspace: Workspace, request: MemoryChangeRequest, progress: Progress | None = None) -> BulkChangeDocument:
    """Do the same with all memories that a filter finds, or say with which; those that are so already are left out.

    A thousand are changed at a time, all of them or none; what was changed before an error stays so.

    Raises:
        RequestError: if all memories would be changed, or listed to be erased: that needs a filter.
        AuthorityError: if a person decided otherwise about one.
    """
    conditions = conditions_of(workspace, request)
    if conditions == Conditions() and (request.action == "forget" or not request.dry_run):
        hint = Hint("by status, type, tag, file or age", "memories change", action=request.action, tag=None)
        raise RequestError(f"what to {request.action} needs a filter", hint)
    already = _STATUSES.get(request.action)
    found = [memory for memory in workspace.memory.store.select(conditions) if memory.status != already]
    ids = [handle_of(memory.id) for memory in found]
    for some in [] if request.dry_run else _in_batches([memory.id for memory in found]):
        _do(workspace, request, some)
    return {"action": request.action, "dry_run": request.dry_run, "total": len(ids), "ids": ids}


def _in_batches(ids: list[str]) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield tuple(ids[start : start + _AT_ONCE])


def _do(workspace: Workspace, request: MemoryChangeRequest, ids: tuple[str, ...]) -> None:
    if request.action == "keep":
        keep(workspace, MemoryKeepRequest(ids=ids, actor=request.actor))
    elif request.action == "forget":
        forget(workspace, ForgetRequest(ids=ids, actor=request.actor))
    else:
        status = _STATUSES[request.action]
        change_status(workspace, MemoryStatusRequest(ids=ids, status=status, actor=request.actor))


def export(workspace: Workspace, request: MemoryExportRequest, progress: Progress | None = None) -> ExportDocument:
    """Write memories down with their history, as `cairn.memory.exchange` reads it."""
    lines = list(iter_export(workspace, request))
    return {"events": len(lines) - 1, "lines": lines}


def iter_export(workspace: Workspace, request: MemoryExportRequest) -> Iterator[str]:
    """Return the lines of an export, the first of them its header.

    Raises:
        RequestError: if there are both ids and a filter.
        NotFoundError: if an id is of no memory, or the filter finds none.
    """
    conditions, ids = conditions_of(workspace, request), list(request.ids)
    if conditions != Conditions():
        if ids:
            raise RequestError("ids go without a filter", "give one of them")
        ids = [memory.id for memory in workspace.memory.store.select(conditions)]
        if not ids:
            raise NotFoundError("the filter finds no memory", Hint("find them", "memories"))
    return workspace.memory.exchange.export(ids, only_shared=request.shared)


PERFORM = perform_all({"memories/change": change, "memories/export": export})
