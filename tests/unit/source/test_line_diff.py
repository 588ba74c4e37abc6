from __future__ import annotations

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from cairn.source.line_diff import changed_ranges

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"}", b"", b"x = 1", b"y = 2"]), max_size=30)


def lines(text: str) -> list[bytes]:
    return text.encode().split()


def test_equal_texts_have_no_changed_lines() -> None:
    assert changed_ranges(lines("a b c"), lines("a b c")) == []
    assert changed_ranges([], []) == []


def test_changed_and_added_lines_are_told_as_they_are_now() -> None:
    assert changed_ranges(lines("a b c d"), lines("a x c d y")) == [(2, 2), (5, 5)]
    assert changed_ranges([], lines("a b")) == [(1, 2)]


def test_removed_lines_are_told_by_the_line_before_the_gap() -> None:
    assert changed_ranges(lines("a b c d"), lines("a d")) == [(1, 1)]
    assert changed_ranges(lines("a b"), lines("b")) == [(1, 1)]
    assert changed_ranges(lines("a b"), lines("a")) == [(1, 1)]
    assert changed_ranges(lines("a b"), []) == [(1, 1)]


def test_a_moved_block_is_told_once() -> None:
    old = lines("a b c 1 2 3 4 5 6")
    assert changed_ranges(old, lines("1 2 3 4 5 6 a b c")) == [(1, 1), (7, 9)]


@given(LINES, LINES)
def test_lines_outside_of_the_ranges_come_from_the_old_text_in_order(old: list[bytes], new: list[bytes]) -> None:
    ranges = changed_ranges(old, new)
    assert ranges == sorted(ranges)
    assert all(1 <= first <= last <= max(1, len(new)) for first, last in ranges)
    kept = [line for number, line in enumerate(new, 1) if not any(first <= number <= last for first, last in ranges)]
    rest = iter(old)
    assert all(line in rest for line in kept)
    assert (ranges == []) == (old == new)


def test_texts_made_to_be_hard_take_no_longer_than_others() -> None:
    dice = random.Random(1)
    shuffled = [b"%d" % number for number in range(20_000)]
    dice.shuffle(shuffled)
    pairs = [
        ([b"a", b"b"] * 10_000, [b"b", b"b", b"a"] * 7_000),
        ([b"%d" % number for number in range(20_000)], shuffled),
        (
            [dice.choice([b"x", b"y", b""]) for _ in range(20_000)],
            [dice.choice([b"x", b"y", b""]) for _ in range(20_000)],
        ),
    ]
    begun = time.process_time()
    assert all(changed_ranges(old, new) for old, new in pairs)
    assert time.process_time() - begun < 20
