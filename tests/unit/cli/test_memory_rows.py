from __future__ import annotations

import pytest

from cairn.cli.memory_rows import note_rest


@pytest.mark.parametrize(
    ("total", "offset", "n_shown", "said"),
    [(0, 0, 0, "None."), (3, 9, 0, "There are only 3"), (3, 0, 1, "2 more"), (3, 1, 2, "")],
)
def test_a_list_says_what_it_does_not_show(
    capsys: pytest.CaptureFixture[str], total: int, offset: int, n_shown: int, said: str
) -> None:
    note_rest(total, offset, n_shown, "None.")
    shown = capsys.readouterr().err
    assert said in shown
    assert bool(said) == bool(shown)
