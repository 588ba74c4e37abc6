"""What the commits of a project say about its files for a query: a feature of the ranking."""

from __future__ import annotations

import os
from bisect import bisect_left
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cairn.history.past import Past, load_past
from cairn.history.score import Weighted, score_files
from cairn.index.past_files import past_file
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir
from cairn.search.query import Query, is_work_item
from cairn.search.score import Floats


class PastOfView(NamedTuple):
    """The commits behind a view, and the folder of the project in its repository: empty, or with a `/` at the end.

    `project` is what the project's folder is called.
    """

    past: Past
    folder: str
    project: str = ""


class Pasts:
    """The histories of views, each kept until its file is replaced, also that a file holds none.

    Args:
        state: where they are.
        folder: the project's, from the top of its repository; empty for the top.
        project: what it is called.
    """

    def __init__(self, state: StateDir, folder: str, project: str = "") -> None:
        self._state = state
        self._project = project
        self._folder = f"{folder}/" if folder else ""
        self._open: dict[str, tuple[tuple[int, int], Past | None]] = {}

    def open(self, view_name: str) -> PastOfView | None:
        """Return the history of a view, None if there is none or its file is damaged."""
        file = past_file(self._state, view_name)
        try:
            facts = os.stat(file)  # a third of the time of `Path.stat`
        except OSError:
            return None
        stamp = facts.st_ino, facts.st_mtime_ns
        known = self._open.get(view_name)
        if known is None or known[0] != stamp:
            known = self._open[view_name] = stamp, load_past(file)
        return None if known[1] is None else PastOfView(known[1], self._folder, self._project)


_NO_FILES = np.zeros(0, dtype=np.int32)
# Of the evidence in a query that asks for no change: the words of commits are about changes.
QUESTION_SHARE = 0.45


def file_history(
    snapshot: Snapshot, of_view: PastOfView | None, query: Query, share: float | None = None
) -> Floats | None:
    """Return how much the history speaks for each file, from 0 to 1; None if it says nothing. Shape (n_files,).

    Args:
        snapshot: whose files.
        of_view: the commits behind them.
        query: what is looked for.
        share: how much of the evidence counts; by the form of the query if None.
    """
    if of_view is None:
        return None
    found = score_files(of_view.past, [Weighted(term.hashed, term.weight) for term in query.terms])
    if not len(found.paths):
        return None
    if share is None:
        share = 1.0 if is_work_item(query) else QUESTION_SHARE
    evidence = np.zeros(len(snapshot.files.paths), dtype=np.float32)
    files = _files_at(snapshot, of_view, found.paths)
    is_shown = files >= 0
    evidence[files[is_shown]] = share * found.scores[is_shown].astype(np.float64)
    return evidence


_UNKNOWN = -2
_known_files: WeakKeyDictionary[Snapshot, tuple[Past, npt.NDArray[np.int32]]] = WeakKeyDictionary()


def _files_at(snapshot: Snapshot, of_view: PastOfView, paths: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Return the files of some paths in a history, -1 for one that is not shown; each is looked up once."""
    past, known = _known_files.get(snapshot) or (None, _NO_FILES)
    if past is not of_view.past:
        past, known = of_view.past, np.full(of_view.past.n_paths, _UNKNOWN, dtype=np.int32)
        _known_files[snapshot] = past, known
    files = known[paths]
    for place in (files == _UNKNOWN).nonzero()[0].tolist():
        path = int(paths[place])
        files[place] = known[path] = file_at(snapshot.files.paths, past.path_of(path), of_view.folder)
    return files


def file_at(paths: tuple[str, ...], path: str, folder: str) -> int:
    """Return the number of a file by its path in the repository, -1 if the snapshot does not show it."""
    if not path.startswith(folder):
        return -1
    own = path[len(folder) :]
    place = bisect_left(paths, own)
    return place if place < len(paths) and paths[place] == own else -1
