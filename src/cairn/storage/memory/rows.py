"""What the memory's tables hold, as values."""

from __future__ import annotations

from typing import NamedTuple


class EventRow(NamedTuple):
    """An event as it is stored: what SQL asks for, beside its canonical body.

    Attributes:
        id: the SHA-256 of the body, 64 hexadecimal digits.
        observation: which it changes.
        other: the observation that supersedes it by this event, else empty.
        time: when, so that texts sort as times do.
        kind: what it does.
        body: canonical JSON.
    """

    id: str
    observation: str
    other: str
    time: str
    kind: str
    body: str


class CodeLink(NamedTuple):
    """What an observation speaks of.

    Attributes:
        path: of a file, relative to the root, with slashes.
        symbol: the qualified name of a definition in it, empty for the file as a whole.
        hash: of the content linked to, when it was linked; empty if it was not there.
    """

    path: str
    symbol: str = ""
    hash: str = ""


class Observation(NamedTuple):
    """One memory, as its events leave it.

    Attributes:
        id: a UUIDv7 in hexadecimal with dashes.
        type: `gotcha`, `decision`, `bug_fix`, `discovery`, `trade_off` or `session_summary`.
        text: empty once it was redacted.
        importance: 1 to 10.
        tags: sorted.
        origin: `captured`, `agent`, `person` or `imported`.
        session: which it was made in, empty for none.
        branch: which was checked out then, empty outside git.
        revision: which commit was checked out then, empty outside git.
        is_shared: it may leave this machine.
        status: `active`, `resolved`, `superseded` or `archived`.
        superseded_by: the observation that took its place, while `superseded`.
        links: sorted.
        actor: who made it, as `agent:claude-code`.
        created, changed: the times of its first and of its last event that counts.
        is_redacted: its text was erased for ever.
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
        parent: the session that it goes on from or was started by, empty for none.
        source: why it began, in the agent's words, such as `startup` or `resume`.
        branch, revision: what was checked out last.
        started, heard, ended: when it began, was last heard of, and ended; 0 while it goes on.
        end_reason: in the agent's words; `stale` if nothing was heard of it for long.
        origin: `planning`, `investigation`, `implementation` or `mixed`; empty while nothing was done in it.
        n_prompts, n_activities, n_reads, n_edits, n_failures: how many there were.
        has_plan: a plan was made in it.
        is_muted: the user wants none of it kept.
        is_fresh: the user wants nothing of earlier sessions shown in it.
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
    """What happened between a prompt and the next.

    Attributes:
        session: the number of its session's row.
        place: which it is in the session, from 1; 0 for what came before the first prompt.
        kind: `prompt`, or `notice` if the agent itself asked.
        prompt: the beginning of what was asked, without secrets.
        started, ended: when; 0 while it goes on.
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
    """A tool call that failed: how often, in how many sessions, and when, in which and of which agent it was last."""

    tool: str
    name: str
    target: str
    n_times: int
    n_sessions: int
    seconds: float
    session: str
    agent: str


class Activity(NamedTuple):
    """One tool call; what went in and came out is not kept.

    Attributes:
        batch: the number of its batch's row.
        seconds: when it ended.
        tool, name, target, outcome, exit_code, duration_ms, input_bytes, output_bytes: see `cairn.memory.moments`.
        is_failure: it failed.
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
    """That a memory was shown to an agent without being asked for.

    Attributes:
        session: the agent's id of the session; of one of its sub-agents `SESSION/SUBAGENT`.
        seconds: when.
        event: at which event, such as `prompt`.
        observation: the id of the memory; empty for what was shown around memories.
        why: the reason it was chosen, one of a few fixed phrases; never words of the memory or of a prompt.
        tokens: what it cost.
        use: `fetched`, `cited`, `edited`, `helpful` or `unhelpful` once that was heard; empty if it was not used.
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
    """That an agent was shown something of the code when it used a tool, and what that stood for.

    Tokens are estimates; see `cairn.source.text.count_tokens`.

    Attributes:
        session: the agent's id of the session; of one of its sub-agents `SESSION/SUBAGENT`.
        seconds: when.
        agent: such as `claude-code`.
        kind: `outline` or `context` for a read, `search`, or `callers` for an edit.
        is_replacing: it took the place of what was asked for, which was not delivered.
        path: of the file, relative to the root; empty for a search.
        hash: of the file's content then, empty for none.
        tokens: what it cost.
        replaced_tokens: of what was not delivered; 0 if everything was.
        n_followups, followup_tokens: how often the file was read later in that session, as it was then, and what that
            cost.
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
    """What was searched for, and how much was found.

    Attributes:
        session: in which session, empty for none.
        seconds: when.
        kind: what was searched: `memory` or `code`.
        text: the beginning of the question, without secrets.
        n_found: how many hits there were.
        relevance: of the best hit, 0 to 1.
        surface: where it was asked: `mcp`, `http`, `cli` or `hook`; empty where that was not kept.
        tuning: the number of the tuning that answered, 0 for what Cairn came with.
        place: how many tools the session had used before.
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
        question: the number of its row.
        rank: 1 for the best.
        id: of the hit, empty where it has none.
        path: of its file.
        first_line, last_line: where it stands.
        symbol: what it defines, empty for nothing.
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
    """What was done with a file after a question, whether the answer showed it or not.

    Attributes:
        question: the number of its row.
        path: of the file.
        symbol: in it, empty for the whole file.
        use: `read`, `fetched`, `cited`, `edited`, `good` or `bad`.
        seconds: when, for the first time.
    """

    question: int
    path: str
    symbol: str
    use: str
    seconds: float


class EventSource(NamedTuple):
    """What reports events: an agent, and one kind of event.

    Attributes:
        agent, event: which.
        heard: when last, in seconds since the epoch.
        n_events: how often.
        n_timed: how often it is known how long it took.
        last_ms, total_ms, slowest_ms: how long it took to take in the last, all of these together, and the slowest.
        p95_ms: of the last hundred, 95 of a hundred took at most so long.
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
    """Something that may be worth remembering; or, once it is a memory, which one it became.

    Attributes:
        key: the same for what happens again.
        session: where it was seen.
        outcome: how it was learned, such as `fixed` or `open`; empty for what was stated.
        type, text, importance: of the memory that it would make; the text is empty once it is one.
        confidence: that it is true and of use, from 0 to 1.
        paths: what it speaks of.
        seconds: when it was last seen, since the epoch.
        observation: the memory that it became, empty for none.
        n_seen: how often.
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
