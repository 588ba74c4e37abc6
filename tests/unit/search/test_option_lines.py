"""Tests of which lines are looked at for an option of a command line."""

from __future__ import annotations

import pytest

from cairn.search.option_lines import _Spellings

SPELT = (
    "parser.add_argument('--max-results')",
    'Arg::new("max-results")',
    "max_results: usize,",
    "var maxResults = 3",
    "public int MaxResults { get; }",
    "option '--[no-]max-results'",
)


def test_every_line_in_which_an_option_is_spelt_is_looked_at() -> None:
    lines = [line for spelt in SPELT for line in ("# nothing", spelt, "max", "results")]
    spellings = _Spellings.of("max-results")
    found = [number for number, line in enumerate(lines, start=1) if spellings.any.search(line)]
    assert spellings.lines_with_some("\n".join(lines).encode()) == found == list(range(2, len(lines), 4))


def test_a_line_that_has_an_option_twice_is_looked_at_once() -> None:
    data = b"max_results = args.max_results\nx\nmax_results = MaxResults('max-results')"
    assert _Spellings.of("max-results").lines_with_some(data) == [1, 3]


@pytest.mark.parametrize("name", ["no_color", "web.enable", "a", "x--y"])
def test_the_words_that_are_looked_for_first_are_in_all_that_counts(name: str) -> None:
    spellings = _Spellings.of(name)
    for line in (f'"{name}"', f"--{name}", f"--[no-]{name}", *(word.decode() for word in spellings.words)):
        if spellings.any.search(line):
            assert spellings.lines_with_some(line.encode()) == [1]


def test_of_a_large_file_without_an_option_no_line_is_looked_at() -> None:
    data = b"max = 1\nresults = 2\n" * 50_000
    assert _Spellings.of("max-results").lines_with_some(data) == []
