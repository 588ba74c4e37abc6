"""Finds the occurrences of terms in the postings of a snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import Postings
from cairn.kernels import loops
from cairn.kernels.plain import NOWHERE, TermRows


class PostingsOfSegment(NamedTuple):
    """The postings of a segment, with its first row if all its chunks have rows, else the row of each chunk or -1."""

    postings: Postings
    base: int = 0
    row_of: npt.NDArray[np.int32] | None = None


class Occurrences:
    """The occurrences of terms in several sets of postings, which never change; threads may share it."""

    def __init__(self, parts: Sequence[PostingsOfSegment]) -> None:
        self._parts = tuple(parts)

    def find(self, hashed: Sequence[int]) -> TermRows:
        """Return the rows of some terms, by set of postings and then by term."""
        parts = [loops.look_up(part.postings, hashed, part.base, part.row_of) for part in self._parts]
        parts = [part for part in parts if len(part.rows)]
        if len(parts) == 1:
            return parts[0]
        return TermRows(*map(np.concatenate, zip(NOWHERE, *parts, strict=True)))
