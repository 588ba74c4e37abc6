"""Finds where terms stand in the postings of a snapshot, and keeps what the last questions asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import Postings
from cairn.kernels.plain import TermRows

MAX_KEPT = 400_000  # occurrences of terms that were asked for, ten bytes each
RowsOf = Callable[[npt.NDArray[np.int32]], npt.NDArray[np.signedinteger[Any]]]
_RowsOfTerm = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.uint8]]  # see `TermRows`


_NOWHERE = TermRows(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint8))


class Occurrences:
    """Where terms stand in several sets of postings, which never change; threads may share it.

    Args:
        parts: the postings of each segment, and what returns the rows of what they name, -1 for what has none.
    """

    def __init__(self, parts: Sequence[tuple[Postings, RowsOf]]) -> None:
        self._parts = tuple(parts)
        self._kept: dict[int, _RowsOfTerm] = {}
        self._n_kept = 0  # how many occurrences these have

    def find(self, hashed: Sequence[int]) -> TermRows:
        """Return the rows of some terms, term after term."""
        kept = self._kept
        new = [one for one in hashed if one not in kept]
        if new:
            found = self._look_up(new)
            added = self._keep(new, found)
            if len(new) == len(hashed):
                return found
            kept = {**kept, **added}
        if not hashed:
            return _NOWHERE
        rows, impacts, fields = zip(*[kept[one] for one in hashed], strict=True)
        terms = np.arange(len(hashed)).repeat([len(part) for part in rows])
        return TermRows(terms, np.concatenate(rows), np.concatenate(impacts), np.concatenate(fields))

    def _look_up(self, hashed: Sequence[int]) -> TermRows:
        parts = [look_up(postings, hashed, rows_of) for postings, rows_of in self._parts]
        parts = [part for part in parts if len(part.rows)]
        if len(parts) == 1:
            return parts[0]
        joined = _join(parts)
        order = joined.terms.argsort(kind="stable")
        return TermRows(joined.terms[order], joined.rows[order], joined.impacts[order], joined.fields[order])

    def _keep(self, hashed: Sequence[int], found: TermRows) -> dict[int, _RowsOfTerm]:
        """Keep the rows of some terms; before there are too many, those of earlier questions are let go."""
        bounds = found.terms.searchsorted(np.arange(len(hashed) + 1)).tolist()
        added = {
            one: (found.rows[first:end], found.impacts[first:end], found.fields[first:end])
            for one, first, end in zip(hashed, bounds, bounds[1:], strict=False)
        }
        if self._n_kept + len(found.rows) > MAX_KEPT:
            self._kept, self._n_kept = {}, 0
        if len(found.rows) <= MAX_KEPT:
            self._kept.update(added)
            self._n_kept += len(found.rows)
        return added


def as_they_are(numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the numbers in postings, which are those of files."""
    return numbers.astype(np.int64)


def look_up(
    postings: Postings,
    hashed: Sequence[int],
    rows_of: RowsOf,
) -> TermRows:
    """Return where some terms stand in one set of postings, term after term.

    Args:
        rows_of: returns the rows of what postings name, -1 for what has none.
    """
    if not len(postings.hashes) or not hashed:
        return _NOWHERE
    wanted = np.array(hashed, dtype=np.uint64)
    places = np.minimum(postings.hashes.searchsorted(wanted), len(postings.hashes) - 1)
    known = (postings.hashes[places] == wanted).nonzero()[0]
    if not len(known):
        return _NOWHERE
    places = places[known]
    first, last = postings.start[places], postings.start[places + 1]
    parts = [slice(*bounds) for bounds in zip(first.tolist(), last.tolist(), strict=True)]
    named = np.concatenate([postings.rows[part] for part in parts])
    impacts = np.concatenate([postings.impacts[part] for part in parts])
    fields = np.concatenate([postings.fields[part] for part in parts])
    rows = rows_of(named)
    if not len(rows) or rows.min() >= 0:
        return TermRows(known.repeat(last - first), rows.astype(np.int64, copy=False), impacts, fields)
    kept = (rows >= 0).nonzero()[0]
    # What other views show is left out before anything else is done with it: it may be most of it.
    terms = known[np.searchsorted(np.cumsum(last - first), kept, side="right")]
    return TermRows(terms, rows[kept].astype(np.int64), impacts[kept], fields[kept])


def _join(parts: Sequence[TermRows]) -> TermRows:
    terms, rows, impacts, fields = zip(_NOWHERE, *parts, strict=True)
    return TermRows(np.concatenate(terms), np.concatenate(rows), np.concatenate(impacts), np.concatenate(fields))
