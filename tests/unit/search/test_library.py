"""A line of a file is found by its number, and a file is read once for an answer."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from cairn.index.views import CheckoutView, Stamp
from cairn.search.library import line_in
from cairn.workspace import Workspace


@pytest.mark.parametrize("longest", [0, 1, 40, 3_000])
def test_a_line_is_what_stands_between_line_feeds(longest: int) -> None:
    chance = random.Random(longest)
    for n_lines in (1, 2, 60, 1_025):
        lines = [b"x" * chance.randint(0, longest) for _ in range(n_lines)]
        data = b"\n".join(lines)
        for number in {1, 2, n_lines // 2 + 1, n_lines - 1, n_lines}:
            if 1 <= number <= n_lines:
                found = line_in(7, data, number)
                assert found is not None
                assert (found.file, found.start_line, found.end_line, found.text) == (
                    7,
                    number,
                    number,
                    lines[number - 1],
                )
                assert found.start_byte == len(b"\n".join(lines[: number - 1])) + (number > 1)
        assert line_in(7, data, n_lines + 1) is None
        assert line_in(7, data, n_lines + 5_000) is None


MESSAGES = ("Cannot open the cart of {user}", "Cannot close the shop at {hour}", "No stock is left of {item} today")
LOG = "".join(
    f"2024-05-11 10:00:0{second} ERROR shop: {message.format(user='ann', hour=7, item='tea')}\n"
    for second, message in enumerate(MESSAGES)
)
TRACE = 'Traceback (most recent call last):\n  File "shop.py", line 3, in fail\n    raise ShopError(text)\n'


def test_a_file_is_looked_at_once_for_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: Counter[str] = Counter()

    def stamp(view: CheckoutView, path: str) -> Stamp:
        looked_at[path] += 1
        return stamp_of(view, path)

    stamp_of = CheckoutView.stamp
    monkeypatch.setattr(CheckoutView, "stamp", stamp)
    raising = "".join(
        f"    if x == {number}:\n        raise ShopError(f'{text}')\n" for number, text in enumerate(MESSAGES)
    )
    (tmp_path / "shop.py").write_text(f"def fail(x, user, hour, item):\n{raising}")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        looked_at.clear()
        hits = workspace.search(LOG + TRACE).code
        assert hits[0].path == "shop.py"
        assert looked_at == {"shop.py": 1}
        (tmp_path / "shop.py").write_text("nothing = 1\n")
        assert all(hit.stale for hit in workspace.search(LOG + TRACE).code)  # the next answer looks again
