"""Runs a command on a terminal of its own, as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

_LINES, _COLUMNS = 40, 120


def run_on_terminal(
    command: Sequence[str], cwd: Path, *, typed: str | None = None, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run a command, and return its exit code with what the terminal showed.

    Args:
        command: the program and its arguments.
        cwd: the folder.
        typed: what a person types there; None if only what the command prints goes to the terminal, but no errors.
        environment: all of it; by default that of this process.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, _COLUMNS, 0, 0))
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=None if typed is None else theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL if typed is None else theirs,
    ) as process:
        os.close(theirs)
        os.write(ours, (typed or "").encode())
        shown = _read(ours)
    os.close(ours)
    return process.returncode, shown.decode()


def _read(terminal: int) -> bytes:
    """Return what a terminal shows until nobody has its other end any more."""
    shown = b""
    while True:
        try:
            data = os.read(terminal, 65_536)
        except OSError:  # how Linux says that
            return shown
        if not data:
            return shown
        shown += data
