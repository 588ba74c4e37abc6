"""What `cairn doctor` says of the hook program."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cairn.hooks.examine import examine_hook_program
from cairn.hooks.plain_files import keep, open_state, write_log

NOW = 1_790_000_000.0


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "cairn"


def line_at(seconds: float, text: str) -> bytes:
    return f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(seconds))} codex prompt: {text}\n".encode()


def test_nothing_is_said_where_all_is_well(state: Path) -> None:
    assert examine_hook_program(state) == []
    open_state(str(state))
    assert examine_hook_program(state) == []


def test_events_that_wait_and_files_that_hold_none_are_counted(state: Path) -> None:
    folder = open_state(str(state))
    keep(folder, "1-a", b"x")
    keep(folder, "2-b", b"x")
    (state / "hooks" / "0-x-1.bad").write_bytes(b"x")
    waiting, bad = examine_hook_program(state)
    assert waiting.message == "2 events wait for the daemon"
    assert waiting.level == "ok"
    assert (bad.level, "1 file holds no event" in bad.message) == ("warning", True)


def test_the_last_of_what_went_wrong_within_a_day_is_shown(state: Path) -> None:
    folder = open_state(str(state))
    write_log(folder, line_at(NOW - 100_000, "long ago"))
    assert examine_hook_program(state, NOW) == []
    write_log(folder, line_at(NOW - 1_000, "once"))
    write_log(folder, line_at(NOW - 10, "twice"))
    (finding,) = examine_hook_program(state, NOW)
    assert finding.message.startswith("2 lines in a day in ")
    assert finding.message.endswith("codex prompt: twice")


def test_a_state_folder_that_takes_nothing_is_said_since_hooks_can_say_nothing_there(state: Path) -> None:
    state.parent.mkdir(exist_ok=True)
    state.write_text("a file in its place")

    (finding,) = examine_hook_program(state)

    assert finding.level == "warning"
    assert (
        finding.message
        == f"cannot write {state}: Not a directory, so events of agents are lost without a word in a log"
    )
    assert "XDG_STATE_HOME" in finding.hint
