"""What the index knows of the words of a pasted text and of the files they may stand in, and how long to look."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cairn.index.snapshot import Snapshot, term_frequencies
from cairn.search.filters import Filtered, filter_files
from cairn.search.query import STOP_WORDS
from cairn.source.roles import FOREIGN, Role
from cairn.source.terms import known_hash, terms_of_word

MAX_WORDS = 32  # of a longer text the first count
MINOR = Role.TEST | Role.EXAMPLE | Role.DOCS | FOREIGN
_MINOR_FACTOR, _TRANSLATION_FACTOR = 0.15, 0.9
_WORD = re.compile(r"\w+")


class Deadline(NamedTuple):
    """When a search stops: by the processor's time of its thread, and by the clock; both in seconds."""

    processor: float
    clock: float

    @classmethod
    def after(cls, processor_seconds: float, clock_seconds: float) -> Deadline:
        """Return the deadline that comes so much later than now."""
        return cls(time.thread_time() + processor_seconds, time.monotonic() + clock_seconds)

    @property
    def is_over(self) -> bool:
        """Whether either time is up."""
        return time.thread_time() > self.processor or time.monotonic() > self.clock


class StandingFiles(NamedTuple):
    """What is true of each file whatever was pasted, shape (n_files,) each, and what a place in it counts by that.

    `is_setting`: it configures something, as workflows do, and no code of the project.
    """

    is_minor: npt.NDArray[np.bool_]
    is_setting: npt.NDArray[np.bool_]
    is_translation: npt.NDArray[np.bool_]
    factors: npt.NDArray[np.float64]


_standings: WeakKeyDictionary[Snapshot, dict[int, StandingFiles]] = WeakKeyDictionary()


def standing_of(snapshot: Snapshot, minor_roles: int) -> StandingFiles:
    """Return what is true of the files of a snapshot, told once for each choice of roles that count less."""
    known = _standings.setdefault(snapshot, {})
    if (found := known.get(minor_roles)) is None:
        roles = snapshot.files.roles
        is_minor, is_translation = (roles & minor_roles) > 0, (roles & int(Role.TRANSLATION)) > 0
        is_setting = (roles & int(Role.CONFIG)) > 0
        factors = np.where(is_minor, _MINOR_FACTOR, np.where(is_translation, _TRANSLATION_FACTOR, 1.0))
        found = known[minor_roles] = StandingFiles(is_minor, is_setting, is_translation, factors)
    return found


def stands_nowhere(snapshot: Snapshot, text: str) -> bool:
    """Tell whether no chunk has all words of a text, as far as the index knows: so it is with most questions."""
    words = [word for word in _WORD.findall(text)[:MAX_WORDS] if word.lower() not in STOP_WORDS]
    hashes = list({known_hash(own[-1]) for word in words if (own := terms_of_word(word)[1])})
    if not term_frequencies(snapshot, hashes).all():
        return True
    found = snapshot.term_rows(hashes)
    return int(np.bincount(found.rows, minlength=1).max()) < len(hashes)


def occurrences_of(
    snapshot: Snapshot, words: Sequence[str], counts: npt.NDArray[np.bool_], filters: Filtered
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return which of the words that count stand in which rows in scope, and how rare each word is."""
    hashes = [known_hash(own[-1]) if (own := terms_of_word(word)[1]) else 0 for word in words]
    known = [number for number in np.flatnonzero(counts).tolist() if hashes[number]]
    first_of: dict[int, int] = {}
    for number in known:
        first_of.setdefault(hashes[number], number)
        if first_of[hashes[number]] != number:
            counts[number] = False  # said before
    known = list(first_of.values())
    for number in np.flatnonzero(counts).tolist():
        counts[number] = bool(hashes[number])
    found = snapshot.term_rows([hashes[number] for number in known])
    frequency = np.bincount(found.terms, minlength=len(known))
    rarity = np.zeros(len(words))
    rarity[known] = np.log1p((snapshot.n_rows - frequency + 0.5) / (frequency + 0.5)).clip(0.1)
    terms, rows = np.array(known, dtype=np.int64)[found.terms], found.rows.astype(np.int64, copy=False)
    if (files := filter_files(snapshot.files, filters)) is not None:
        inside = np.isin(snapshot.file_of_row[rows], files)
        terms, rows = terms[inside], rows[inside]
    return terms, rows, rarity
