from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import RequestError
from cairn.memory.moments import Moment
from cairn.memory.sessions import Sessions
from cairn.memory.store import MemoryStore
from cairn.memory.usage import MAX_QUESTION_CHARS, MemoryUsage
from memory_histories import START, Clock, begin_memory
from shown_memories import note_injections

SECRET = "ghp_" + "a8B2c9D4e7F1g6H3i5J0k2L8m4N9o1P7q3R5"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> MemoryStore:
    return begin_memory(tmp_path / "state", clock)


@pytest.fixture
def usage(store: MemoryStore, clock: Clock) -> MemoryUsage:
    return MemoryUsage(store, clock)


def test_what_a_session_was_shown_and_what_that_cost_is_known(
    usage: MemoryUsage, store: MemoryStore, clock: Clock
) -> None:
    note_injections(store, "s1", "prompt", [("a", "about this prompt", 40), ("b", "about this file", 60)], clock)
    note_injections(store, "s2", "session-start", [("a", "recent", 40)], clock)
    note_injections(store, "s2", "prompt", [], clock)
    assert usage.ids_shown("s1") == {"a", "b"}
    assert (usage.tokens_shown("s1"), usage.tokens_shown("s2"), usage.tokens_shown("s3")) == (100, 40, 0)
    last, first = usage.injections(observation="a")
    assert (last.session, last.event, last.why, last.seconds) == ("s2", "session-start", "recent", START)
    assert first.session == "s1"


def test_whether_what_was_shown_was_used_is_known_of_the_session_that_was_shown_it(
    usage: MemoryUsage, store: MemoryStore, clock: Clock
) -> None:
    note_injections(store, "s1", "prompt", [("a", "w", 1), ("b", "w", 1)], clock)
    assert usage.note_use("s1", ["a", "c"], "cited") == 1
    assert usage.note_use("s2", ["a"], "helpful") == 0
    assert {injection.observation: injection.use for injection in usage.injections("s1")} == {"a": "cited", "b": ""}
    with pytest.raises(RequestError, match="fetched, cited"):
        usage.note_use("s1", ["a"], "eaten")


def test_a_question_is_kept_without_secrets_and_at_most_so_long(usage: MemoryUsage) -> None:
    usage.note_question("code", f"where is {SECRET} used", 3, session="s1", relevance=0.5)
    usage.note_question("memory", "x" * 5_000 + "\ud800", 0, session="half a \udc80 character")
    last, first = usage.questions()
    assert (first.text, first.n_found, first.relevance) == ("where is [redacted: github-token] used", 3, 0.5)
    assert (len(last.text), last.n_found) == (MAX_QUESTION_CHARS, 0)
    assert [question.kind for question in usage.questions("code")] == ["code"]


def test_a_question_of_a_muted_session_is_not_kept(usage: MemoryUsage, store: MemoryStore) -> None:
    Sessions(store, Path("/p")).mute("s1")
    usage.note_question("memory", "what is it", 1, session="s1")
    assert usage.questions() == []


def test_when_a_memory_last_answered_or_was_shown_is_known(
    usage: MemoryUsage, store: MemoryStore, clock: Clock
) -> None:
    usage.note_question("memory", "q", 2, ids=["a", "b", "a"])
    clock.seconds += 10
    note_injections(store, "s1", "prompt", [("b", "w", 1)], clock)
    clock.seconds += 10
    usage.note_question("memory", "q", 1, ids=["c"])
    assert usage.last_uses(["a", "b", "c", "d"]) == {"a": START, "b": START + 10, "c": START + 20}


def test_how_long_events_of_a_source_take_is_written_with_the_next(
    usage: MemoryUsage, store: MemoryStore, clock: Clock
) -> None:
    sessions = Sessions(store, Path("/p"), [usage.hear], now=clock)
    for number, milliseconds in enumerate((4.0, 10.0, 2.0)):
        moment = Moment(f"e{number}", "prompt", "s1", "codex", START)
        sessions.record(moment)
        usage.note_time(moment, milliseconds)
    (source,) = usage.sources()
    assert (source.agent, source.event, source.heard, source.n_events) == ("codex", "prompt", START, 3)
    assert (source.n_timed, source.last_ms, source.total_ms, source.slowest_ms) == (2, 10.0, 14.0, 10.0)
    assert source.p95_ms == 10.0


def test_of_the_last_hundred_times_the_95th_counts(usage: MemoryUsage, store: MemoryStore, clock: Clock) -> None:
    sessions = Sessions(store, Path("/p"), [usage.hear], now=clock)
    for number, milliseconds in enumerate([500.0] * 10 + [float(ms) for ms in range(1, 101)] + [0.0]):
        moment = Moment(f"e{number}", "prompt", "s1", "codex", START)
        sessions.record(moment)
        usage.note_time(moment, milliseconds)
    (source,) = usage.sources()
    assert (source.p95_ms, source.slowest_ms) == (95.0, 500.0)
