"""Answers about memories: JSON documents, and how observations become them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from cairn.protocol.documents import MemoryHitDocument
from cairn.types import BulkAction, Mark, MemorySource, MemoryStatus, MemoryType


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


class DoubtfulRowDocument(MemoryRowDocument):
    """A memory that somebody should look at: why, how often agents were shown it, and how often they used it."""

    reasons: list[str]
    shown: int
    used: int


class DoubtfulDocument(TypedDict):
    """Doubtful memories, the most doubtful first: some of `total` among the `looked_at` newest active ones."""

    memories: list[DoubtfulRowDocument]
    total: int
    looked_at: int


class ShownDocument(TypedDict):
    """That a memory was shown to an agent unasked: when, at which event, why, at what cost, and how it was used."""

    session: str
    time: str
    event: str
    memory: str
    why: str
    tokens: int
    use: str


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
    shown: list[ShownDocument]
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


class BulkChangeDocument(TypedDict):
    """What was done with the memories that a filter found, or would be, and their ids."""

    action: BulkAction
    dry_run: bool
    total: int
    ids: list[str]


class ExportDocument(TypedDict):
    """An export as its lines, and how many events they hold: all but the first."""

    events: int
    lines: list[str]


class ForgottenDocument(TypedDict):
    """The memories whose text was erased."""

    ids: list[str]


class LinkedCodeDocument(TypedDict):
    """Code that a memory speaks of: as it was `then`, at the commit `revision`, as it is `now`, and what differs.

    `then` is null where nothing tells it any more, `now` where the code is gone. `diff` is in the unified format.
    """

    file: str
    state: Literal["current", "changed", "gone"]
    language: str
    revision: str
    then: str | None
    now: str | None
    line: int
    diff: str


class MemoryCodeDocument(TypedDict):
    """The code that a memory speaks of, a link at a time."""

    id: str
    links: list[LinkedCodeDocument]


class ModelWorkDocument(TypedDict):
    """What it takes to embed all memories by one model, by estimates; `embedded` were now. `error` says why not all."""

    model: str
    memories: int
    missing: int
    tokens: int
    seconds: float
    embedded: int
    error: str


class EmbeddedDocument(TypedDict):
    """What was embedded by each model; with `dry_run` what would be."""

    dry_run: bool
    models: list[ModelWorkDocument]


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

    `agents` are those of all that meet them. `chat` is there if a chat model was asked lately.
    """

    sessions: list[SessionRowDocument]
    total: int
    agents: list[str]
    omitted: int
    chat: NotRequired[ChatDocument]


class FailedCallDocument(TypedDict):
    """A tool call that failed, and how often it did: in how many sessions, and when and in which one last."""

    tool: str
    name: str
    target: str
    times: int
    sessions: int
    last: str
    session: str
    agent: str


class FailedCallsDocument(TypedDict):
    """Tool calls that failed, the last one first, some of `different` ones; all of these failed `total` times."""

    calls: list[FailedCallDocument]
    different: int
    total: int


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


class ModelCostDocument(TypedDict):
    """What a model was asked on a day (UTC) about the sessions of an agent, and for what.

    `cost` is in US dollars, by the price that was set when it was asked; 0 where none was.
    """

    day: str
    agent: str
    kind: Literal["summary"]
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float


class SavingsGroupDocument(SavingsSumDocument):
    """The same for a day (UTC), an agent or a kind, with what models cost for that, in US dollars."""

    name: str
    cost: float


class SavingsDocument(TypedDict):
    """What was measured since the day `since`, the newest day first. Tokens are estimates for the `tokenizer`.

    `by` says of what `groups` are the sums: days, the oldest first, or agents or kinds, the most saved first.
    `costs` is what models were asked, and `cost` the sum of that in US dollars. `price` is what is set for a million
    tokens, 0 if nothing is.
    """

    tokenizer: str
    since: str
    rows: list[SavingsRowDocument]
    total: SavingsSumDocument
    by: str
    groups: list[SavingsGroupDocument]
    costs: list[ModelCostDocument]
    cost: float
    price: float


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
    """A session with what was asked, done and learned in it. `omitted_batches` of its last ones had no room.

    `shown` is what it was shown unasked, which took `shown_tokens`.
    """

    batches: list[BatchDocument]
    shown: list[ShownDocument]
    shown_tokens: int
    learned: list[MemoryRowDocument]
    omitted_batches: NotRequired[int]
    omitted_ids: NotRequired[int]


class MarkedDocument(TypedDict):
    """What was called good or bad: a hit's file and name, or a memory; the question and the session it was shown in."""

    id: str
    verdict: Mark
    filepath: str
    name: str
    question: str
    session: str


class FeedbackDocument(TypedDict):
    """What was called good or bad, in the order of the ids."""

    marked: list[MarkedDocument]


class ShownHitDocument(TypedDict):
    """A hit as it was shown."""

    rank: int
    id: str
    filepath: str
    start_line: int
    end_line: int
    name: str
    relevance: float


class UseDocument(TypedDict):
    """What was done with a file after a question; `rank` is 0 if the answer did not show it."""

    filepath: str
    name: str
    use: Literal["read", "fetched", "cited", "edited", "good", "bad"]
    rank: int
    time: str


class QuestionDocument(TypedDict):
    """A question about the code, what its answer showed, and what was done then."""

    time: str
    query: str
    session: str
    surface: str
    tuning: int
    found: int
    relevance: float
    shown: list[ShownHitDocument]
    uses: list[UseDocument]


class FeedbackTotalsDocument(TypedDict):
    """How many questions there are, how many found nothing, how many led to a use, and how many uses of each kind."""

    questions: int
    empty: int
    used: int
    uses: dict[str, int]


class MemoryUseDocument(TypedDict):
    """What became of the memories that were shown unasked at one kind of event; `precision` is the share `used`."""

    event: str
    shown: int
    used: int
    helpful: int
    unhelpful: int
    precision: float


class FeedbackListDocument(TypedDict):
    """Questions, the newest first; the sums since then; whether more is kept from now on, and for how many days."""

    questions: list[QuestionDocument]
    totals: FeedbackTotalsDocument
    memories: list[MemoryUseDocument]
    kept: bool
    days: float
