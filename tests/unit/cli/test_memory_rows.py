from __future__ import annotations

import argparse

import pytest

from cairn.cli.memory_rows import note_rest


@pytest.mark.parametrize(
    ("total", "offset", "n_shown", "said"),
    [(0, 0, 0, "None."), (3, 9, 0, "There are only 3"), (3, 0, 1, "2 more; raise -n,"), (3, 1, 2, "")],
)
def test_a_list_says_what_it_does_not_show(
    capsys: pytest.CaptureFixture[str], total: int, offset: int, n_shown: int, said: str
) -> None:
    note_rest(total, argparse.Namespace(offset=offset), n_shown, "None.")
    shown = capsys.readouterr().err
    assert said in shown
    assert bool(said) == bool(shown)


def test_a_list_names_the_budget_only_where_one_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    note_rest(3, argparse.Namespace(offset=0, max_tokens=None), 1, "None.")
    assert capsys.readouterr().err == "2 more; raise -n, or use --offset, to see them.\n"
    note_rest(3, argparse.Namespace(offset=0, max_tokens=50), 1, "None.")
    assert capsys.readouterr().err == "2 more; raise --max-tokens or -n, or use --offset, to see them.\n"
