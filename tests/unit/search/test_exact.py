from __future__ import annotations

import re
import time
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.errors import BusyError, QueryError
from cairn.search.exact import Finder, Scan, enclosing, literal_finder, regex_finder
from cairn.source.walk import read_file
from cairn.waiting import Asker


def matches(folder: Path, data: bytes, find: Finder) -> list[tuple[int, int]]:
    (folder / "f").write_bytes(data)
    scan = Scan(partial(read_file, folder), [(0, "f")], find)
    found = list(scan)
    assert (scan.searched, scan.unreadable, scan.is_cut) == (1, [], False)
    return [(one.start_line, one.end_line) for one in found]


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "*", "(?P<n>", r"\p{Nope}", "(?=a)", r"(a)\1"])
def test_an_invalid_pattern_is_refused_with_the_way_out(pattern: str) -> None:
    with pytest.raises(QueryError, match="invalid regular expression") as caught:
        regex_finder(pattern)
    assert "--mode literal" in caught.value.hint
    assert "b'" not in str(caught.value)


def test_a_pattern_that_needs_too_much_memory_is_refused() -> None:
    with pytest.raises(QueryError):
        regex_finder(r"((((\pL{100}){100}){100}){100})")


@pytest.mark.parametrize(
    ("data", "pattern", "lines"),
    [
        (b"a\nb\na\n", "a", [(1, 1), (3, 3)]),
        (b"a\nb\na", "a$", [(1, 1), (3, 3)]),
        (b"xa\nax\n", "^a", [(2, 2)]),
        (b"aaa\n", "a", [(1, 1)]),
        (b"begin\n x\nend\n\nbegin end\n", r"begin[\s\S]*?end", [(1, 3), (5, 5)]),
        (b"a\n\nb\n\n", "^$", [(2, 2), (4, 4)]),
        (b"f(1,\n 2); f(3,\n 4); f(5)\nf(6)\n", r"f\([^)]*\)", [(1, 2), (2, 3), (3, 3), (4, 4)]),
        (b"a\nab\nab\n", r"\nab", [(1, 2), (2, 3)]),
        (b"x;\r\ny\r\nz;", ";$", [(1, 1), (3, 3)]),
        (b"a$\r\n", r"\$$", [(1, 1)]),
        (b"a\r\nb$\r\n", "[$]$", [(2, 2)]),
        (b"\xef\xbb\xbfusing a\nusing b\n", "^using", [(1, 1), (2, 2)]),
        (b"a\nb", "x*", [(1, 1), (2, 2)]),
        (b"a\nb\n", "x*", [(1, 1), (2, 2)]),
        (b"", "x*", []),
        (b"Abc\n", "(?i)aBC", [(1, 1)]),
        ("é\nÉ\n".encode(), "é", [(1, 1)]),
        ("aéb\n".encode(), "a.b", [(1, 1)]),
        (b"a\r\nb\r\n", "a.$", [(1, 1)]),
        (b"a\0b\n", "a.b", [(1, 1)]),
    ],
)
def test_lines_that_a_pattern_matches_are_reported_once(
    tmp_path: Path, data: bytes, pattern: str, lines: list[tuple[int, int]]
) -> None:
    assert matches(tmp_path, data, regex_finder(pattern)) == lines


@pytest.mark.parametrize(
    ("data", "text", "lines"),
    [
        (b"a.b\naxb\n", "a.b", [(1, 1)]),
        (b"A\na\n", "a", [(2, 2)]),
        (b"a\nb\na\nb\n", "a\nb", [(1, 2), (3, 4)]),
        (b"caf\xe9\n", "caf\udce9", [(1, 1)]),
        ("naïve\n".encode(), "ï", [(1, 1)]),
        (b"a\n", "b", []),
        (b"a\nb\n", "\n", [(1, 1), (2, 2)]),
    ],
)
def test_a_text_is_found_byte_by_byte(tmp_path: Path, data: bytes, text: str, lines: list[tuple[int, int]]) -> None:
    assert matches(tmp_path, data, literal_finder(text)) == lines


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        (r"gr\w+\(", [1, 3]),
        (r"^\w+ = \w", [2, 4, 5]),
        (r"'[\w.]+'", [6]),
        (r"[^\w\s]lève", [6]),
        (r"[[:alpha:]$]\w\w\we\(", [1, 3]),
        (r"na\Wve|größe\W", [1, 3]),
        (r"\\w", [7]),
        (r"[\w-.]é", []),
        (r"\w“", []),
    ],
)
def test_letters_beyond_ascii_are_letters_of_words(tmp_path: Path, pattern: str, lines: list[int]) -> None:
    text = "def größe(a):\nmüller = naïve\ngröße(1)\nжизнь = 1\n名前 = 2\n'.lève' “élève”\n\\w “é\n"
    assert [first for first, _ in matches(tmp_path, text.encode(), regex_finder(pattern))] == lines


def test_utf_16_is_searched_as_the_text_it_is(tmp_path: Path) -> None:
    assert matches(tmp_path, "one\nzwölf\n".encode("utf-16"), literal_finder("zwölf")) == [(2, 2)]


def test_files_that_are_gone_are_named(tmp_path: Path) -> None:
    scan = Scan(partial(read_file, tmp_path), [(0, "gone")], literal_finder("a"))
    assert list(scan) == []
    assert scan.unreadable == ["gone"]


# What is slow for engines that try one way after the other, or for RE2 where its automaton has too many states.
HARD = ["(a*)*" * 400, "(a*)*" * 400 + "c", "(a|b)*a(a|b){20}c", "[ab]*a[ab]{900}c" * 3, "a?" * 1300 + "a" * 1300 + "c"]


@pytest.mark.parametrize("pattern", HARD, ids=range(len(HARD)))
def test_a_hard_pattern_ends_soon_after_its_time_is_up(pattern: str) -> None:
    random = Random(1)
    texts = {"ab": bytes(random.choices(b"ab", k=1_000_000)), "aaa": b"a" * 1_000_000, "lines": b"ab\n" * 300_000}
    scan = Scan(texts.__getitem__, list(enumerate(texts)), regex_finder(pattern), budget_seconds=0.2)
    started = time.thread_time()
    for _ in scan:
        pass
    assert time.thread_time() - started < 5
    assert scan.is_cut or scan.searched == 3


@pytest.mark.parametrize(
    "pattern", [r"((a{1000}){1000})", r"(?:(?:(?:x?){10}){10}){10}" * 300, r"(?i)\pL{900}", "(" * 5_000]
)
def test_a_pattern_that_becomes_a_large_program_is_refused_at_once(pattern: str) -> None:
    started = time.thread_time()
    with pytest.raises(QueryError):
        regex_finder(pattern)
    assert time.thread_time() - started < 3


def test_a_large_pattern_is_found_across_lines_wherever_it_stands_in_a_large_file() -> None:
    names = [f"name_{number}_of_many" for number in range(600)]
    pattern = "(?:" + "|".join(names) + r")\s*\(\s*x{1,900}\s*\)"
    places = [3, 4_000, 8_001, 39_999, 60_000]
    lines = ["filler of a line that holds nothing"] * 60_001
    for number, place in enumerate(places):
        lines[place - 1 : place + 2] = [names[number * 140], " (", " xxx )"]
    data = "\n".join(lines).encode()
    found = [(one.start_line, one.end_line) for one in Scan(lambda _: data, [(0, "f")], regex_finder(pattern))]
    assert found == [(place, place + 2) for place in places]


def test_a_search_that_nobody_waits_for_stops_between_two_matches() -> None:
    asker = Asker()
    scan = Scan(lambda _: b"a\n" * 1_000, [(0, "f")], literal_finder("a"))
    with asker.serve(), pytest.raises(BusyError):  # noqa: PT012 - the answer is under way
        for seen in scan:
            if seen.start_line == 3:
                asker.leave()
    assert seen.start_line == 3


@given(st.lists(st.sampled_from(["a", "b", "ab", "", "ba b", "\t"]), max_size=30), st.booleans(), st.data())
def test_every_line_that_python_matches_is_found(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: bool, data: st.DataObject
) -> None:
    pattern = data.draw(st.sampled_from(["a", "ab", "^a", "b$", "^$", "a.*b", "^[ab]+$", "[^a]", r"\bb\b"]))
    content = "\n".join(lines) + ("\n" if end else "")
    found = matches(tmp_path_factory.getbasetemp(), content.encode(), regex_finder(pattern))
    covered = {line for first, last in found for line in range(first, last + 1)}
    listed = content.split("\n")
    listed = listed if listed[-1] else listed[:-1]
    wanted = {number for number, line in enumerate(listed, 1) if re.search(pattern, line)}
    # `[^a]` also matches a line feed, and so its line.
    assert wanted <= covered
    if pattern != "[^a]":
        assert covered == wanted


def test_the_chunk_around_a_line_is_found_and_none_behind_the_last() -> None:
    ranges = [(10, 1, 4), (11, 5, 5), (12, 6, 9)]
    assert [enclosing(ranges, line) for line in (1, 4, 5, 6, 9, 10)] == [10, 10, 11, 12, 12, None]
    assert enclosing([], 1) is None


def test_a_byte_order_mark_can_be_looked_for(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfusing a\n")
    for seeks_mark, count in ((True, 1), (False, 0)):
        scan = Scan(partial(read_file, tmp_path), [(0, "f")], literal_finder("\ufeff"), seeks_mark=seeks_mark)
        assert len(list(scan)) == count


def test_a_match_behind_a_byte_order_mark_says_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa = 1\nb = 2\n")
    found = list(Scan(partial(read_file, tmp_path), [(0, "f")], regex_finder("= ")))
    assert [(one.start_line, one.start_byte, one.text) for one in found] == [(1, 3, b"a = 1"), (2, 9, b"b = 2")]
