"""Requests about memories; apart from the others, because a search of code need not define them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cairn import fields
from cairn.protocol.requests import ProjectRequest, SessionRequest
from cairn.types import BulkAction, Mark, MemoryOrigin, MemoryStatus, MemoryType, SavingsGroup

_Name = Annotated[str, fields.NAME]
_Type = Annotated[MemoryType | None, fields.MEMORY_TYPE]
_Id = Annotated[str, fields.MEMORY_ID]
_Ids = Annotated[tuple[_Name, ...], fields.MEMORY_IDS]
_Reason = Annotated[str, fields.REASON]
_Tokens = Annotated[int | None, fields.TOKENS]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ActingRequest(ProjectRequest):
    """What changes memories, and so says who asks for it; an agent if it does not."""

    actor: Annotated[str, fields.ACTOR] = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RememberRequest(ActingRequest):
    """Keep something for later sessions."""

    text: Annotated[str, fields.MEMORY_TEXT]
    type: Annotated[MemoryType, fields.MEMORY_TYPE] = "discovery"
    files: Annotated[tuple[_Name, ...], fields.MEMORY_FILES] = ()
    importance: Annotated[int, fields.IMPORTANCE] = 5
    tags: Annotated[tuple[_Name, ...], fields.TAGS] = ()
    shared: Annotated[bool, fields.SHARED] = False
    session: Annotated[str, fields.MEMORY_SESSION] = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecallRequest(SessionRequest):
    """Find what earlier sessions learned about something."""

    query: Annotated[str, fields.RECALL_QUERY]
    limit: Annotated[int, fields.RECALL_LIMIT] = 5
    types: Annotated[tuple[MemoryType, ...], fields.MEMORY_TYPES] = ()
    include_resolved: Annotated[bool, fields.INCLUDE_RESOLVED] = False
    all_branches: Annotated[bool, fields.ALL_BRANCHES] = False
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoryFilter(ProjectRequest):
    """Which memories are meant: those that meet all conditions, with any status if none is given."""

    types: Annotated[tuple[MemoryType, ...], fields.MEMORY_TYPES] = ()
    statuses: Annotated[tuple[MemoryStatus, ...], fields.MEMORY_STATUSES] = ()
    origins: Annotated[tuple[MemoryOrigin, ...], fields.MEMORY_ORIGINS] = ()
    file: Annotated[str, fields.OF_FILE] = ""
    session: Annotated[str, fields.OF_SESSION] = ""
    tag: Annotated[str, fields.OF_TAG] = ""
    branch: Annotated[str, fields.OF_BRANCH] = ""
    text: Annotated[str, fields.OF_TEXT] = ""
    since: Annotated[str, fields.SINCE] = ""
    until: Annotated[str, fields.UNTIL] = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoriesRequest(MemoryFilter):
    """List memories, the newest first."""

    limit: Annotated[int, fields.MEMORY_LIMIT] = 20
    offset: Annotated[int, fields.OFFSET] = 0
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoryChangeRequest(MemoryFilter):
    """Do the same with all memories that a filter finds."""

    action: Annotated[BulkAction, fields.BULK_ACTION]
    dry_run: Annotated[bool, fields.BULK_DRY_RUN] = False
    actor: Annotated[str, fields.ACTOR] = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoryExportRequest(MemoryFilter):
    """Write memories down with their history: some by their ids, or those that a filter finds, or all."""

    ids: Annotated[tuple[_Name, ...], fields.EXPORT_IDS] = ()
    shared: Annotated[bool, fields.EXPORT_SHARED] = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DoubtfulRequest(ProjectRequest):
    """List memories that may be false or useless by now, the most doubtful first."""

    limit: Annotated[int, fields.MEMORY_LIMIT] = 20
    offset: Annotated[int, fields.OFFSET] = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoryRequest(ProjectRequest):
    """Show memories whole, with all that happened to them."""

    ids: _Ids
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoryEditRequest(ActingRequest):
    """Change what a memory says, or what it is tied to."""

    id: _Id
    text: Annotated[str | None, fields.NEW_TEXT] = None
    type: _Type = None
    importance: Annotated[int | None, fields.IMPORTANCE] = None
    shared: Annotated[bool | None, fields.SHARED] = None
    tags: Annotated[tuple[_Name, ...], fields.ADDED_TAGS] = ()
    remove_tags: Annotated[tuple[_Name, ...], fields.REMOVED_TAGS] = ()
    files: Annotated[tuple[_Name, ...], fields.ADDED_FILES] = ()
    remove_files: Annotated[tuple[_Name, ...], fields.REMOVED_FILES] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoryStatusRequest(ActingRequest):
    """Say that memories are settled, out of sight, replaced, or active again. Ids or a session are needed."""

    ids: Annotated[tuple[_Name, ...], fields.RESOLVED_IDS] = ()
    session: Annotated[str, fields.RESOLVED_SESSION] = ""
    status: Annotated[MemoryStatus, fields.NEW_STATUS] = "resolved"
    superseded_by: Annotated[str, fields.SUCCESSOR] = ""
    reason: _Reason = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoryUndoRequest(ActingRequest):
    """Undo the last change of each memory: of its status, of what it says, or of what it is tied to."""

    ids: _Ids


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ForgetRequest(ActingRequest):
    """Erase memories for ever: their text, and all that was said of them."""

    ids: _Ids


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoryCodeRequest(ProjectRequest):
    """Show the code that a memory speaks of, as it was when it was linked, and as it is now."""

    id: _Id


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MemoryKeepRequest(ActingRequest):
    """Say that memories are right as they are: they are tied to their code as it is now."""

    ids: _Ids


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EmbedRequest(ProjectRequest):
    """Embed all memories again, with the bundled model and the configured ones; the old vectors serve until then."""

    dry_run: Annotated[bool, fields.EMBED_DRY_RUN] = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionsRequest(ProjectRequest):
    """List the sessions of agents, the last heard of first."""

    agent: Annotated[str, fields.OF_AGENT] = ""
    branch: Annotated[str, fields.OF_BRANCH] = ""
    file: Annotated[str, fields.SESSION_FILE] = ""
    text: Annotated[str, fields.SESSION_TEXT] = ""
    since: Annotated[str, fields.HEARD_SINCE] = ""
    limit: Annotated[int, fields.SESSION_LIMIT] = 20
    offset: Annotated[int, fields.OFFSET] = 0
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SavingsRequest(ProjectRequest):
    """Say what agents were shown in the place of what they asked for, and what that saved."""

    days: Annotated[int, fields.SAVINGS_DAYS] = 30
    by: Annotated[SavingsGroup, fields.SAVINGS_GROUP] = "day"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FailedCallsRequest(ProjectRequest):
    """List the tool calls that failed, the last one first."""

    agent: Annotated[str, fields.OF_AGENT] = ""
    since: Annotated[str, fields.FAILED_SINCE] = ""
    limit: Annotated[int, fields.FAILED_LIMIT] = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionShowRequest(ProjectRequest):
    """Show what was asked, done and learned in sessions."""

    ids: Annotated[tuple[_Name, ...], fields.SESSION_IDS]
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FeedbackRequest(ProjectRequest):
    """Say that what an answer showed was good or bad."""

    ids: Annotated[tuple[_Name, ...], fields.FEEDBACK_IDS]
    verdict: Annotated[Mark, fields.VERDICT]
    session: Annotated[str, fields.FEEDBACK_SESSION] = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FeedbackListRequest(ProjectRequest):
    """List questions with what was shown and what was done then, the newest first."""

    session: Annotated[str, fields.OF_SESSION] = ""
    since: Annotated[str, fields.ASKED_SINCE] = ""
    empty: Annotated[bool, fields.EMPTY_ONLY] = False
    limit: Annotated[int, fields.QUESTION_LIMIT] = 20
