"""How many lines of a file come and go, as init and uninstall count them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cairn.cli.install_text import emit_changes
from cairn.hooks.adapter import Place
from cairn.install.plan import FileChange
from cairn.install.record import RecordFile
from cairn.install.setup import SetupPlan


def shown(before: list[str], after: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    old, new = ("\n".join(lines).encode() for lines in (before, after))
    change = FileChange(tmp_path / "a.json", "a.json", ("claude-code",), old, new)
    place = Place("project", tmp_path, tmp_path, {})
    emit_changes(SetupPlan(place, (), (change,), (), RecordFile("project", tmp_path), {}))
    return " ".join(capsys.readouterr().out.split())


def test_lines_that_come_and_go_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(["{", "a", "}"], ["{", "a,", "b", "}"], tmp_path, capsys) == "change a.json +2 -1 claude-code"
    assert shown(["{", "}", "}"], ["{", "}"], tmp_path, capsys) == "change a.json -1 claude-code"


def test_a_large_file_is_counted_in_no_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["  {", '    "text": "x"', "  },"] * 30_000
    begin = time.process_time()

    assert shown(lines, [*lines[:3], "new", *lines[3:]], tmp_path, capsys) == "change a.json +1 claude-code"

    assert time.process_time() - begin < 2
