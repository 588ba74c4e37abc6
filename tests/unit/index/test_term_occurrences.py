"""Terms stand where the postings of any segment say."""

from __future__ import annotations

import numpy as np
import pytest

from cairn.index.analysis import Postings
from cairn.index.occurrences import Occurrences, PostingsOfSegment
from cairn.kernels.plain import TermRows

# Of two segments with three and two chunks: {term: [(chunk, impact, fields)]}.
FIRST = {10: [(0, 5, 1), (2, 6, 2)], 20: [(1, 7, 4)]}
SECOND = {10: [(1, 8, 1)], 30: [(0, 9, 2), (1, 3, 1)]}
EVERYWHERE = {10: [(0, 5, 1), (2, 6, 2), (4, 8, 1)], 20: [(1, 7, 4)], 30: [(3, 9, 2), (4, 3, 1)], 99: []}


def postings(terms: dict[int, list[tuple[int, int, int]]]) -> Postings:
    entries = [entry for term in sorted(terms) for entry in terms[term]]
    rows, impacts, fields = zip(*entries, strict=True)
    return Postings(
        np.array(sorted(terms), dtype=np.uint64),
        np.cumsum([0, *(len(terms[term]) for term in sorted(terms))]).astype(np.int64),
        np.array(rows, dtype=np.int32),
        np.array(impacts, dtype=np.uint8),
        np.array(fields, dtype=np.uint8),
    )


@pytest.fixture
def occurrences() -> Occurrences:
    return Occurrences([PostingsOfSegment(postings(FIRST)), PostingsOfSegment(postings(SECOND), 3)])


def by_term(found: TermRows, terms: list[int]) -> list[list[tuple[int, int, int]]]:
    rows = list(
        zip(found.terms.tolist(), found.rows.tolist(), found.impacts.tolist(), found.fields.tolist(), strict=True)
    )
    return [[row[1:] for row in rows if row[0] == number] for number in range(len(terms))]


@pytest.mark.parametrize("terms", [[10], [20, 10], [99], [30, 99, 10, 20], []])
def test_terms_are_found_in_all_segments(occurrences: Occurrences, terms: list[int]) -> None:
    assert by_term(occurrences.find(terms), terms) == [EVERYWHERE[term] for term in terms]


def test_a_chunk_that_the_view_does_not_show_is_left_out() -> None:
    row_of = np.array([-1, 1, 2], dtype=np.int32)
    found = Occurrences([PostingsOfSegment(postings(FIRST), 0, row_of)]).find([10, 20])
    assert by_term(found, [10, 20]) == [[(2, 6, 2)], [(1, 7, 4)]]
