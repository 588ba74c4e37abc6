"""Waits until another process is where a test wants it, however slow the machine is; as Linux tells of processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from processes import cpu_seconds

_SECONDS = 120
_REST_SECONDS, _LITTLE_WORK = 2.0, 0.5


def wait_until_open(pid: int, file: Path) -> None:
    """Return once a process has opened a file."""
    _wait(lambda: os.path.realpath(file) in _open_files(pid), f"it never opens {file}")


def wait_for_work(pid: int, seconds: float) -> None:
    """Return once a process has worked for so many seconds of processor time from now on."""
    before = cpu_seconds(pid)
    _wait(lambda: cpu_seconds(pid) >= before + seconds, "it does nothing")


def wait_for_rest(pid: int, within_seconds: float) -> None:
    """Return once a process does next to nothing for a while."""

    def rests() -> bool:
        before = cpu_seconds(pid)
        time.sleep(_REST_SECONDS)
        return cpu_seconds(pid) - before < _LITTLE_WORK

    _wait(rests, "it never rests", within_seconds)


def _open_files(pid: int) -> set[str]:
    found = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found.add(os.readlink(descriptor))
    return found


def _wait(condition: Callable[[], bool], otherwise: str, seconds: float = _SECONDS) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, otherwise
        time.sleep(0.02)
