"""The commands that a process runs, for tests of what it does not run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest


def note_commands(monkeypatch: pytest.MonkeyPatch, note: Callable[[list[str]], object]) -> None:
    """Have `note` called with the words of each command that this process runs, for the length of a test.

    An audit hook would hear of them, too, but could not be taken away; and while one written in Python is told of a
    thread's trace function, no other thread can start under coverage: CPython 3.11 refuses a second trace function.
    """
    begin = subprocess.Popen.__init__

    def noted(process: subprocess.Popen[Any], arguments: Any, *rest: Any, **options: Any) -> None:  # noqa: ANN401 - as it is
        words = [arguments] if isinstance(arguments, str | bytes | os.PathLike) else arguments
        note([os.fsdecode(word) for word in words])
        begin(process, arguments, *rest, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
