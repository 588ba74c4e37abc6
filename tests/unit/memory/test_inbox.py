from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.errors import StoreError
from cairn.index.state_dir import StateDir
from cairn.memory.inbox import Inbox, let_wait
from cairn.memory.moments import Moment
from cairn.memory.sessions import STALE_SECONDS, Recorded, Sessions
from cairn.memory.spool import Spool
from cairn.memory.store import MemoryStore
from cairn.source.git import find_repository
from memory_histories import START, Clock

Git = Callable[..., str]


def prompt(id: str, text: str = "go", seconds: float = START) -> Moment:
    return Moment(id, "prompt", "s1", "codex", seconds, text)


class Project:
    """A project whose memory another process may keep busy."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.store = MemoryStore(StateDir(folder / "state"), now=self.clock)
        self.sessions = Sessions(self.store, folder, [self.refuse], now=self.clock)
        self.spool = Spool(folder, folder / "spool")
        self.inbox = Inbox(self.sessions, self.store, self.spool, find_repository(folder), self.clock)
        self.refused = ""

    def take_in(self, moment: Moment) -> bool:
        """Take in a moment later than the last."""
        self.clock.seconds += 10
        return self.inbox.take_in(moment)

    def refuse(self, connection: sqlite3.Connection, moment: Moment, recorded: Recorded) -> None:
        """React to a moment as a full disk does, if it is to be refused."""
        if self.refused and self.refused in moment.text:
            raise sqlite3.OperationalError("database or disk is full")

    def prompts(self) -> list[str]:
        return [batch.prompt for batch in self.sessions.batches(self.sessions.session("s1"))]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_moment_that_cannot_be_taken_in_waits_and_is_taken_in_before_the_next(project: Project) -> None:
    project.refused = "g"
    assert project.take_in(prompt("e1", "ginger"))
    assert project.take_in(prompt("e2", "garlic"))
    assert project.spool.count() == 2
    project.refused = ""
    assert project.take_in(prompt("e3", "onion"))
    assert project.prompts() == ["ginger", "garlic", "onion"]
    assert project.spool.count() == 0


def test_a_moment_that_was_taken_in_and_still_waits_counts_once(project: Project) -> None:
    project.spool.add(prompt("e1"))
    project.sessions.record(prompt("e1"))
    assert project.inbox.catch_up() == 1
    assert project.prompts() == ["go"]
    assert project.spool.count() == 0


def test_a_moment_that_is_never_taken_in_does_not_keep_others_waiting(project: Project) -> None:
    project.refused = "poison"
    for id, text in (("e1", "poison"), ("e2", "ginger"), ("e3", "garlic")):
        assert project.take_in(prompt(id, text))
    assert project.prompts() == ["ginger", "garlic"]
    assert len(project.spool.bad_files()) == 1


def test_while_another_process_writes_a_moment_waits(project: Project, tmp_path: Path) -> None:
    project.take_in(prompt("e1"))
    other = sqlite3.connect(tmp_path / "state" / "memory.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert project.take_in(prompt("e2", "later"))
    assert project.spool.count() == 1
    other.execute("ROLLBACK")
    other.close()
    project.inbox.catch_up()
    assert project.prompts() == ["go", "later"]


def test_once_a_moment_had_to_wait_the_next_do_not_try_for_a_second(project: Project) -> None:
    project.refused = "poison"
    project.inbox.take_in(prompt("e1", "poison"))
    project.refused = ""
    project.inbox.take_in(prompt("e2", "ginger"))
    assert project.spool.count() == 2
    project.clock.seconds += 1.5
    project.inbox.take_in(prompt("e3", "garlic"))
    assert project.prompts() == ["poison", "ginger", "garlic"]


def test_a_moment_without_an_id_counts_once_though_it_waited(project: Project) -> None:
    project.refused = "go"
    project.take_in(prompt(""))
    project.refused = ""
    project.inbox.catch_up()
    project.inbox.catch_up()
    assert project.prompts() == ["go"]


def test_catching_up_ends_stale_sessions(project: Project) -> None:
    project.take_in(prompt("e1"))
    project.clock.seconds += STALE_SECONDS + 60
    project.inbox.catch_up()
    assert project.sessions.session("s1").end_reason == "stale"


def test_a_moment_that_can_neither_be_taken_in_nor_wait_is_refused(project: Project, tmp_path: Path) -> None:
    project.refused = "go"
    (tmp_path / "spool").write_text("a file in its place")
    with pytest.raises(StoreError):
        project.take_in(prompt("e1"))


def test_a_moment_says_what_is_checked_out_unless_the_agent_does(checkout: Path, git: Git) -> None:
    git(checkout, "commit", "-q", "--allow-empty", "-m", "first")
    inbox = Project(checkout).inbox
    moment = inbox.locate(prompt("e1"))
    assert (moment.branch, moment.revision) == ("main", git(checkout, "rev-parse", "HEAD"))
    assert inbox.locate(prompt("e1")._replace(branch="dev")).branch == "dev"


def test_a_moment_is_taken_in_though_git_cannot_say_what_is_checked_out(project: Project, checkout: Path) -> None:
    found = find_repository(checkout)
    assert found is not None
    (found.git_dir / "HEAD").write_text("nonsense")
    inbox = Inbox(project.sessions, project.store, project.spool, found, project.clock)
    moment = inbox.locate(prompt("e1"))
    assert (moment.branch, moment.revision) == ("", "")
    assert inbox.take_in(moment)


def test_a_moment_waits_without_its_project_unless_the_user_wants_nothing_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert let_wait(tmp_path, prompt("e1")).is_captured
    assert Spool(tmp_path).count() == 1
    monkeypatch.setenv("CAIRN_MEMORY_CAPTURE", "no")
    assert not let_wait(tmp_path, prompt("e2")).is_captured
    assert Spool(tmp_path).count() == 1


KILLED = """
import json, os, signal, sqlite3, sys
from pathlib import Path
from cairn.index.state_dir import StateDir
from cairn.memory.inbox import Inbox
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.sessions import Sessions
from cairn.memory.spool import Spool
from cairn.memory.store import MemoryStore

WATCHED = ("inbox.py", "spool.py", "sessions.py", "session_db.py", "atomic.py")
folder = Path(sys.argv[1])
spool = Spool(folder, folder / "spool")

def open_inbox():
    store = MemoryStore(StateDir(folder / "state"))
    return Inbox(Sessions(store, folder), store, spool, None), store

def moment(name):
    return Moment(name, "after-tool", "s1", "codex", 0.0, call=ToolCall("read", "Read", name))

def trace(frame, event, argument):
    global lines
    if not frame.f_code.co_filename.endswith(WATCHED):
        return None
    lines -= event == "line"
    if not lines:
        os.kill(os.getpid(), signal.SIGKILL)
    return trace

def kept():
    connection = sqlite3.connect(folder / "state" / "memory.db")
    names = [name for (name,) in connection.execute("SELECT target FROM activity")]
    connection.close()
    return names

open_inbox()[0].take_in(moment("first"))
last, step = 1, int(sys.argv[2])
while True:
    name = f"e{last}"
    spool.add(moment(f"waiting-{name}"))
    reading, writing = os.pipe()
    if not (child := os.fork()):
        inbox, store = open_inbox()
        lines = last
        sys.settrace(trace)
        if inbox.take_in(moment(name)):
            os.write(writing, b"acknowledged")
        os._exit(0)
    os.close(writing)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    acknowledged = bool(os.read(reading, 100))
    os.close(reading)
    inbox, store = open_inbox()
    inbox.catch_up()
    store.close()
    found = kept()
    print(json.dumps([killed, acknowledged, found.count(name), found.count(f"waiting-{name}")]))
    if not killed:
        break
    last += step
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_kill_at_any_line_loses_nothing_that_was_acknowledged_and_doubles_nothing(tmp_path: Path) -> None:
    step = os.environ.get("CAIRN_KILL_STEP", "7")  # 1: before every line
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path, step], capture_output=True, text=True, check=True, timeout=500
    )
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(outcomes) > 20
    assert outcomes[-1] == [False, True, 1, 1]
    assert all(n_waiting == 1 for *_, n_waiting in outcomes)
    assert all(n_kept == 1 or (n_kept == 0 and not is_acknowledged) for _, is_acknowledged, n_kept, _ in outcomes)
    assert {n_kept for _, _, n_kept, _ in outcomes} == {0, 1}
