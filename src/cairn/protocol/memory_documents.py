"""Answers about memories: JSON documents, and how observations become them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from cairn.protocol.documents import MemoryHitDocument
from cairn.types import MemorySource, MemoryStatus, MemoryType


class MemoryRowDocument(TypedDict):
    """A memory as a row of a list. `summary` is how it begins; `tokens` is an estimate for the whole text."""

    id: str
    type: MemoryType
    status: MemoryStatus
    summary: str
    files: list[str]
    importance: int
    tags: list[str]
    created: str
    tokens: int
    superseded_by: NotRequired[str]
    session: NotRequired[str]
    branch: NotRequired[str]
    shared: NotRequired[bool]
    source: NotRequired[MemorySource]


class MemoryListDocument(TypedDict):
    """Memories, the newest first: some of `total` that meet the conditions; `omitted` of the page had no room."""

    memories: list[MemoryRowDocument]
    total: int
    omitted: int


class MemoryEventDocument(TypedDict):
    """Something that happened to a memory: when, who did it, what, and its details, such as the reason."""

    time: str
    actor: str
    authority: Literal["rule", "agent", "person"]
    kind: Literal["created", "set", "status", "link", "unlink", "redact"]
    value: dict[str, Any]


class MemoryDocument(TypedDict):
    """A memory as a whole. `uuid` is its full id; `omitted_chars` were cut off its text, `omitted_events` its history.

    `omitted_ids` is in the last one: of so many ids behind it, not even a row had room.
    """

    id: str
    uuid: str
    type: MemoryType
    status: MemoryStatus
    superseded_by: str
    text: str
    files: list[str]
    importance: int
    tags: list[str]
    shared: bool
    origin: Literal["captured", "agent", "person", "imported"]
    actor: str
    source: MemorySource
    session: str
    branch: str
    revision: str
    created: str
    changed: str
    tokens: int
    history: list[MemoryEventDocument]
    omitted_chars: NotRequired[int]
    omitted_events: NotRequired[int]
    omitted_ids: NotRequired[int]


class RememberedDocument(TypedDict):
    """What was kept. `is_new` is false where an active memory says the same: that one is kept, with the new links."""

    id: str
    is_new: bool
    memory: MemoryRowDocument
    notes: list[str]


class ChangedMemoriesDocument(TypedDict):
    """Memories as they are after a change."""

    memories: list[MemoryRowDocument]


class ForgottenDocument(TypedDict):
    """The memories whose text was erased."""

    ids: list[str]


class RecallDocument(TypedDict):
    """The memories that a query is about, best first; `omitted` had no room."""

    query: str
    memory: list[MemoryHitDocument]
    omitted: int
    took_ms: float
    notes: list[str]


class SessionRowDocument(TypedDict):
    """A session of an agent. `ended` is empty while it goes on; `origin` is what it was for, if anything was done."""

    id: str
    agent: str
    origin: str
    branch: str
    started: str
    heard: str
    ended: str
    end_reason: str
    prompts: int
    activities: int
    reads: int
    edits: int
    failures: int
    memories: int
    parent: NotRequired[str]
    muted: NotRequired[bool]
    fresh: NotRequired[bool]


class ChatDocument(TypedDict):
    """What summaries of sessions cost in the last `days`: questions to the chat model, tokens, and US dollars."""

    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost: float
    days: int


class SessionListDocument(TypedDict):
    """Sessions, the last heard of first: some of `total` that meet the conditions; `omitted` of these had no room.

    `chat` is there if a chat model was asked lately.
    """

    sessions: list[SessionRowDocument]
    total: int
    omitted: int
    chat: NotRequired[ChatDocument]


class SavingsSumDocument(TypedDict):
    """What agents were shown, and what that saved, in tokens.

    `tokens` is what `answers` cost, `replaced_tokens` what they took the place of, and `followup_tokens` what agents
    read of that later, in `followups` reads. `saved` is what is left, below 0 where more was shown than saved.
    """

    answers: int
    tokens: int
    replaced_tokens: int
    followups: int
    followup_tokens: int
    saved: int


class SavingsRowDocument(SavingsSumDocument):
    """The same for a day (UTC), an agent and a kind; `replacing` is false for what stood beside what was asked for."""

    day: str
    agent: str
    kind: str
    replacing: bool


class SavingsDocument(TypedDict):
    """What was measured since the day `since`, the newest day first. Tokens are estimates for the `tokenizer`."""

    tokenizer: str
    since: str
    rows: list[SavingsRowDocument]
    total: SavingsSumDocument


class ActivityDocument(TypedDict):
    """One tool call. `exit_code` is null where nobody says; `outcome` is empty where the agent does not say."""

    time: str
    tool: str
    name: str
    target: str
    outcome: str
    exit_code: int | None
    duration_ms: int
    failed: bool


class BatchDocument(TypedDict):
    """A prompt and what was done until the next one; `kind` is `notice` if the agent itself asked."""

    kind: str
    prompt: str
    started: str
    activities: list[ActivityDocument]


class WholeSessionDocument(SessionRowDocument):
    """A session with what was asked, done and learned in it. `omitted_batches` of its last ones had no room."""

    batches: list[BatchDocument]
    learned: list[MemoryRowDocument]
    omitted_batches: NotRequired[int]
    omitted_ids: NotRequired[int]
