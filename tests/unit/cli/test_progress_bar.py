from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios

import pytest

from cairn.cli.render import ProgressBar


@pytest.mark.parametrize("columns", [1, 10, 20, 30, 40, 57, 80, 200])
def test_a_progress_bar_stays_on_one_line_of_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProgressBar, "_DELAY_SECONDS", 0.0)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        bar = ProgressBar("Indexing", stream)
        bar(1_000, 12_000)
        shown = os.read(ours, 1_000).decode()
        bar.close()
    os.close(ours)
    assert shown.startswith("\r")
    assert len(shown) - 1 < max(columns, 2)
    assert ("░" in shown) == (columns >= 30)
    assert shown.endswith("1,000/12,000 files") == (columns >= 30)
