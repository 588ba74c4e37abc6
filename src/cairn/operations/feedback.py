"""What searches showed and what was done then: listed, and called good or bad."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from cairn.memory.feedback import AnsweredQuestion
from cairn.memory.handles import is_handle
from cairn.memory.usage import MemoryPrecision
from cairn.memory_settings import MemorySettings
from cairn.operations.periods import start_of
from cairn.operations.whole_text import perform_all
from cairn.protocol.memory_documents import (
    FeedbackDocument,
    FeedbackListDocument,
    MarkedDocument,
    MemoryUseDocument,
    QuestionDocument,
    UseDocument,
)
from cairn.protocol.memory_requests import FeedbackListRequest, FeedbackRequest
from cairn.storage.memory.rows import HitUse
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress


def mark(workspace: Workspace, request: FeedbackRequest, progress: Progress | None = None) -> FeedbackDocument:
    """Note that somebody calls hits and memories good or bad: all of them, or none if one was not shown."""
    store = workspace.memory.store
    if not store.exists:  # nothing is created by asking
        return {"marked": [_mark(workspace, request, id) for id in request.ids]}
    with store.writing():
        return {"marked": [_mark(workspace, request, id) for id in dict.fromkeys(request.ids)]}


def _mark(workspace: Workspace, request: FeedbackRequest, id: str) -> MarkedDocument:
    feedback = workspace.memory.feedback
    call = feedback.mark_memory if is_handle(id) else feedback.mark
    marked = call(id, request.verdict, request.session)
    return {
        "id": id,
        "verdict": request.verdict,
        "filepath": marked.path,
        "name": marked.symbol,
        "question": marked.question,
        "session": marked.session,
    }


def list_feedback(
    workspace: Workspace, request: FeedbackListRequest, progress: Progress | None = None
) -> FeedbackListDocument:
    """List questions, the newest first, with what was shown and done; without a session, sums are those of all."""
    memory = workspace.memory
    session = memory.feedback.name_of(request.session)
    start = start_of(request.since)
    since = datetime.fromisoformat(start).replace(tzinfo=UTC).timestamp() if start else 0.0
    counts = memory.feedback.counts(since, session)
    answered = memory.feedback.answered(
        session=session, since=since, limit=request.limit or None, empty_only=request.empty
    )
    return {
        "questions": [_question(question) for question in answered],
        "totals": {
            "questions": counts.n_asked,
            "empty": counts.n_empty,
            "used": counts.n_used,
            "uses": counts.by_use,
        },
        "memories": [_memory_use(found) for found in memory.usage.precision(since, session)],
        "kept": memory.feedback.keeps,
        "days": (workspace.settings.memory or MemorySettings()).feedback_days,
    }


def _question(answered: AnsweredQuestion) -> QuestionDocument:
    question = answered.question
    ranks = {hit.path: hit.rank for hit in reversed(answered.shown)}
    return {
        "time": _moment(question.seconds),
        "query": question.text,
        "session": question.session,
        "surface": question.surface,
        "tuning": question.tuning,
        "found": question.n_found,
        "relevance": question.relevance,
        "shown": [
            {
                "rank": hit.rank,
                "id": hit.id,
                "filepath": hit.path,
                "start_line": hit.first_line,
                "end_line": hit.last_line,
                "name": hit.symbol,
                "relevance": hit.relevance,
            }
            for hit in answered.shown
        ],
        "uses": [_use(use, ranks.get(use.path, 0)) for use in answered.uses],
    }


def _use(use: HitUse, rank: int) -> UseDocument:
    row = {"filepath": use.path, "name": use.symbol, "use": use.use, "rank": rank, "time": _moment(use.seconds)}
    return cast("UseDocument", row)


def _memory_use(found: MemoryPrecision) -> MemoryUseDocument:
    return {
        "event": found.event,
        "shown": found.n_shown,
        "used": found.n_used,
        "helpful": found.n_by_use.get("helpful", 0),
        "unhelpful": found.n_by_use.get("unhelpful", 0),
        "precision": round(found.precision, 3),
    }


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


PERFORM = perform_all({"feedback": list_feedback, "feedback/mark": mark})
