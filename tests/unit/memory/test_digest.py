from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cairn.index.state_dir import StateDir
from cairn.memory.digest import MAX_DIGEST_CHARS, Digests, ending_of
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.sessions import STALE_SECONDS, Sessions
from cairn.memory.store import By, MemoryStore
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Observation
from memory_histories import Clock

AGENT, PERSON = By("agent:claude-code", "agent"), By("person:ada", "person")
RULE = By("rule:capture", "rule")


class Agent:
    """An agent whose sessions leave digests."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.root = folder / "project"
        (self.root / "src").mkdir(parents=True)
        (self.root / "src" / "a.py").write_text("x = 1\n")
        self.store = MemoryStore(StateDir(folder / "state"), now=self.clock, forget=self.forget)
        self.digests = Digests(self.store, self.root)
        self.sessions = Sessions(self.store, self.root, [self.digests.hear], now=self.clock)
        self.lifecycle = Lifecycle(self.store, self.clock)
        self._n_moments = 0

    def forget(self, _: sqlite3.Connection, erased: Sequence[Observation]) -> None:
        self.digests.erase(erased)

    def report(self, event: str, session: str = "s1", **fields: Any) -> None:  # noqa: ANN401 - any mix
        self.clock.seconds += 10
        self._n_moments += 1
        self.sessions.record(Moment(f"e{self._n_moments}", event, session, "claude-code", self.clock.seconds, **fields))

    def ask(self, prompt: str, session: str = "s1") -> None:
        self.report("prompt", session, text=prompt)

    def use(self, tool: str, target: str, session: str = "s1", **fields: Any) -> None:  # noqa: ANN401 - any mix
        self.report("after-tool", session, call=ToolCall(tool, tool.title(), target, **fields))

    def learn(self, text: str, type: str, session: str = "s1") -> str:
        return self.lifecycle.remember(NewMemory(text, type, session=session), AGENT).observation.id

    def end(self, session: str = "s1") -> Observation:
        self.report("session-end", session)
        digest = self.digests.find(session)
        assert digest is not None
        return digest


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def test_a_digest_says_what_was_asked_changed_failed_fixed_decided_and_left_open(agent: Agent) -> None:
    agent.ask("Add retries to the client\nand test them")
    agent.use("read", "src/a.py", outcome="ok")
    agent.use("shell", "pytest -q", exit_code=1)
    agent.use("edit", "src/a.py", outcome="ok")
    agent.use("edit", "src/a.py", outcome="ok")
    agent.use("edit", "src/gone.py", outcome="ok")
    agent.use("shell", "pytest -q", exit_code=0)
    agent.use("shell", "rg retry src", exit_code=1)
    agent.learn("Retries use exponential back-off.", "decision")
    agent.learn("The client hides time-outs.", "gotcha")
    agent.ask("Lint it")
    agent.report("prompt", text="<task-notification> done")
    agent.use("shell", "make lint", exit_code=2)
    digest = agent.end()
    assert digest.text.splitlines() == [
        "Add retries to the client and test them (implementation, 2 min, 3 edits)",
        "Asked: Add retries to the client and test them / Lint it",
        "Changed: src/a.py (2x), src/gone.py",
        "Failed: `pytest -q`, `make lint`",
        "Fixed: `pytest -q`",
        "Decided: Retries use exponential back-off.",
        "Learned: The client hides time-outs.",
        "Left open: `make lint` still fails",
        "Commands: `pytest -q` (2x), `make lint`",
    ]
    assert (digest.type, digest.origin, digest.session) == ("session_summary", "captured", "s1")
    assert [link.path for link in digest.links] == ["src/a.py"]
    assert not digest.is_shared


def test_a_session_of_which_there_is_nothing_to_say_leaves_no_digest(agent: Agent) -> None:
    agent.use("other", "", outcome="ok")
    agent.report("session-end")
    assert agent.digests.find("s1") is None


@pytest.mark.parametrize(
    ("digest", "ending"),
    [
        ("Mend it (1 edit)\nAsked: Mend it", ["Mend it (1 edit)"]),
        ("Mend th\u2026 (1 edit)\nAsked: Mend the pool", ["Mend th\u2026 (1 edit)"]),
        ("The pool\nIt leaked.\nAsked: Mend it\nFixed: `x`", ["The pool", "It leaked.", "Fixed: `x`"]),
        ("The pool\nAsked: Mend it\nCommands: `x`", ["The pool", "Asked: Mend it"]),
        ("A (1 edit)\nChanged: a\nDecided: b\nLeft open: c", ["A (1 edit)", "Left open: c", "Changed: a"]),
        ("", [""]),
    ],
)
def test_how_a_session_ended_is_told_in_three_lines(digest: str, ending: list[str]) -> None:
    assert ending_of(digest).split("\n") == ending


def test_what_succeeded_by_another_command_that_does_the_same_is_not_left_open(agent: Agent) -> None:
    agent.ask("Run the tests")
    agent.use("shell", "go test ./pkg/...", exit_code=1)
    agent.use("shell", "cd /srv/shop && go test ./pkg/...", exit_code=0)
    agent.use("shell", "make lint", exit_code=2)
    agent.use("shell", "make lint | tail -3", exit_code=0)
    agent.use("shell", "make docs", exit_code=0)
    lines = agent.end().text.splitlines()
    assert "Fixed: `go test ./pkg/...`" in lines
    assert "Left open: `make lint` still fails" in lines


def test_what_others_took_the_place_of_is_in_no_digest(agent: Agent) -> None:
    agent.ask("Tune the pool")
    agent.learn("The pool keeps 5 threads; more gain nothing.", "decision")
    agent.clock.seconds += 1
    old = agent.learn("Threads are named after their pool.", "decision")
    alone = agent.learn("Sockets are reused.", "discovery")
    before = agent.end()
    assert "Decided: The pool keeps 5 threads; more gain nothing.; Threads are named after their pool." in before.text
    agent.digests.take_out(agent.store.observations([old, alone]))
    now = agent.store.observation(before.id).text
    assert now.splitlines()[2:] == ["Decided: The pool keeps 5 threads; more gain nothing."]
    agent.lifecycle.edit(before.id, PERSON, text="Decided: The pool keeps 5 threads; more gain nothing.")
    agent.digests.take_out(agent.store.select(Conditions(types=("decision",))))
    assert agent.store.observation(before.id).text == "Decided: The pool keeps 5 threads; more gain nothing."


def test_a_fix_that_was_remembered_is_told_in_its_own_words(agent: Agent) -> None:
    agent.use("shell", "pytest -q", exit_code=1)
    agent.use("shell", "pytest -q", exit_code=0)
    agent.learn("The tests failed because the clock ran backwards.", "bug_fix")
    assert "Fixed: The tests failed because the clock ran backwards." in agent.end().text.splitlines()


def test_the_same_session_has_the_same_digest_whenever_it_is_written(agent: Agent) -> None:
    agent.ask("explain the cache")
    agent.use("read", "src/a.py")
    digest = agent.end()
    with agent.store.writing() as connection:
        again = agent.digests.write(connection, agent.sessions.session("s1"))
    assert again == digest
    assert len(agent.store.history(digest.id)) == 1


def test_sessions_that_did_the_same_have_a_digest_each(agent: Agent) -> None:
    for session in ("s1", "s2"):
        agent.ask("run the tests", session)
        agent.use("shell", "make test", session)
    assert agent.end("s1").id != agent.end("s2").id


def test_a_session_that_goes_on_has_its_digest_written_anew(agent: Agent) -> None:
    agent.ask("explain the cache")
    agent.use("read", "src/a.py")
    first = agent.end()
    agent.ask("now clear it")
    agent.use("edit", "src/a.py", outcome="ok")
    second = agent.end()
    assert second.id == first.id
    assert "now clear it" in second.text
    assert [link.path for link in second.links] == ["src/a.py"]


def test_what_a_person_made_of_a_digest_stays(agent: Agent) -> None:
    agent.ask("explain the cache")
    agent.use("read", "src/a.py")
    digest = agent.end()
    agent.lifecycle.edit(digest.id, PERSON, text="My own words")
    agent.ask("now clear it")
    assert agent.end().text == "My own words"


def test_a_session_that_goes_stale_leaves_a_digest(agent: Agent) -> None:
    agent.ask("explain the cache")
    agent.use("read", "src/a.py")
    agent.clock.seconds += STALE_SECONDS + 100
    agent.sessions.end_stale()
    assert agent.digests.find("s1") is not None


def test_a_session_in_which_nothing_was_done_leaves_none(agent: Agent) -> None:
    agent.report("session-start")
    agent.report("session-end")
    assert agent.digests.find("s1") is None


def test_a_prompt_after_which_nothing_happened_leaves_none_but_a_conversation_does(agent: Agent) -> None:
    agent.ask("hello")
    agent.report("session-end")
    assert agent.digests.find("s1") is None
    agent.ask("and why is that so?")
    assert "hello" in agent.end().text
    agent.ask("keep in mind to wipe the cache", "s2")
    agent.learn("Wipe the cache first", "gotcha", "s2")
    assert "Wipe the cache first" in agent.end("s2").text


def test_a_session_that_only_reads_without_a_prompt_leaves_none(agent: Agent) -> None:
    agent.use("read", "src/a.py")
    agent.use("shell", "cat src/a.py", exit_code=0)
    agent.report("session-end")
    assert agent.digests.find("s1") is None
    agent.use("edit", "src/a.py", "s2", outcome="ok")
    assert "Changed: src/a.py" in agent.end("s2").text


def test_a_command_for_which_another_one_works_is_not_left_open(agent: Agent) -> None:
    agent.ask("run the tests")
    agent.use("shell", "make x", exit_code=2)
    agent.use("shell", "make z", exit_code=2)
    agent.use("shell", "make y", exit_code=0)
    agent.learn("`make x` failed: no rule to make target. This works instead: `make y`.", "gotcha")
    agent.learn("`make z` failed: no such file.", "gotcha")
    lines = agent.end().text.splitlines()
    assert "Left open: `make z` still fails" in lines
    assert "Failed: `make x`, `make z`" in lines


def test_a_digest_of_a_long_session_is_bounded(agent: Agent) -> None:
    for number in range(30):
        agent.ask(f"question {number} " + "word " * 300)
        agent.use("write", f"src/{'long' * 20}{number}.py", outcome="ok")
        agent.use("shell", f"make {'target' * 30}{number}", exit_code=1)
    assert len(agent.end().text) <= MAX_DIGEST_CHARS


def test_words_of_an_erased_memory_are_not_left_in_the_digest_of_its_session(agent: Agent, tmp_path: Path) -> None:
    agent.ask("remember the swordfish")
    secret = agent.learn("The codeword of staging is swordfish.", "decision")
    assert "swordfish" in agent.end().text
    agent.lifecycle.erase(secret, PERSON)
    assert agent.digests.find("s1") is None
    with agent.store.reading() as connection:
        bodies = [body for (body,) in connection.execute("SELECT body FROM event")]
        texts = [text for (text,) in connection.execute("SELECT text FROM observation")]
    assert not [text for text in [*bodies, *texts] if "swordfish" in text]


def test_a_session_that_is_muted_after_its_end_leaves_no_digest_and_keeps_what_was_remembered(agent: Agent) -> None:
    agent.ask("remember the swordfish")
    learned = agent.learn("The cache is cold.", "gotcha")
    digest = agent.end()
    agent.sessions.mute("s1")
    assert agent.store.observation(digest.id).is_redacted
    assert agent.store.observation(learned).text == "The cache is cold."


def test_a_session_that_is_forgotten_takes_its_digest_along_and_keeps_what_was_learned(agent: Agent) -> None:
    agent.ask("look for the swordfish")
    learned = agent.learn("The cache is cold.", "gotcha")
    captured = agent.lifecycle.remember(NewMemory("The disk fails.", "gotcha", session="s1", origin="captured"), RULE)
    digest = agent.end()
    agent.sessions.forget("s1")
    assert agent.store.observation(digest.id).is_redacted
    assert agent.store.observation(learned).text == "The cache is cold."
    assert agent.store.observation(captured.observation.id).text == "The disk fails."
