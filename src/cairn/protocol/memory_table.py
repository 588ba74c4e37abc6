"""The operations on memories, as `cairn.protocol.table` has those on code."""

from __future__ import annotations

from typing import Any

from cairn.protocol.memory_documents import (
    ChangedMemoriesDocument,
    ForgottenDocument,
    MemoryDocument,
    MemoryListDocument,
    RecallDocument,
    RememberedDocument,
    SavingsDocument,
    SessionListDocument,
    WholeSessionDocument,
)
from cairn.protocol.memory_requests import (
    ForgetRequest,
    MemoriesRequest,
    MemoryEditRequest,
    MemoryRequest,
    MemoryStatusRequest,
    MemoryUndoRequest,
    RecallRequest,
    RememberRequest,
    SavingsRequest,
    SessionShowRequest,
    SessionsRequest,
)
from cairn.protocol.table import Operation

MEMORY_OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("remember", RememberRequest, "Keep something for later sessions"),
        Operation("recall", RecallRequest, "Find what earlier sessions learned about something"),
        Operation("memories", MemoriesRequest, "List memories"),
        Operation("memories/show", MemoryRequest, "Show memories whole, with their history"),
        Operation("memories/edit", MemoryEditRequest, "Change a memory"),
        Operation("memories/status", MemoryStatusRequest, "Resolve, archive, supersede or reopen memories"),
        Operation("memories/undo", MemoryUndoRequest, "Undo the last change of the status of memories"),
        Operation("memories/forget", ForgetRequest, "Erase memories for ever"),
        Operation("savings", SavingsRequest, "Say what answers to tool calls saved, in tokens"),
        Operation("sessions", SessionsRequest, "List the sessions of agents"),
        Operation("sessions/show", SessionShowRequest, "Show what was asked, done and learned in sessions"),
    )
}
MEMORY_ANSWERS: dict[str, Any] = {
    "remember": RememberedDocument,
    "recall": RecallDocument,
    "memories": MemoryListDocument,
    "memories/show": list[MemoryDocument],
    "memories/edit": ChangedMemoriesDocument,
    "memories/status": ChangedMemoriesDocument,
    "memories/undo": ChangedMemoriesDocument,
    "memories/forget": ForgottenDocument,
    "savings": SavingsDocument,
    "sessions": SessionListDocument,
    "sessions/show": list[WholeSessionDocument],
}
