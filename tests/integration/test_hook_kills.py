"""A hook or the daemon is killed at any line: no event that was kept is lost, and none counts twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from cairn.hooks.entry import pack
from cairn.hooks.plain_files import keep, open_state
from cairn.hooks.raw_spool import RawSpool
from cairn.runtime import StateFolder
from cairn.storage.memory.session_db import SessionConditions
from cairn.workspace import Workspace
from serving import make_app

N_EVENTS = 3


def killed_before_line(number: int, files: tuple[str, ...], work: Callable[[], object]) -> bool:
    """Run some work in a process that is killed before the nth line in some files; return whether it was."""
    child = os.fork()
    if child == 0:
        n_lines = 0

        def trace(frame: FrameType, event: str, _: Any) -> Any:  # noqa: ANN401 - as `sys.settrace` has it
            nonlocal n_lines
            if not frame.f_code.co_filename.endswith(files):
                return None
            n_lines += event == "line"
            if n_lines > number:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(None)
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_a_hook_that_is_killed_leaves_a_whole_event_or_none(tmp_path: Path) -> None:
    state = open_state(str(tmp_path / "cairn"))
    spool = RawSpool(Path(state.path))
    content = b"x" * 100_000
    number = 0
    while killed_before_line(number, ("plain_files.py",), partial(keep, state, f"{number:020d}-a", content)):
        number += 1
        for name in spool.names():
            assert spool.read(name) == content
            spool.remove(name)
        for unfinished in spool.folder.glob("*"):
            unfinished.unlink()
    assert number > 10
    (name,) = spool.names()
    assert spool.read(name) == content


def envelope(root: Path, number: int) -> bytes:
    payload = {
        "session_id": "s1",
        "cwd": str(root),
        "hook_event_name": "PostToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": f"{root}/{number}.py"},
        "tool_response": {"type": "text"},
    }
    content = json.dumps(payload).encode()
    return pack(f"event-{number}", "claude-code", "after-tool", 1e9 + 10 * number, {}, content, len(content))


def take_in_all(state: Path, root: Path) -> None:
    """Take in what waits, as a daemon does when it starts."""

    async def begin() -> None:
        daemon = make_app(state, root).daemon
        await daemon.hooks.catch_up()
        daemon.projects.close()

    asyncio.run(begin())


def targets(root: Path) -> list[str]:
    with Workspace.open(root) as workspace:
        memory = workspace.memory
        memory.inbox.catch_up()  # with what had to wait, on a busy machine
        sessions = memory.sessions.select(SessionConditions())
        return sorted(activity.target for session in sessions for activity in memory.sessions.activities(session))


def test_a_daemon_that_is_killed_while_it_takes_in_what_waits_does_it_again_to_no_effect(
    checkout: Path, tmp_path: Path
) -> None:
    state = StateFolder(tmp_path / "cairn")
    state.create()
    spool = RawSpool(state.path)
    for number in range(N_EVENTS):
        spool.add(envelope(checkout, number))
    kept: set[str] = set()
    for number in (85, 100, 80, 95, 90):
        killed_before_line(number, ("hook_desk.py", "raw_spool.py"), partial(take_in_all, state.path, checkout))
        now = targets(checkout)
        assert len(now) == len(set(now))
        assert kept <= set(now)
        kept = set(now)
        assert len(kept) + len(spool.names()) >= N_EVENTS
    take_in_all(state.path, checkout)
    assert targets(checkout) == [f"{number}.py" for number in range(N_EVENTS)]
    assert not spool.is_waiting()
