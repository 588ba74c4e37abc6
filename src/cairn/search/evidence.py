"""What a long text says of files outright: those it names or reports, and those that define its names."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.index.snapshot import Snapshot
from cairn.search.file_finder import FileFinder
from cairn.search.mentions import Mentions
from cairn.search.query import MINOR_KINDS
from cairn.source.roles import Role
from cairn.storage.index import chunk_db

Floats = npt.NDArray[np.float32]

_MODULE = 0.7  # of a module's name, against that of a path
_MAX_NAMESAKES = 100  # with more definitions no one is meant
_MAX_READ = 1_000  # of a name's definitions, in all views
_MINOR_KIND = 0.5  # of a field, a key or the like
_MINOR_FILE = 0.3  # of a test, an example or documentation
_MOST_NAMED, _MOST_POINTED = 1.5, 2.0
_MINOR_ROLES = Role.TEST | Role.EXAMPLE | Role.DOCS


class TextEvidence(NamedTuple):
    """What speaks for files outright.

    Attributes:
        of_files: features of files, each of shape (n_files,): `named`, `pointed`, `framed`, `raised` and
            `referred`.
        defining: {row: (how much it says, the number of the definition)} of the rows that define names of the text.
    """

    of_files: dict[str, Floats]
    defining: dict[int, tuple[float, int]]

    def names(self, row: int, file: int) -> bool:
        """Tell whether the text names a file, or something that a row of it defines."""
        return row in self.defining or ("pointed" in self.of_files and bool(self.of_files["pointed"][file] > 0))


def gather(
    snapshot: Snapshot,
    connection: sqlite3.Connection,
    mentions: Mentions,
    finder: FileFinder,
    reported: Mapping[str, Mapping[int, float]],
    file_of_row: npt.NDArray[np.int64],
) -> TextEvidence:
    """Return what a text says of the files of a snapshot.

    Args:
        mentions: what it names.
        finder: of the snapshot's files.
        reported: {`framed`, `raised` or `referred`: {file: how much that says}}, the files in its tracebacks, of its
            messages, and of the commits that it names.
        file_of_row: shape (n_rows,), -1 for a row out of scope.
    """
    is_minor = (snapshot.files.roles & int(_MINOR_ROLES)) > 0
    share = np.where(is_minor, np.float32(_MINOR_FILE), np.float32(1.0))
    named, defining = _who_defines(snapshot, connection, mentions, file_of_row)
    pointed = np.zeros(len(snapshot.files.paths), dtype=np.float32)
    for path in mentions.paths:
        _add(pointed, finder.by_path(path), 1.0)
    for module in mentions.modules:
        _add(pointed, finder.by_module(module), _MODULE)
    has_path = bool((pointed[~is_minor] > 0).any())
    for stem in () if has_path else mentions.stems:  # who names a file by its path means no other one by its words
        files = [file for file in finder.by_words(stem) if not is_minor[file]]
        _add(pointed, files if len(files) == 1 else [], _MODULE)
    features = {"named": _saturated(named, _MOST_NAMED), "pointed": _saturated(pointed, _MOST_POINTED)}
    for name, worth in reported.items():
        features[name] = np.zeros_like(pointed)
        features[name][list(worth)] = list(worth.values())
    return TextEvidence({name: (values * share).astype(np.float32) for name, values in features.items()}, defining)


def _saturated(values: Floats, most: float) -> Floats:
    saturated: Floats = (most * np.tanh(values / most)).astype(np.float32)
    return saturated


def _add(values: Floats, files: list[int], worth: float) -> None:
    """Share what a mention is worth among the files that it may mean."""
    if files:
        values[files] += np.float32(worth / len(files))


def _who_defines(
    snapshot: Snapshot, connection: sqlite3.Connection, mentions: Mentions, file_of_row: npt.NDArray[np.int64]
) -> tuple[Floats, dict[int, tuple[float, int]]]:
    """Return for each file what the names that it defines say, and which rows define them; namesakes share."""
    named = np.zeros(len(snapshot.files.paths), dtype=np.float32)
    defining: dict[int, tuple[float, int]] = {}
    waiting.check()
    found = chunk_db.definitions_of_names(connection, mentions.names, _MAX_READ)
    rows = snapshot.rows_of_chunks(np.array([one.chunk_id for own in found.values() for one in own], np.int64))
    files = np.where(rows >= 0, file_of_row[rows], -1)
    places = zip(rows.tolist(), files.tolist(), strict=True)
    for name, weight in mentions.names.items():
        own = zip(found[name], places, strict=False)  # in this order, the next name's places are left
        shown = [(row, file, one) for one, (row, file) in own if file >= 0]
        if len(shown) > _MAX_NAMESAKES:
            continue
        best: dict[int, float] = {}
        n_files = len({file for _, file, _ in shown})
        for row, file, one in shown:
            worth = weight * (_MINOR_KIND if one.kind in MINOR_KINDS else 1.0) / n_files
            best[file] = max(best.get(file, 0.0), worth)
            if worth > defining.get(row, (0.0, 0))[0]:
                defining[row] = (worth, one.ordinal)
        for file, worth in best.items():
            named[file] += worth
    return named, defining
