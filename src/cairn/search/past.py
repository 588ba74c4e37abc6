"""What the commits of a project say about its files for a query: a feature of the ranking."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from cairn.history.past import Past, load_past
from cairn.history.score import Weighted, score_files
from cairn.index.past_files import past_file
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir
from cairn.search.query import Query
from cairn.search.score import Floats


class PastOfView(NamedTuple):
    """The commits behind a view, and the folder of the project in its repository: empty, or with a `/` at the end."""

    past: Past
    folder: str


class Pasts:
    """The histories of views, each kept until its file is replaced.

    Args:
        state: where they are.
        folder: the project's, from the top of its repository; empty for the top.
    """

    def __init__(self, state: StateDir, folder: str) -> None:
        self._state = state
        self._folder = f"{folder}/" if folder else ""
        self._open: dict[str, tuple[tuple[int, int], Past]] = {}

    def open(self, view_name: str) -> PastOfView | None:
        """Return the history of a view, None if there is none or its file is damaged."""
        file = past_file(self._state, view_name)
        try:
            facts = file.stat()
        except OSError:
            return None
        stamp = facts.st_ino, facts.st_mtime_ns
        known = self._open.get(view_name)
        if known is None or known[0] != stamp:
            past = load_past(file)
            if past is None:
                return None
            known = self._open[view_name] = stamp, past
        return PastOfView(known[1], self._folder)


# Of the evidence in a query that asks for no change: the words of commits are about changes.
QUESTION_SHARE = 0.3
_MANY_WORDS = 40
_PREFIX = r"(?:\w{2,12}(?:\([^)]{0,60}\))?!?: |\[[^\]]{1,40}\]:? )?"
_CHANGE = (
    rf"{_PREFIX}(?:add|adjust|allow|apply|avoid|cache|change|check|clarify|clean|convert|correct|delete|deprecate|detect"
    r"|disable|don.?t|do not|drop|enable|ensure|expose|extend|fix|guard|handle|hide|honou?r|ignore|implement|improve"
    r"|include|increase|introduce|keep|limit|make|mark|merge|migrate|move|normali[sz]e|optimi[sz]e|pass|prefer|preserve"
    r"|prevent|properly|raise|reduce|refactor|reject|remove|rename|replace|report|require|reset|resolve|respect|restore"
    r"|restrict|return|rework|rewrite|set|show|simplify|skip|speed|split|stop|strip|support|switch|throw|treat|tweak"
    r"|unify|update|upgrade|use|validate|warn|wrap)(?:e?s|e?d|ing)?\b"
    rf"|{_PREFIX}\S.{{0,300}}\b(?:bug|broken|crash(?:es|ed)?|does(?:n.t| not)|fail(?:s|ed)?|incorrect(?:ly)?|is not"
    r"|regression|should(?:n.t)?|unexpected(?:ly)?|wrong(?:ly)?)\b"
)


def asks_for_change(text: str) -> bool:
    """Tell whether a text is a work item: the subject of a change or a report, or longer than a question."""
    first, _, rest = text.strip().partition("\n")
    return bool(rest) or first.count(" ") >= _MANY_WORDS or re.match(_CHANGE, first, re.IGNORECASE) is not None


def file_history(snapshot: Snapshot, of_view: PastOfView | None, query: Query) -> Floats | None:
    """Return how much the history speaks for each file, from 0 to 1; None if it says nothing. Shape (n_files,).

    Args:
        snapshot: whose files.
        of_view: the commits behind them.
        query: what is looked for.
    """
    if of_view is None:
        return None
    past, folder = of_view
    found = score_files(past, [Weighted(term.hashed, term.weight) for term in query.terms])
    if not len(found.paths):
        return None
    share = 1.0 if asks_for_change(query.text) else QUESTION_SHARE
    evidence = np.zeros(len(snapshot.files.paths), dtype=np.float32)
    for path, value in zip(found.paths.tolist(), found.scores.tolist(), strict=True):
        file = _file_at(snapshot.files.paths, past.path_of(path), folder)
        if file >= 0:
            evidence[file] = share * value
    return evidence


def _file_at(paths: tuple[str, ...], path: str, folder: str) -> int:
    """Return the number of a file by its path in the repository, -1 if the snapshot does not show it."""
    if not path.startswith(folder):
        return -1
    own = path[len(folder) :]
    place = bisect_left(paths, own)
    return place if place < len(paths) and paths[place] == own else -1
