"""The operations on memories, as `cairn.protocol.table` has those on code."""

from __future__ import annotations

from typing import Any

from cairn.protocol.memory_documents import (
    ChangedMemoriesDocument,
    ForgottenDocument,
    MemoryDocument,
    MemoryListDocument,
    RememberedDocument,
)
from cairn.protocol.memory_requests import (
    ForgetRequest,
    MemoriesRequest,
    MemoryEditRequest,
    MemoryRequest,
    MemoryStatusRequest,
    MemoryUndoRequest,
    RememberRequest,
)
from cairn.protocol.table import Operation

MEMORY_OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("remember", RememberRequest, "Keep something for later sessions"),
        Operation("memories", MemoriesRequest, "List memories"),
        Operation("memories/show", MemoryRequest, "Show memories whole, with their history"),
        Operation("memories/edit", MemoryEditRequest, "Change a memory"),
        Operation("memories/status", MemoryStatusRequest, "Resolve, archive, supersede or reopen memories"),
        Operation("memories/undo", MemoryUndoRequest, "Undo the last change of the status of memories"),
        Operation("memories/forget", ForgetRequest, "Erase memories for ever"),
    )
}
MEMORY_ANSWERS: dict[str, Any] = {
    "remember": RememberedDocument,
    "memories": MemoryListDocument,
    "memories/show": list[MemoryDocument],
    "memories/edit": ChangedMemoriesDocument,
    "memories/status": ChangedMemoriesDocument,
    "memories/undo": ChangedMemoriesDocument,
    "memories/forget": ForgottenDocument,
}
