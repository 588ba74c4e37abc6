"""Requests about memories; apart from the others, because a search of code need not define them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cairn import fields
from cairn.protocol.requests import ProjectRequest, SessionRequest
from cairn.types import MemoryStatus, MemoryType

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
class MemoriesRequest(ProjectRequest):
    """List memories, the newest first; of those with any status if none is given."""

    types: Annotated[tuple[MemoryType, ...], fields.MEMORY_TYPES] = ()
    statuses: Annotated[tuple[MemoryStatus, ...], fields.MEMORY_STATUSES] = ()
    file: Annotated[str, fields.OF_FILE] = ""
    session: Annotated[str, fields.OF_SESSION] = ""
    tag: Annotated[str, fields.OF_TAG] = ""
    branch: Annotated[str, fields.OF_BRANCH] = ""
    text: Annotated[str, fields.OF_TEXT] = ""
    since: Annotated[str, fields.SINCE] = ""
    until: Annotated[str, fields.UNTIL] = ""
    limit: Annotated[int, fields.MEMORY_LIMIT] = 20
    offset: Annotated[int, fields.OFFSET] = 0
    max_tokens: _Tokens = None


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
    """Give memories the status that they had before their present one."""

    ids: _Ids


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ForgetRequest(ActingRequest):
    """Erase memories for ever: their text, and all that was said of them."""

    ids: _Ids


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionsRequest(ProjectRequest):
    """List the sessions of agents, the last heard of first."""

    agent: Annotated[str, fields.OF_AGENT] = ""
    branch: Annotated[str, fields.OF_BRANCH] = ""
    file: Annotated[str, fields.SESSION_FILE] = ""
    since: Annotated[str, fields.HEARD_SINCE] = ""
    limit: Annotated[int, fields.SESSION_LIMIT] = 20
    offset: Annotated[int, fields.OFFSET] = 0
    max_tokens: _Tokens = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SavingsRequest(ProjectRequest):
    """Say what agents were shown in the place of what they asked for, and what that saved."""

    days: Annotated[int, fields.SAVINGS_DAYS] = 30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SessionShowRequest(ProjectRequest):
    """Show what was asked, done and learned in sessions."""

    ids: Annotated[tuple[_Name, ...], fields.SESSION_IDS]
    max_tokens: _Tokens = None
