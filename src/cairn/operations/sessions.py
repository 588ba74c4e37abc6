"""Sessions of agents: what was asked, done and learned in each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from cairn.budget import fit_lists, fit_sessions
from cairn.facets.memory_status import chat_of, meter_start
from cairn.memory.summaries import read_meter
from cairn.operations.memory_rows import memory_of, memory_rows, shown_rows
from cairn.operations.periods import folder_or_file, start_of
from cairn.operations.whole_text import perform_all
from cairn.protocol.memory_documents import (
    ActivityDocument,
    BatchDocument,
    ChatDocument,
    FailedCallDocument,
    FailedCallsDocument,
    SessionListDocument,
    SessionRowDocument,
    WholeSessionDocument,
)
from cairn.protocol.memory_requests import FailedCallsRequest, SessionShowRequest, SessionsRequest
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Activity, FailedCall, PromptBatch, Session
from cairn.storage.memory.session_db import SessionConditions
from cairn.workspace import Workspace

_MOST_WORDS = 20  # of a prompt that is looked for

if TYPE_CHECKING:
    from cairn.index.limits import Progress


def list_sessions(
    workspace: Workspace, request: SessionsRequest, progress: Progress | None = None
) -> SessionListDocument:
    """List sessions, the last heard of first."""
    memory = memory_of(workspace, ends_stale=True)
    conditions = SessionConditions(
        agents=(request.agent,) if request.agent else (),
        branches=(request.branch,) if request.branch else (),
        since=_start_of(request.since),
        path=folder_or_file(workspace.root, request.file),
        words=tuple(request.text.split()[:_MOST_WORDS]),
    )
    found = memory.sessions.page(conditions, request.limit or None, request.offset)
    document: SessionListDocument = {
        "sessions": _rows(workspace, found.sessions),
        "total": found.total,
        "agents": found.agents,
        "omitted": 0,
    }
    if (meter := read_meter(memory.store, meter_start())).n_calls:
        document["chat"] = cast("ChatDocument", chat_of(meter))
    if request.max_tokens is not None:
        fit_lists(cast("dict[str, Any]", document), request.max_tokens, ("sessions",))
    return document


def list_failures(
    workspace: Workspace, request: FailedCallsRequest, progress: Progress | None = None
) -> FailedCallsDocument:
    """List the tool calls that failed, the last one first; the numbers are those of all of them."""
    found = memory_of(workspace, ends_stale=True).sessions.failures(request.agent, _start_of(request.since))
    calls = [_failed(call) for call in found[: request.limit or None]]
    return {"calls": calls, "different": len(found), "total": sum(call.n_times for call in found)}


def _failed(call: FailedCall) -> FailedCallDocument:
    return {
        "tool": call.tool,
        "name": call.name,
        "target": call.target,
        "times": call.n_times,
        "sessions": call.n_sessions,
        "last": _moment(call.seconds),
        "session": call.session,
        "agent": call.agent,
    }


def _start_of(period: str) -> float:
    since = start_of(period)
    return datetime.fromisoformat(since).replace(tzinfo=UTC).timestamp() if since else 0.0


def show(
    workspace: Workspace, request: SessionShowRequest, progress: Progress | None = None
) -> list[WholeSessionDocument]:
    """Show sessions whole; beyond the budget their last prompts go first."""
    memory = memory_of(workspace, ends_stale=True)
    sessions = [memory.sessions.session(id) for id in dict.fromkeys(request.ids)]
    documents = [_whole(workspace, session) for session in sessions]
    return documents if request.max_tokens is None else fit_sessions(documents, request.max_tokens)


def _whole(workspace: Workspace, session: Session) -> WholeSessionDocument:
    memory = workspace.memory
    done = {
        number: list(activities)
        for number, activities in groupby(memory.sessions.activities(session), lambda activity: activity.batch)
    }
    learned = memory.store.select(Conditions(session=session.id))
    shown = shown_rows(memory.usage.injections(session.id)[::-1])
    document = {
        **_rows(workspace, [session])[0],
        "batches": [_batch(batch, done.get(batch.number, [])) for batch in memory.sessions.batches(session)],
        "shown": shown,
        "shown_tokens": sum(row["tokens"] for row in shown),
        "learned": memory_rows(memory, learned[::-1]),
    }
    return cast("WholeSessionDocument", document)


def _rows(workspace: Workspace, sessions: Sequence[Session]) -> list[SessionRowDocument]:
    learned = workspace.memory.sessions.count_memories(sessions)
    return [_row(session, learned.get(session.id, 0)) for session in sessions]


def _row(session: Session, n_memories: int) -> SessionRowDocument:
    row = {
        "id": session.id,
        "agent": session.agent,
        "origin": session.origin,
        "branch": session.branch,
        "started": _moment(session.started),
        "heard": _moment(session.heard),
        "ended": _moment(session.ended),
        "end_reason": session.end_reason,
        "prompts": session.n_prompts,
        "activities": session.n_activities,
        "reads": session.n_reads,
        "edits": session.n_edits,
        "failures": session.n_failures,
        "memories": n_memories,
    }
    facts = {"parent": session.parent, "muted": session.is_muted, "fresh": session.is_fresh}
    return cast("SessionRowDocument", row | {name: value for name, value in facts.items() if value})


def _batch(batch: PromptBatch, done: list[Activity]) -> BatchDocument:
    return {
        "kind": batch.kind,
        "prompt": batch.prompt,
        "started": _moment(batch.started),
        "activities": [_activity(activity) for activity in done],
    }


def _activity(activity: Activity) -> ActivityDocument:
    return {
        "time": _moment(activity.seconds),
        "tool": activity.tool,
        "name": activity.name,
        "target": activity.target,
        "outcome": activity.outcome,
        "exit_code": activity.exit_code,
        "duration_ms": activity.duration_ms,
        "failed": activity.is_failure,
    }


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}" if seconds else ""


PERFORM = perform_all({"sessions": list_sessions, "sessions/failures": list_failures, "sessions/show": show})
