"""The operations on memories, as `cairn.protocol.table` has those on code."""

from __future__ import annotations

from typing import Any

from cairn.protocol.memory_documents import (
    BulkChangeDocument,
    ChangedMemoriesDocument,
    DoubtfulDocument,
    EmbeddedDocument,
    ExportDocument,
    FailedCallsDocument,
    FeedbackDocument,
    FeedbackListDocument,
    ForgottenDocument,
    MemoryCodeDocument,
    MemoryDocument,
    MemoryListDocument,
    RecallDocument,
    RememberedDocument,
    SavingsDocument,
    SessionListDocument,
    WholeSessionDocument,
)
from cairn.protocol.memory_requests import (
    DoubtfulRequest,
    EmbedRequest,
    FailedCallsRequest,
    FeedbackListRequest,
    FeedbackRequest,
    ForgetRequest,
    MemoriesRequest,
    MemoryChangeRequest,
    MemoryCodeRequest,
    MemoryEditRequest,
    MemoryExportRequest,
    MemoryKeepRequest,
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
from cairn.protocol.tuning_requests import (
    EvalHistoryRequest,
    EvalRequest,
    RolledBackDocument,
    ScoresDocument,
    TrialDocument,
    TuningApplyRequest,
    TuningDiffDocument,
    TuningDiffRequest,
    TuningHistoryDocument,
    TuningRequest,
    TuningRunRequest,
    TuningStatusDocument,
    TuningVersionDocument,
)

# What is asked, and the document that answers it.
_TABLE: tuple[tuple[Operation, Any], ...] = (
    (Operation("remember", RememberRequest, "Keep something for later sessions"), RememberedDocument),
    (Operation("recall", RecallRequest, "Find what earlier sessions learned about something"), RecallDocument),
    (Operation("memories", MemoriesRequest, "List memories"), MemoryListDocument),
    (
        Operation("memories/doubtful", DoubtfulRequest, "List memories that may be false or useless by now"),
        DoubtfulDocument,
    ),
    (Operation("memories/show", MemoryRequest, "Show memories whole, with their history"), list[MemoryDocument]),
    (Operation("memories/edit", MemoryEditRequest, "Change a memory"), ChangedMemoriesDocument),
    (
        Operation("memories/status", MemoryStatusRequest, "Resolve, archive, supersede or reopen memories"),
        ChangedMemoriesDocument,
    ),
    (
        Operation("memories/change", MemoryChangeRequest, "Do the same with all memories that a filter finds"),
        BulkChangeDocument,
    ),
    (Operation("memories/export", MemoryExportRequest, "Write memories down with their history"), ExportDocument),
    (Operation("memories/undo", MemoryUndoRequest, "Undo the last change of memories"), ChangedMemoriesDocument),
    (
        Operation("memories/code", MemoryCodeRequest, "Show the code a memory speaks of, then and now"),
        MemoryCodeDocument,
    ),
    (Operation("memories/keep", MemoryKeepRequest, "Say that memories are right as they are"), ChangedMemoriesDocument),
    (Operation("memories/embed", EmbedRequest, "Embed all memories again"), EmbeddedDocument),
    (Operation("memories/forget", ForgetRequest, "Erase memories for ever"), ForgottenDocument),
    (Operation("feedback", FeedbackListRequest, "List questions with what was shown and used"), FeedbackListDocument),
    (Operation("feedback/mark", FeedbackRequest, "Say that what an answer showed was good or bad"), FeedbackDocument),
    (
        Operation("optimize/run", TuningRunRequest, "Tune answers to the project's history and use"),
        TuningVersionDocument,
    ),
    (Operation("optimize/status", TuningRequest, "Say how answers are tuned"), TuningStatusDocument),
    (Operation("optimize/check", TuningRequest, "Judge the version of the tuning that is on trial"), TrialDocument),
    (Operation("optimize/apply", TuningApplyRequest, "Use a version of the tuning"), TuningVersionDocument),
    (Operation("optimize/rollback", TuningRequest, "Use the version of the tuning before"), RolledBackDocument),
    (Operation("optimize/history", TuningRequest, "List the versions of the tuning"), TuningHistoryDocument),
    (
        Operation("optimize/diff", TuningDiffRequest, "Say what differs between two versions of the tuning"),
        TuningDiffDocument,
    ),
    (Operation("eval/run", EvalRequest, "Score questions whose right files are known"), ScoresDocument),
    (Operation("eval/history", EvalHistoryRequest, "Score the subjects of the project's commits"), ScoresDocument),
    (Operation("savings", SavingsRequest, "Say what answers to tool calls saved, in tokens"), SavingsDocument),
    (Operation("sessions", SessionsRequest, "List the sessions of agents"), SessionListDocument),
    (Operation("sessions/failures", FailedCallsRequest, "List the tool calls that failed"), FailedCallsDocument),
    (
        Operation("sessions/show", SessionShowRequest, "Show what was asked, done and learned in sessions"),
        list[WholeSessionDocument],
    ),
)
MEMORY_OPERATIONS = {operation.name: operation for operation, _ in _TABLE}
MEMORY_ANSWERS = {operation.name: answer for operation, answer in _TABLE}
