"""Finds where terms stand in the postings of a snapshot, and keeps what the last questions asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import Postings
from cairn.kernels import loops
from cairn.kernels.plain import NOWHERE, TermRows

MAX_KEPT = 400_000  # occurrences of terms that were asked for, ten bytes each
_RowsOfTerm = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.uint8]]  # see `TermRows`


class PostingsOfSegment(NamedTuple):
    """The postings of a segment; where all its chunks have rows, the first of these, else the row of each or -1."""

    postings: Postings
    base: int = 0
    row_of: npt.NDArray[np.int32] | None = None


class Occurrences:
    """Where terms stand in several sets of postings, which never change; threads may share it."""

    def __init__(self, parts: Sequence[PostingsOfSegment]) -> None:
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
            return NOWHERE
        rows, impacts, fields = zip(*[kept[one] for one in hashed], strict=True)
        terms = np.arange(len(hashed)).repeat([len(part) for part in rows])
        return TermRows(terms, np.concatenate(rows), np.concatenate(impacts), np.concatenate(fields))

    def _look_up(self, hashed: Sequence[int]) -> TermRows:
        parts = [loops.look_up(part.postings, hashed, part.base, part.row_of) for part in self._parts]
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


def _join(parts: Sequence[TermRows]) -> TermRows:
    terms, rows, impacts, fields = zip(NOWHERE, *parts, strict=True)
    return TermRows(np.concatenate(terms), np.concatenate(rows), np.concatenate(impacts), np.concatenate(fields))
