from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from cairn.errors import EventError, NotFoundError
from cairn.index.state_dir import StateDir
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.sessions import MAX_PROMPT_CHARS, STALE_SECONDS, Recorded, Sessions
from cairn.memory.store import By, MemoryStore
from cairn.memory.usage import MemoryUsage, erase_words
from cairn.storage.copies import copy_database
from cairn.storage.memory.session_db import SessionConditions
from memory_histories import START, Clock

AGENT = By("agent:claude-code", "agent")
PERSON = By("person:ada", "person")
SECRET = "ghp_" + "a8B2c9D4e7F1g6H3i5J0k2L8m4N9o1P7q3R5"


class Heard:
    """A listener that notes what it is told."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.recorded: list[Recorded] = []

    def __call__(self, connection: sqlite3.Connection, moment: Moment, recorded: Recorded) -> None:
        assert connection.in_transaction
        self.moments.append(moment)
        self.recorded.append(recorded)


class Agent:
    """An agent that reports what it does to the memory of a project, a second at a time."""

    def __init__(self, folder: Path, **settings: Any) -> None:  # noqa: ANN401 - any mix
        self.clock = Clock()
        self.heard = Heard()
        self.store = MemoryStore(StateDir(folder / "state"), now=self.clock, forget=erase_words)
        self.sessions = Sessions(self.store, folder / "project", [self.heard], now=self.clock, **settings)
        self._n_moments = 0

    def moment(self, event: str, session: str = "s1", **fields: Any) -> Moment:  # noqa: ANN401 - any mix
        self.clock.seconds += 1
        self._n_moments += 1
        values = {"id": f"e{self._n_moments}", "agent": "claude-code", "seconds": self.clock.seconds, **fields}
        return Moment(event=event, session=session, **values)

    def report(self, event: str, session: str = "s1", **fields: Any) -> Recorded:  # noqa: ANN401 - any mix
        recorded = self.sessions.record(self.moment(event, session, **fields))
        assert recorded is not None
        return recorded

    def use(self, tool: str, target: str = "src/a.py", session: str = "s1", **fields: Any) -> Recorded:  # noqa: ANN401 - any mix
        return self.report("after-tool", session, call=ToolCall(tool, tool.title(), target, **fields))


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def on_disk(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_a_session_is_made_of_what_followed_each_prompt(agent: Agent) -> None:
    agent.report("session-start", details={"source": "startup"}, branch="main", revision="abc")
    agent.use("read", "README.md")
    agent.report("prompt", text="mend the parser")
    agent.use("edit", outcome="ok", duration_ms=12, input_bytes=3, output_bytes=4)
    agent.use("shell", "pytest -q", exit_code=1)
    agent.report("turn-end", text="done")
    agent.report("prompt", text="and the tests")
    agent.report("session-end", details={"reason": "logout"})
    session = agent.sessions.session("s1")
    assert (session.agent, session.source, session.branch, session.revision) == (
        "claude-code",
        "startup",
        "main",
        "abc",
    )
    assert (session.started, session.ended, session.end_reason) == (START + 1, START + 8, "logout")
    assert (session.n_prompts, session.n_activities, session.n_failures) == (2, 3, 1)
    batches = agent.sessions.batches(session)
    assert [(batch.place, batch.prompt, batch.ended - batch.started) for batch in batches] == [
        (0, "", 1.0),
        (1, "mend the parser", 3.0),
        (2, "and the tests", 1.0),
    ]
    first, edit, run = agent.sessions.activities(session)
    assert [row.batch for row in (first, edit, run)] == [batches[0].number, batches[1].number, batches[1].number]
    assert edit[2:] == ("edit", "Edit", "src/a.py", "ok", None, 12, 3, 4, False, edit.number)
    assert (run.target, run.exit_code, run.is_failure) == ("pytest -q", 1, True)


def test_a_moment_that_arrives_twice_counts_once(agent: Agent) -> None:
    moment = agent.moment("after-tool", call=ToolCall("read", "Read", "a.py"))
    first, second = agent.sessions.record(moment), agent.sessions.record(moment)
    assert first is not None
    assert second is not None
    assert (first.is_new, second.is_new) == (True, False)
    assert agent.sessions.session("s1").n_activities == len(agent.heard.moments) == 1


def test_the_same_id_at_another_event_or_in_another_session_is_another_moment(agent: Agent) -> None:
    for event, session in (("before-tool", "s1"), ("after-tool", "s1"), ("after-tool", "s2")):
        recorded = agent.report(event, session, id="call-1", call=ToolCall("read", "Read", "a.py"))
        assert recorded.is_new


def test_a_call_that_begins_is_no_activity_yet(agent: Agent) -> None:
    assert agent.report("before-tool", call=ToolCall("read", "Read", "a.py")).activity is None
    assert agent.sessions.session("s1").n_activities == 0


def test_a_prompt_that_the_agent_wrote_itself_is_a_notice(agent: Agent) -> None:
    agent.report("prompt", text="<task-notification>done</task-notification>")
    (batch,) = agent.sessions.batches(agent.sessions.session("s1"))
    assert batch.kind == "notice"


def test_what_was_said_and_printed_is_heard_and_not_kept_except_the_beginning_of_a_prompt(
    agent: Agent, tmp_path: Path
) -> None:
    agent.report("prompt", text="prompting " + "x" * 3_000)
    agent.use("shell", "make", output="printing plovers")
    agent.report("turn-end", text="answering herons")
    assert [moment.text[:9] for moment in agent.heard.moments] == ["prompting", "", "answering"]
    assert agent.heard.moments[1].call is not None
    assert agent.heard.moments[1].call.output == "printing plovers"
    (batch,) = agent.sessions.batches(agent.sessions.session("s1"))
    assert len(batch.prompt) == MAX_PROMPT_CHARS
    assert b"prompting" in on_disk(tmp_path)
    assert b"plovers" not in on_disk(tmp_path)
    assert b"herons" not in on_disk(tmp_path)


def test_secrets_reach_neither_the_disk_nor_the_listeners(agent: Agent, tmp_path: Path) -> None:
    agent.report("prompt", text=f"use {SECRET} <private>and herons</private>", details={"reason": SECRET})
    agent.use("shell", f"curl -H 'Authorization: Bearer {SECRET}'", output=SECRET)
    agent.report("after-tool", call=ToolCall("other", SECRET, "x"), details={SECRET: "x"})
    assert SECRET not in repr(agent.heard.moments)
    assert SECRET.encode() not in on_disk(tmp_path)
    assert b"herons" not in on_disk(tmp_path)


def test_paths_below_the_root_are_relative(agent: Agent, tmp_path: Path) -> None:
    for path in (tmp_path / "project" / "src" / "a.py", tmp_path / "elsewhere.py"):
        agent.use("edit", str(path))
    targets = [activity.target for activity in agent.sessions.activities(agent.sessions.session("s1"))]
    assert targets == ["src/a.py", str(tmp_path / "elsewhere.py")]


@pytest.mark.parametrize("seconds", [0.0, -5.0, 9e15])
def test_a_moment_without_a_believable_time_happens_now(agent: Agent, seconds: float) -> None:
    agent.report("prompt", text="hello", seconds=seconds)
    assert agent.sessions.session("s1").heard == agent.clock.seconds


# -- the end -----------------------------------------------------------------------------------------------------------


def test_a_session_that_is_silent_for_an_hour_is_stale_and_ended_when_it_was_last_heard_of(agent: Agent) -> None:
    agent.use("read")
    agent.clock.seconds += STALE_SECONDS + 60
    agent.use("read", session="s2")
    assert [session.id for session in agent.sessions.end_stale()] == ["s1"]
    session = agent.sessions.session("s1")
    assert (session.ended, session.end_reason) == (START + 1, "stale")
    assert agent.heard.moments[-1].event == "session-end"
    assert agent.sessions.select(SessionConditions(is_open=True)) == [agent.sessions.session("s2")]


def test_a_session_goes_on_when_it_is_heard_of_after_it_was_stale(agent: Agent) -> None:
    agent.use("read")
    agent.clock.seconds += STALE_SECONDS + 60
    agent.sessions.end_stale()
    agent.use("read")
    assert not agent.sessions.session("s1").ended


def test_what_trickles_in_after_the_end_is_kept_and_does_not_begin_the_session_again(agent: Agent) -> None:
    agent.report("prompt", text="go")
    agent.report("session-end")
    ended = agent.sessions.session("s1").ended
    agent.use("read")
    assert (agent.sessions.session("s1").ended, agent.sessions.session("s1").n_activities) == (ended, 1)
    agent.report("session-start", details={"source": "resume"})
    assert not agent.sessions.session("s1").ended


def test_listeners_hear_of_one_end(agent: Agent) -> None:
    agent.report("prompt", text="go")
    agent.report("session-end")
    agent.report("session-end")
    assert [moment.event for moment in agent.heard.moments] == ["prompt", "session-end"]


@pytest.mark.parametrize(("tool", "importance"), [("read", 5), ("edit", 9)])
def test_what_was_learned_where_nothing_was_tried_out_is_less_important(
    agent: Agent, tool: str, importance: int
) -> None:
    lifecycle = Lifecycle(agent.store)
    for _ in range(6):
        agent.use(tool)
    learned = lifecycle.remember(NewMemory("the cache is slow", importance=9, session="s1"), AGENT).observation
    said = lifecycle.remember(NewMemory("never delete it", importance=9, session="s1"), PERSON).observation
    agent.report("session-end")
    assert agent.store.observation(learned.id).importance == importance
    assert agent.store.observation(said.id).importance == 9


# -- listeners ---------------------------------------------------------------------------------------------------------


def test_a_listener_that_fails_undoes_its_own_work_and_no_more(agent: Agent) -> None:
    def fail(connection: sqlite3.Connection, moment: Moment, recorded: Recorded) -> None:
        connection.execute("DELETE FROM session")
        raise EventError("no")

    usage = MemoryUsage(agent.store, agent.clock)
    sessions = Sessions(agent.store, Path("/p"), [fail, usage.hear], now=agent.clock)
    assert sessions.record(agent.moment("prompt", text="go")) is not None
    assert sessions.session("s1").n_prompts == 1
    assert [source.event for source in usage.sources()] == ["prompt"]


def test_a_listener_may_remember_something_in_the_same_transaction(agent: Agent) -> None:
    def learn(connection: sqlite3.Connection, moment: Moment, recorded: Recorded) -> None:
        Lifecycle(agent.store).remember(NewMemory(moment.text, session=recorded.session.id), AGENT)
        if "forget" in moment.text:
            raise sqlite3.OperationalError("database or disk is full")

    sessions = Sessions(agent.store, Path("/p"), [learn], now=agent.clock)
    sessions.record(agent.moment("prompt", text="keep this"))
    with pytest.raises(Exception, match="is full"):
        sessions.record(agent.moment("prompt", text="forget this"))
    assert sessions.session("s1").n_prompts == 1
    with agent.store.reading() as connection:
        assert connection.execute("SELECT text FROM observation").fetchall() == [("keep this",)]


# -- what the user wants -----------------------------------------------------------------------------------------------


def test_where_the_user_wants_nothing_kept_nothing_is_created(tmp_path: Path) -> None:
    agent = Agent(tmp_path, keeps=False)
    assert agent.sessions.record(agent.moment("prompt", text="go")) is None
    assert agent.sessions.end_stale() == []
    assert not (tmp_path / "state").exists()


def test_of_a_session_that_is_muted_nothing_is_kept(agent: Agent, tmp_path: Path) -> None:
    agent.report("prompt", text="an early heron")
    lifecycle = Lifecycle(agent.store)
    lifecycle.remember(NewMemory("herons fail", session="s1", origin="captured"), By("rule:capture", "rule"))
    said = lifecycle.remember(NewMemory("an owl", session="s1"), PERSON).observation
    copy_database(tmp_path / "state" / "memory.db")
    assert b"heron" in on_disk(tmp_path)
    agent.sessions.mute("s1")
    assert agent.sessions.record(agent.moment("prompt", text="a late plover")) is None
    assert b"heron" not in on_disk(tmp_path)
    assert b"plover" not in on_disk(tmp_path)
    assert agent.store.observation(said.id).text == "an owl"
    assert len(agent.heard.moments) == 1
    assert agent.sessions.select(SessionConditions()) == []
    assert agent.sessions.batches(agent.sessions.session("s1")) == []
    agent.sessions.mute("s1", is_muted=False)
    agent.report("prompt", text="go on")
    assert agent.sessions.session("s1").n_prompts == 1


def test_a_session_that_is_forgotten_is_gone_and_what_was_learned_in_it_stays(agent: Agent, tmp_path: Path) -> None:
    agent.report("prompt", text="a heron")
    id = Lifecycle(agent.store).remember(NewMemory("it is slow", session="s1"), AGENT).observation.id
    agent.sessions.forget("s1")
    assert b"heron" not in on_disk(tmp_path)
    with pytest.raises(NotFoundError, match="s1"):
        agent.sessions.session("s1")
    assert agent.store.observation(id).text == "it is slow"


def test_a_memory_that_is_erased_takes_the_words_of_its_session_and_of_questions_along(
    agent: Agent, tmp_path: Path
) -> None:
    usage = MemoryUsage(agent.store, agent.clock)
    agent.report("prompt", text="the codeword is swordfish")
    agent.use("shell", "login swordfish")
    id = Lifecycle(agent.store).remember(NewMemory("swordfish", session="s1"), AGENT).observation.id
    usage.note_question("memory", "is it swordfish?", 1, ids=[id])
    usage.note_question("memory", "what else", 0)
    assert b"swordfish" in on_disk(tmp_path)
    Lifecycle(agent.store).erase(id, PERSON)
    assert b"swordfish" not in on_disk(tmp_path)
    assert [question.text for question in usage.questions()] == ["what else", ""]


# -- listing -----------------------------------------------------------------------------------------------------------


def test_sessions_are_selected_by_each_condition(agent: Agent) -> None:
    agent.report("session-start", branch="main")
    agent.use("read", "src/a.py")
    agent.report("session-start", "s2", agent="codex", branch="dev")
    agent.report("session-end", "s2")

    def ids(**conditions: Any) -> list[str]:  # noqa: ANN401 - any mix
        found = agent.sessions.select(SessionConditions(**conditions))
        agents = sorted({session.agent for session in found})
        assert agent.sessions.page(SessionConditions(**conditions)) == (found, len(found), agents)
        assert agent.sessions.page(SessionConditions(**conditions), 1, 1) == (found[1:2], len(found), agents)
        return [session.id for session in found]

    assert ids() == ["s2", "s1"]
    assert ids(agents=["codex"]) == ids(branches=["dev"]) == ids(is_open=False) == ids(since=START + 3) == ["s2"]
    assert ids(path="src/a.py") == ids(path="src/") == ids(origins=["mixed"]) == ids(until=START + 3) == ["s1"]
    assert ids(path="src") == []


def test_calls_that_failed_are_listed_once_with_where_that_was_last(agent: Agent) -> None:
    agent.report("session-start", "s2", agent="codex")
    for session in ("s1", "s2", "s2"):
        agent.use("shell", "make", session, outcome="failed", exit_code=2)
    middle = agent.clock.seconds
    agent.use("edit", "src/a.py", outcome="failed")
    agent.use("read", "src/b.py", outcome="ok")
    agent.use("shell", "rm -r x", "s3", outcome="failed", exit_code=1)
    agent.sessions.mute("s3")
    edited, made = agent.sessions.failures()
    assert (edited.target, edited.n_times, edited.session, edited.seconds) == ("src/a.py", 1, "s1", middle + 1)
    assert made == ("shell", "Shell", "make", 3, 2, middle, "s2", "codex")
    assert agent.sessions.failures(since=middle + 1) == [edited]
    assert [call.n_times for call in agent.sessions.failures("codex")] == [2]
    agent.use("shell", "make", outcome="failed", exit_code=2)
    assert agent.sessions.failures()[0].n_times == 4


def test_asking_where_nothing_was_recorded_creates_nothing(agent: Agent, tmp_path: Path) -> None:
    assert agent.sessions.select(SessionConditions()) == []
    assert agent.sessions.page(SessionConditions()) == ([], 0, [])
    assert agent.sessions.find("s1") is None
    assert MemoryUsage(agent.store).sources() == []
    assert not (tmp_path / "state").exists()
