"""The commits that a long text refers to, by hash or by number: they speak for the files that they changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from cairn.history.past import Past
from cairn.index.snapshot import Snapshot
from cairn.search.past import PastOfView, file_at
from cairn.search.work_item import WorkItem
from cairn.source.roles import Role

MAX_REFERENCES, MAX_TRIED = 10, 40  # commits that count, and what may be the hash or the number of one
MAX_FILES = 20  # a commit that changed more files of the project says nothing of any
_OF_NUMBER = 0.6  # of a number, against a hash
_MAX_NAMESAKES = 3  # commits with one number; with more it says nothing
_MOST = 1.5
_MINOR_ROLES = Role.TEST | Role.EXAMPLE | Role.DOCS

# It begins with one set of characters, for which re looks quickly.
_HASH = re.compile(r"[0-9a-f](?<![0-9A-Za-z_].)[0-9a-f]{6,63}(?![0-9A-Za-z_])")
# Behind these words a hash says what was running, not what changed.
_RUNNING = re.compile(r"(?i)(?:\d\.\d[\w.+-]*|\b(?:versions?|build|head|main|master|nightly))\W{1,4}$")
_RUNNING_CHARS = 40
_COMMIT_LINK = re.compile(r"://[^\s/]{1,80}/[^\s#?]{1,200}?/commits?/([0-9a-f]{7,64})\b")
_BISECTED = re.compile(r"(?m)^[ \t>*`]{0,20}([0-9a-f]{7,64}) is the first bad commit")
_HAS_LINK, _HAS_BISECTED = "/commit", " is the first bad commit"  # quickly told
_HAS_NUMBER = re.compile(r"#\d|/(?:pull|issues|merge_requests)/\d")  # quickly told
# What `_BLAMED` finds has one of these, in lower case.
_BLAMES = (
    "regress",
    "introduc",
    "broke",
    "break",
    "bisect",
    "caus",
    "since",
    "culprit",
    "due to",
    "follow",
    "revert",
    "undo",
)
# A number says something behind words that blame. Otherwise reports refer to what is only like them.
_BLAMED = re.compile(
    r"(?i)\b(?:regress|introduc|broke|break|bisect|caus|since\b|culprit|due to\b|follow[- ]?up|revert|undo)\w*"
    r"[^.#]{0,60}?(?:(?<![\w/])#|https?://[^\s/]{1,80}/(?:[^\s/]{1,80}/){0,4}([^\s/]{1,80})/(?:-/)?(?:pull|issues|merge_requests)/)"
    r"([1-9]\d{0,6})(?![\w-])"
)


class NamedCommit(NamedTuple):
    """A commit that a text refers to, as its number in the history, and how much that says."""

    commit: int
    worth: float


def find_referred(
    snapshot: Snapshot, of_view: PastOfView | None, item: WorkItem
) -> tuple[dict[int, float], dict[int, str]]:
    """Return {file: how much the text says of it by the commits that it refers to}, and {file: one such commit}.

    Args:
        snapshot: whose files.
        of_view: the commits behind them; None if they are not known.
        item: the text.
    """
    worth: dict[int, float] = {}
    by: dict[int, tuple[float, str]] = {}
    if of_view is None or not len(of_view.past):
        return {}, {}
    for commit, value in references_of(of_view.past, item, of_view.project):
        found = [file_at(snapshot.files.paths, path, of_view.folder) for path in _paths_of(of_view.past, commit)]
        files = [file for file in found if file >= 0]
        main = [file for file in files if not int(snapshot.files.roles[file]) & int(_MINOR_ROLES)]
        if len(main) > MAX_FILES:
            continue
        for file in files:
            share = value / max(1, len(main)) ** 0.5
            worth[file] = worth.get(file, 0.0) + share
            by[file] = max(by.get(file, (0.0, "")), (share, of_view.past.hash_of(commit)))
    return {file: _MOST * float(np.tanh(value / _MOST)) for file, value in worth.items()}, {
        file: name for file, (_, name) in by.items()
    }


def references_of(past: Past, item: WorkItem, project: str) -> list[NamedCommit]:
    """Return the commits to which a text refers, each once: those whose hash it has first.

    Args:
        past: the commits.
        item: the text.
        project: what the project's folder is called: links to it are told from those to others by that.
    """
    said = f"{item.subject}\n{item.prose}"
    hashes = _COMMIT_LINK.findall(item.raw) if _HAS_LINK in item.raw else []
    hashes += _BISECTED.findall(item.raw) if _HAS_BISECTED in item.raw else []
    hashes += islice(_hashes_in(said), MAX_TRIED)
    found = {past.starting_with(text): 1.0 for text in islice(dict.fromkeys(hashes), MAX_TRIED)}
    blamed = _BLAMED.findall(item.raw) if _HAS_NUMBER.search(item.raw) and _may_blame(item.raw) else []
    numbers = [number for name, number in blamed if not name or _is_called(project, name)]
    if numbers:
        of_numbers = past.numbered(list(dict.fromkeys(numbers))[:MAX_TRIED])
        for commits in of_numbers.values():
            if len(commits) <= _MAX_NAMESAKES:
                for commit in commits:
                    found.setdefault(commit, _OF_NUMBER / len(commits))
    found.pop(-1, None)
    return [NamedCommit(commit, worth) for commit, worth in islice(found.items(), MAX_REFERENCES)]


def _may_blame(text: str) -> bool:
    lower = text.lower()
    return not text.isascii() or any(map(lower.__contains__, _BLAMES))  # beyond ASCII, `re` knows more of case


def _hashes_in(prose: str) -> Iterator[str]:
    """Yield what may be hashes of commits that changed something."""
    for match in _HASH.finditer(prose):
        if match[0].isdigit() or match[0].isalpha():
            continue  # a number or a word
        if not _RUNNING.search(prose[max(0, match.start() - _RUNNING_CHARS) : match.start()]):
            yield match[0]


def _is_called(project: str, name: str) -> bool:
    """Tell whether a folder has the name of a repository, perhaps with more words around it."""
    return re.search(rf"(?i)(?<![a-z\d]){re.escape(name)}(?![a-z\d])", project) is not None


def _paths_of(past: Past, commit: int) -> list[str]:
    return [past.path_of(path) for path in past.paths_of(commit).tolist()]
