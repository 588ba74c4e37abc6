"""Finds the lines of a text that an older text does not have. Time is bounded: beyond it, too many lines are reported.

Lines that occur once in both texts are anchors, as in Bram Cohen's patience diff
(https://bramcohen.livejournal.com/73318.html). Short stretches between two anchors are compared line by line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

_CELLS = 1_000_000  # total table cells for common subsequences in a text
_ROUNDS = 30  # average visits per line

_Block = tuple[int, int, int, int]  # half-open ranges of lines in the old and the new text


def changed_ranges(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return the ranges of changed lines in the new text: 1-based, inclusive, in order.

    A pure deletion is a range of one line: the one before the gap, or the first.
    """
    partner = match_lines(old, new)
    ranges: list[tuple[int, int]] = []
    expected = 0  # the old line after the last matched one
    start = 0
    for line in range(len(new) + 1):
        old_line = partner[line] if line < len(new) else len(old)
        if old_line < 0:
            continue
        if line > start:
            ranges.append((start + 1, line))
        elif old_line > expected:
            ranges.append((max(1, line), max(1, line)))
        expected, start = old_line + 1, line + 1
    return ranges


def match_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[int]:
    """Return the old line that each new line matches, -1 for none; matches are increasing."""
    partner = [-1] * len(new)
    cells = _CELLS
    work = _ROUNDS * (len(old) + len(new))
    pending: list[_Block] = [(0, len(old), 0, len(new))]
    while pending and work > 0:
        old_first, old_last, first, last = pending.pop()
        work -= 1 + (old_last - old_first) + (last - first)
        while old_first < old_last and first < last and old[old_first] == new[first]:
            partner[first] = old_first
            old_first, first = old_first + 1, first + 1
        while old_first < old_last and first < last and old[old_last - 1] == new[last - 1]:
            old_last, last = old_last - 1, last - 1
            partner[last] = old_last
        if old_first == old_last or first == last:
            continue
        block = old_first, old_last, first, last
        if anchors := _anchors(old, new, block):
            for old_at, at in anchors:
                partner[at] = old_at
                pending.append((old_first, old_at, first, at))
                old_first, first = old_at + 1, at + 1
            pending.append((old_first, old_last, first, last))
        elif (size := (old_last - old_first) * (last - first)) <= cells:
            cells -= size
            _match_short(old, new, block, partner)
    return partner


def _anchors(old: Sequence[bytes], new: Sequence[bytes], block: _Block) -> list[tuple[int, int]]:
    """Return the longest increasing sequence of (old, new) lines that are unique on both sides of a block."""
    old_first, old_last, first, last = block
    counts, old_counts = Counter(new[first:last]), Counter(old[old_first:old_last])
    places = {old[at]: at for at in range(old_first, old_last) if old_counts[old[at]] == 1}
    ends: list[int] = []  # by length of a sequence, its smallest last old line
    chains: list[tuple[int, int, int]] = []  # (old, new, the link before in this list)
    heads: list[int] = []
    for at in range(first, last):
        old_at = places.get(new[at])
        if old_at is None or counts[new[at]] > 1:
            continue
        length = bisect_left(ends, old_at)
        chains.append((old_at, at, heads[length - 1] if length else -1))
        ends[length : length + 1] = [old_at]
        heads[length : length + 1] = [len(chains) - 1]
    anchors = []
    link = heads[-1] if heads else -1
    while link >= 0:
        old_at, at, link = chains[link]
        anchors.append((old_at, at))
    return anchors[::-1]


def _match_short(old: Sequence[bytes], new: Sequence[bytes], block: _Block, partner: list[int]) -> None:
    """Match the lines of a block by a longest common subsequence."""
    old_first, old_last, first, last = block
    width = last - first
    table = [[0] * (width + 1)]  # filled from the end: row `n` covers the last `n` old lines
    for old_at in range(old_last - 1, old_first - 1, -1):
        below, row = table[-1], [0] * (width + 1)
        for column in range(width - 1, -1, -1):
            same = old[old_at] == new[first + column]
            row[column] = below[column + 1] + 1 if same else max(below[column], row[column + 1])
        table.append(row)
    old_at, at = old_first, first
    while old_at < old_last and at < last:
        rest, column = old_last - old_at, at - first
        if old[old_at] == new[at]:
            partner[at] = old_at
            old_at, at = old_at + 1, at + 1
        elif table[rest - 1][column] >= table[rest][column + 1]:
            old_at += 1
        else:
            at += 1
