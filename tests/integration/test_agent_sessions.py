"""What agents report to the daemon, and what becomes of it in the memory of a project."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cairn.memory.handles import handle_of
from cairn.memory.moments import EVENTS
from cairn.memory.spool import Spool
from cairn.storage.memory.rows import Session
from cairn.storage.memory.session_db import SessionConditions
from cairn.workspace import Workspace
from serving import Served, make_app, serving

Report = Callable[..., dict[str, Any]]
SECRET = "ghp_" + "a8B2c9D4e7F1g6H3i5J0k2L8m4N9o1P7q3R5"


@pytest.fixture
def root(checkout: Path) -> Path:
    (checkout / "tax.py").write_text("def tax(price):\n    return price\n")
    return checkout


@pytest.fixture
def served(root: Path, tmp_path: Path) -> Iterator[Served]:
    with serving(make_app(tmp_path / "user", root)) as daemon:
        yield daemon


@pytest.fixture
def report(served: Served) -> Report:
    def report(event: str, session: str = "s1", **payload: object) -> dict[str, Any]:
        document = {"agent": "codex", "session": session, "payload": json.dumps(payload)}
        status, answer = served.ask("POST", f"/api/hook/{event}", document)
        assert status == 200, answer
        return dict(answer)

    return report


def sessions(root: Path) -> list[Session]:
    with Workspace.open(root) as workspace:
        return workspace.memory.sessions.select(SessionConditions())


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_is_kept_and_answered(report: Report, root: Path, event: str) -> None:
    answer = report(event, text="go")
    assert answer == {"protocol": 1, "event": event, "captured": True, "context": ""}
    assert [session.id for session in sessions(root)] == ["s1"]


def test_a_session_is_told_as_it_happens(report: Report, root: Path) -> None:
    report("session-start", details={"source": "startup"})
    report("prompt", text=f"mend it with {SECRET}")
    call = {"name": "shell", "target": "pytest -q", "exit_code": 1, "output": "1 failed"}
    for _ in range(2):
        report("after-tool", id="call-1", call=call)
    report("after-tool", id="call-2", call={"name": "apply_patch", "target": str(root / "tax.py")})
    report("session-end", details={"reason": "exit"})
    with Workspace.open(root) as workspace:
        memory = workspace.memory
        (session,) = memory.sessions.select(SessionConditions())
        (batch,) = memory.sessions.batches(session)
        activities = memory.sessions.activities(session)
        sources = {source.event: source for source in memory.usage.sources()}
    assert (session.agent, session.branch, session.source, session.end_reason) == ("codex", "main", "startup", "exit")
    assert (session.n_activities, session.n_edits, session.n_failures) == (2, 1, 1)
    assert batch.prompt == "mend it with [redacted: github-token]"
    assert [activity.target for activity in activities] == ["pytest -q", "tax.py"]
    assert sources["after-tool"].n_events == 2
    assert sources["prompt"].n_timed == 1
    assert sources["prompt"].slowest_ms > 0


def test_an_event_that_cannot_be_taken_in_now_waits_and_is_taken_in_later(
    report: Report, root: Path, served: Served
) -> None:
    report("prompt", text="first")
    other = sqlite3.connect(root / ".cairn" / "memory.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert report("prompt", id="e2", text="second")["captured"]
    assert report("prompt", id="e3", text="third")["captured"]
    assert Spool(root).count() == 2
    other.execute("ROLLBACK")
    other.close()
    status, listed = served.ask("POST", "/api/sessions", {})
    assert (status, [session["prompts"] for session in listed["sessions"]]) == (200, [3])
    assert Spool(root).count() == 0
    assert report("prompt", id="e2", text="second")["captured"]
    (session,) = sessions(root)
    assert session.n_prompts == 3


def test_the_answer_to_an_event_shows_what_earlier_sessions_learned_once(report: Report, root: Path) -> None:
    with Workspace.open(root) as workspace:
        kept = workspace.memory.remember("Prices are net here; the shop adds the tax.", files=["tax.py"])
    call = {"name": "Read", "target": str(root / "tax.py")}
    context = report("before-tool", id="call-1", call=call)["context"]
    assert handle_of(kept.observation.id) in context
    assert "Prices are net here" in context
    assert report("after-tool", id="call-1", call=call)["context"] == ""
    assert report("before-tool", "s2", id="call-2", call=call)["context"] == context
    report("turn-end", text=f"see {handle_of(kept.observation.id)}")
    with Workspace.open(root) as workspace:
        uses = [row.use for row in workspace.memory.usage.injections(observation=kept.observation.id)]
    assert uses == ["", "cited"]


def test_many_events_at_once_show_a_memory_once(report: Report, root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.memory.remember("Prices are net here; the shop adds the tax.", files=["tax.py"])
    with ThreadPoolExecutor(8) as pool:
        call = {"name": "Read", "target": "tax.py"}
        answers = list(pool.map(lambda id: report("before-tool", id=str(id), call=call), range(16)))
    assert sum(bool(answer["context"]) for answer in answers) == 1


def test_while_the_memory_is_in_use_an_event_is_answered_with_nothing(report: Report, root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.memory.remember("Prices are net here; the shop adds the tax.", files=["tax.py"])
    other = sqlite3.connect(root / ".cairn" / "memory.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = report("before-tool", call={"name": "Read", "target": "tax.py"})
    assert (answer["captured"], answer["context"]) == (True, "")
    other.close()


def test_damaged_core_files_keep_nothing_else_from_being_shown(report: Report, root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.memory.remember("Never push to main.", importance=9)
    (root / ".cairn" / "core.yaml").write_text("files: [")
    assert "Never push to main." in report("session-start", details={"source": "startup"})["context"]


def test_many_events_at_once_are_each_kept_once(report: Report, root: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = [f"e{number % 40}" for number in range(80)]
        answers = list(pool.map(lambda id: report("after-tool", id=id, call={"name": "Read", "target": id}), ids))
    assert all(answer["captured"] for answer in answers)
    assert sessions(root)[0].n_activities == 40


def test_a_session_that_is_begun_without_capturing_is_not_kept(report: Report, served: Served, root: Path) -> None:
    wish = {"session": "s1", "project": str(root), "capture": False}
    assert served.ask("POST", "/api/session/start", wish)[0] == 200
    assert report("prompt", text="go")["captured"] is False
    assert sessions(root) == []
    served.ask("POST", "/api/session/start", wish | {"capture": True, "inject": False})
    assert report("prompt", text="go")["captured"] is True
    (session,) = sessions(root)
    assert (session.n_prompts, session.is_fresh) == (1, True)


def test_what_the_user_wants_of_a_session_needs_a_project(served: Served) -> None:
    status, error = served.ask("POST", "/api/session/start", {"session": "s1", "capture": False})
    assert (status, error["code"]) == (422, "request")
    assert "project" in error["message"]


def test_a_project_whose_settings_say_so_keeps_nothing(report: Report, root: Path) -> None:
    (root / ".cairn").mkdir()
    (root / ".cairn" / "config.yaml").write_text("memory:\n  capture: false\n")
    assert report("prompt", text="go")["captured"] is False
    assert not (root / ".cairn" / "memory.db").exists()


def test_a_session_begins_and_ends_by_its_own_addresses(served: Served, root: Path) -> None:
    of_project = {"session": "s1", "project": str(root), "agent": "a-program"}
    assert served.ask("POST", "/api/session/start", of_project)[1] == {"session": "s1", "known": True}
    assert served.ask("POST", "/api/session/end", of_project)[1] == {"session": "s1", "known": True}
    assert served.ask("POST", "/api/session/end", of_project)[1] == {"session": "s1", "known": False}
    (session,) = sessions(root)
    assert (session.agent, session.end_reason) == ("a-program", "api")


@pytest.mark.parametrize("event", ["session-start", "before-compaction", "session-end"])
def test_what_an_agent_no_longer_has_is_sent_again(served: Served, report: Report, root: Path, event: str) -> None:
    with Workspace.open(root) as workspace:
        workspace.index()
    wanted = {"query": "tax", "session": "s1"}

    def is_sent_short() -> bool:
        return bool(served.ask("POST", "/api/search", wanted)[1]["code"][0].get("sent", False))

    assert [is_sent_short(), is_sent_short()] == [False, True]
    report(event)
    assert not is_sent_short()
