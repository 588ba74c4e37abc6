"""What a person replies to a question."""

from __future__ import annotations

import io
import sys

import pytest

from cairn.cli.stdin import ask_whether


@pytest.mark.parametrize(
    ("reply", "expected", "shown"),
    [
        ("y\n", True, "Erase it? [y/N] "),
        ("Yes\n", True, "Erase it? [y/N] "),
        ("\n", False, "Erase it? [y/N] "),
        ("perhaps\n", False, "Erase it? [y/N] "),
        ("", None, "Erase it? [y/N] \n"),
        ("y", None, "Erase it? [y/N] \n"),
    ],
)
def test_only_a_whole_line_is_an_answer(
    reply: str, expected: bool | None, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(reply))
    assert ask_whether("Erase it?") is expected
    assert capsys.readouterr().err == shown
