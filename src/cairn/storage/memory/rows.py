"""The rows of the memory's tables."""

from __future__ import annotations

from typing import NamedTuple


class EventRow(NamedTuple):
    """An event as stored: the columns that SQL needs, and its canonical body.

    Attributes:
        id: the SHA-256 of the body, 64 hexadecimal digits.
        observation: the one that it changes.
        other: the observation that supersedes it through this event, else empty.
        time: in a form that sorts as text.
        kind: of change.
        body: canonical JSON.
    """

    id: str
    observation: str
    other: str
    time: str
    kind: str
    body: str


class CodeLink(NamedTuple):
    """The code that an observation is about.

    Attributes:
        path: of the file, relative to the root, with slashes.
        symbol: the qualified name of a definition in it, empty for the file as a whole.
        hash: of the linked content when it was linked; empty if it did not exist.
    """

    path: str
    symbol: str = ""
    hash: str = ""


class Observation(NamedTuple):
    """One memory, as its events add up.

    Attributes:
        id: a UUIDv7 in hexadecimal with dashes.
        type: `gotcha`, `decision`, `bug_fix`, `discovery`, `trade_off` or `session_summary`.
        text: empty once redacted.
        importance: 1 to 10.
        tags: sorted.
        origin: `captured`, `agent`, `person` or `imported`.
        session: in which it was made, empty for none.
        branch: checked out at the time, empty outside git.
        revision: the commit checked out at the time, empty outside git.
        is_shared: whether it may leave this machine.
        status: `active`, `resolved`, `superseded` or `archived`.
        superseded_by: the observation that replaced it, while `superseded`.
        links: sorted.
        actor: who made it, such as `agent:claude-code`.
        created, changed: the times of its first and its last effective event.
        is_redacted: whether its text was erased for ever.
    """

    id: str
    type: str
    text: str
    importance: int
    tags: tuple[str, ...]
    origin: str
    session: str
    branch: str
    revision: str
    is_shared: bool
    status: str
    superseded_by: str
    links: tuple[CodeLink, ...]
    actor: str
    created: str
    changed: str
    is_redacted: bool = False


class Session(NamedTuple):
    """One conversation with an agent. Times are seconds since the epoch.

    Attributes:
        id: the agent's own.
        agent: such as `claude-code`.
        parent: the session that it continues or was started by, empty for none.
        source: why it began, in the agent's words, such as `startup` or `resume`.
        branch, revision: last checked out.
        started, heard, ended: when it began, was last heard of, and ended; 0 while it is open.
        end_reason: in the agent's words; `stale` if it was not heard of for a long time.
        origin: `planning`, `investigation`, `implementation` or `mixed`; empty while nothing has been done.
        n_prompts, n_activities, n_reads, n_edits, n_failures: counts.
        has_plan: whether a plan was made in it.
        is_muted: whether the user wants nothing of it kept.
        is_fresh: whether the user wants nothing of earlier sessions shown in it.
        number: of its row, 0 for one that was never saved.
    """

    id: str
    agent: str = ""
    parent: str = ""
    source: str = ""
    branch: str = ""
    revision: str = ""
    started: float = 0.0
    heard: float = 0.0
    ended: float = 0.0
    end_reason: str = ""
    origin: str = ""
    n_prompts: int = 0
    n_activities: int = 0
    n_reads: int = 0
    n_edits: int = 0
    n_failures: int = 0
    has_plan: bool = False
    is_muted: bool = False
    is_fresh: bool = False
    number: int = 0


class PromptBatch(NamedTuple):
    """What happened between one prompt and the next.

    Attributes:
        session: the row number of its session.
        place: its number in the session, from 1; 0 for what came before the first prompt.
        kind: `prompt`, or `notice` if the agent itself asked.
        prompt: its beginning, without secrets.
        started, ended: when; 0 while it is open.
        number: of its row.
    """

    session: int
    place: int
    kind: str = "prompt"
    prompt: str = ""
    started: float = 0.0
    ended: float = 0.0
    number: int = 0


class FailedCall(NamedTuple):
    """A failing tool call: how often and in how many sessions; and when, where and for which agent it last failed."""

    tool: str
    name: str
    target: str
    n_times: int
    n_sessions: int
    seconds: float
    session: str
    agent: str


class Activity(NamedTuple):
    """One tool call; its input and output are not kept.

    Attributes:
        batch: the row number of its batch.
        seconds: when it ended.
        tool, name, target, outcome, exit_code, duration_ms, input_bytes, output_bytes: see `cairn.memory.moments`.
        is_failure: whether it failed.
        number: of its row.
    """

    batch: int
    seconds: float
    tool: str
    name: str
    target: str
    outcome: str
    exit_code: int | None
    duration_ms: int
    input_bytes: int
    output_bytes: int
    is_failure: bool
    number: int = 0


class InjectedMemory(NamedTuple):
    """A memory that an agent was shown without asking.

    Attributes:
        session: the agent's id of the session; of one of its sub-agents `SESSION/SUBAGENT`.
        seconds: when.
        event: at which hook event, such as `prompt`.
        observation: the id of the memory; empty for text around memories.
        why: the reason it was chosen, one of a few fixed phrases; never words of the memory or of a prompt.
        tokens: what it cost.
        use: `fetched`, `cited`, `edited`, `helpful` or `unhelpful`; empty until it is used.
        number: of its row.
    """

    session: str
    seconds: float
    event: str
    observation: str
    why: str
    tokens: int
    use: str = ""
    number: int = 0


class ServedAnswer(NamedTuple):
    """Code that an agent was shown when it used a tool, and what that replaced.

    Tokens are estimates; see `cairn.source.text.count_tokens`.

    Attributes:
        session: the agent's id of the session; of one of its sub-agents `SESSION/SUBAGENT`.
        seconds: when.
        agent: such as `claude-code`.
        kind: `outline` or `context` for a read, `search`, or `callers` for an edit.
        is_replacing: whether it was delivered instead of what was asked for.
        path: of the file, relative to the root; empty for a search.
        hash: of the file's content at the time, empty for none.
        tokens: what it cost.
        replaced_tokens: what the undelivered text would have cost; 0 if everything was delivered.
        n_followups, followup_tokens: how often the unchanged file was read later in that session, and at what cost.
        number: of its row.
    """

    session: str
    seconds: float
    agent: str
    kind: str
    is_replacing: bool
    path: str
    hash: str
    tokens: int
    replaced_tokens: int = 0
    n_followups: int = 0
    followup_tokens: int = 0
    number: int = 0


class AskedQuestion(NamedTuple):
    """A question, and how much was found.

    Attributes:
        session: in which it was asked, empty for none.
        seconds: when.
        kind: `memory` or `code`, whichever was searched.
        text: its beginning, without secrets.
        n_found: the number of hits.
        relevance: of the best hit, 0 to 1.
        surface: where it was asked: `mcp`, `http`, `cli` or `hook`; empty if not recorded.
        tuning: the number of the tuning in use, 0 for the built-in one.
        place: how many tools the session had used before it.
        number: of its row.
    """

    session: str
    seconds: float
    kind: str
    text: str
    n_found: int
    relevance: float = 0.0
    surface: str = ""
    tuning: int = 0
    place: int = 0
    number: int = 0


class ShownHit(NamedTuple):
    """A piece of code that an answer showed.

    Attributes:
        question: the question's row number.
        rank: 1 for the best.
        id: of the hit, empty if it has none.
        path: of its file.
        first_line, last_line: its lines.
        symbol: that it defines, empty for none.
        relevance: 0 to 1.
    """

    question: int
    rank: int
    id: str
    path: str
    first_line: int
    last_line: int
    symbol: str
    relevance: float


class HitUse(NamedTuple):
    """A use of a file after a question, whether or not the answer showed it.

    Attributes:
        question: the question's row number.
        path: of the file.
        symbol: in the file, empty for all of it.
        use: `read`, `fetched`, `cited`, `edited`, `good` or `bad`.
        seconds: when it first happened.
    """

    question: int
    path: str
    symbol: str
    use: str
    seconds: float


class EventSource(NamedTuple):
    """A source of events: an agent and one kind of event.

    Attributes:
        agent, event: which.
        heard: when it last sent one, in seconds since the epoch.
        n_events: how often.
        n_timed: for how many of them the time is known.
        last_ms, total_ms, slowest_ms: the time to process the last one, all of them together, and the slowest.
        p95_ms: the 95th percentile of the last hundred.
    """

    agent: str
    event: str
    heard: float
    n_events: int
    n_timed: int = 0
    last_ms: float = 0.0
    total_ms: float = 0.0
    slowest_ms: float = 0.0
    p95_ms: float = 0.0


class CapturedCandidate(NamedTuple):
    """Something that may be worth remembering, or the memory that it became.

    Attributes:
        key: equal for repetitions.
        session: in which it was seen.
        outcome: how it was learned, such as `fixed` or `open`; empty for statements.
        type, text, importance: of the possible memory; the text is empty once it has become one.
        confidence: that it is true and useful, from 0 to 1.
        paths: of the files that it is about.
        seconds: when it was last seen, since the epoch.
        observation: the id of the memory that it became, empty for none.
        n_seen: how often it was seen.
        number: of its row.
    """

    key: str
    session: str
    outcome: str
    type: str
    text: str
    confidence: float
    importance: int
    paths: tuple[str, ...]
    seconds: float
    observation: str = ""
    n_seen: int = 1
    number: int = 0
