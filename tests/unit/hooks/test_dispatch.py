"""The way of an event: what is said of it, in the words of its agent, and where it belongs."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path

import pytest

from cairn.errors import RequestError
from cairn.hooks.adapter import Ability
from cairn.hooks.dispatch import Case, join, open_case, repeat, take_in, word
from cairn.hooks.duplicates import MOST_EVENTS, SeenEvents, key_of
from cairn.hooks.entry import pack
from cairn.hooks.report import SILENCE, Happening, Reply, Report
from cairn.hooks.whereabouts import Whereabouts, find_whereabouts
from cairn.memory.moments import Moment
from cairn.storage.memory.session_db import SessionConditions
from cairn.workspace import Workspace


class Speaker:
    """Says the same to every tool, and remembers what it was asked."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.heard: list[str] = []

    def before(self, happening: Happening, abilities: Collection[Ability]) -> Reply:
        self.heard.append(f"before {sorted(abilities)}")
        return self.reply

    def after(self, happening: Happening, abilities: Collection[Ability]) -> Reply:
        self.heard.append(f"after {sorted(abilities)}")
        return self.reply

    def hear(self, happening: Happening) -> None:
        self.heard.append(happening.event)


def case_of(root: Path, event: str = "before-tool", name: str = "PreToolUse", **fields: object) -> Case:
    payload = {"session_id": "s", "cwd": str(root), "hook_event_name": name, "tool_name": "Read", **fields}
    content = json.dumps({"tool_input": {"file_path": "a.py"}, "tool_use_id": "t1"} | payload).encode()
    case = open_case(pack("id", "claude-code", event, 1e9, {}, content, len(content)), {str(root)})
    assert isinstance(case, Case)
    return case


def test_a_denial_is_said_again_where_an_event_is_reported_twice_and_nothing_else_is(tmp_path: Path) -> None:
    answer = json.loads(repeat(case_of(tmp_path), Speaker(Reply("a note", "read the outline"))))
    assert answer["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "read the outline",
    }
    assert repeat(case_of(tmp_path, "after-tool", "PostToolUse"), Speaker(Reply("a note"))) == ""
    assert repeat(case_of(tmp_path)) == ""


def test_an_agent_is_said_only_what_it_takes(tmp_path: Path) -> None:
    said = word(case_of(tmp_path, "after-tool", "PostToolUse"), Reply("a note", "no"))
    assert "permissionDecision" not in said
    assert word(case_of(tmp_path, "turn-end", "Stop"), Reply("a note", "no")) == ""


def test_an_event_that_comes_late_is_taken_in_and_shown_nothing(checkout: Path) -> None:
    speaker = Speaker(Reply("a note"))
    with Workspace.open(checkout) as workspace:
        assert take_in(case_of(checkout), workspace, speaker, is_late=True) == ""
        assert speaker.heard == ["before []"]
        assert "a note" in take_in(case_of(checkout, tool_use_id="t2"), workspace, speaker)
        assert speaker.heard[1:] == ["before ['context', 'denial']"]
        take_in(case_of(checkout, "turn-end", "Stop"), workspace, speaker)
        assert speaker.heard[2:] == ["turn-end"]


def test_the_test_of_an_installation_is_answered_and_leaves_no_trace(checkout: Path) -> None:
    case = case_of(checkout, "session-start", "SessionStart", session_id="cairn-self-test", source="startup")
    with Workspace.open(checkout) as workspace:
        assert f"Cairn answers for {checkout.name}" in take_in(case, workspace)
        assert workspace.memory.sessions.select(SessionConditions()) == []
    assert not (checkout / ".cairn" / "memory.db").exists()


def test_what_speaks_and_fails_does_not_stop_the_event(checkout: Path) -> None:
    class Broken(Speaker):
        def before(self, happening: Happening, abilities: Collection[Ability]) -> Reply:
            raise ValueError("a bug")

    with Workspace.open(checkout) as workspace:
        assert take_in(case_of(checkout), workspace, Broken(SILENCE)) == ""


def test_no_answer_is_longer_than_an_agent_takes() -> None:
    reply = join(Reply("a" * 50, "d" * 200), ["b" * 60, "c" * 30], 100)
    assert reply == Reply("a" * 50 + "\n\n" + "c" * 30, "d" * 100)


def test_what_is_no_envelope_is_refused() -> None:
    with pytest.raises(RequestError):
        open_case(b"{}", set())


def report(id: str, seconds: float) -> Report:
    return Report(id, "codex", "prompt", seconds, "/", {}, {})


def test_an_event_without_an_id_is_known_by_its_payload_for_two_seconds() -> None:
    seen = SeenEvents()
    assert seen.see(b"k", report("a", 10.0), has_id=False) == "new"
    assert seen.see(b"k", report("a", 10.0), has_id=False) == "in work"
    assert seen.see(b"k", report("b", 11.9), has_id=False) == "done"
    seen.settle(b"k", is_done=True)
    assert seen.see(b"k", report("a", 10.0), has_id=False) == "done"
    assert seen.see(b"k", report("c", 13.0), has_id=False) == "new"


def test_an_event_that_was_not_taken_in_is_new_when_it_comes_again() -> None:
    seen = SeenEvents()
    assert seen.see(b"k", report("a", 10.0), has_id=True) == "new"
    seen.settle(b"k", is_done=False)
    assert seen.see(b"k", report("a", 10.0), has_id=True) == "new"


def test_only_the_latest_events_are_known() -> None:
    seen = SeenEvents()
    for number in range(MOST_EVENTS + 1):
        seen.see(b"%d" % number, report("a", 10.0), has_id=True)
    assert seen.see(b"0", report("a", 10.0), has_id=True) == "new"
    assert seen.see(b"%d" % MOST_EVENTS, report("a", 10.0), has_id=True) == "in work"


def test_the_id_of_the_agent_counts_and_else_the_payload() -> None:
    moment = Moment("turn-1", "prompt", "codex:s", "codex", 1.0)
    happening = Happening("prompt", "codex:s", "/", (moment,))
    first, second = (key_of(report(id, 1.0), happening, id.encode()) for id in ("a", "b"))
    assert first == second == (first[0], True)
    nameless = happening._replace(moments=(moment._replace(id="a"),))
    assert key_of(report("a", 1.0), nameless, b"x") == (key_of(report("a", 1.0), nameless, b"x")[0], False)
    assert key_of(report("a", 1.0), nameless, b"x") != key_of(report("a", 1.0), nameless, b"y")


def test_the_nearest_project_upwards_counts_as_far_as_the_checkout_goes(tmp_path: Path) -> None:
    inner = tmp_path / "shop" / "src"
    nested = tmp_path / "shop" / "vendor" / "other"
    (nested / ".git").mkdir(parents=True)
    inner.mkdir()
    roots = {os.path.realpath(tmp_path / "shop")}
    assert find_whereabouts([str(inner)], roots) == Whereabouts(next(iter(roots)))
    assert find_whereabouts([str(nested)], roots) is None
    assert find_whereabouts([str(nested), str(inner / "gone")], roots) == Whereabouts(next(iter(roots)))
    assert find_whereabouts(["/"], roots) is None
