"""A line of a file is found by its number."""

from __future__ import annotations

import random

import pytest

from cairn.search.library import line_in


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
