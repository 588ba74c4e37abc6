"""The commits behind one commit as arrays: their words as postings, and their files under the names of today."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.errors import DerivedFileError
from cairn.history.renamed import Parents, follow_renames
from cairn.index.analysis import POSTINGS_LAYOUT, Postings
from cairn.kernels.grouping import group
from cairn.storage.arrays import are_below, are_bounds, check_fits, load_arrays, save_arrays

if TYPE_CHECKING:
    from cairn.storage.history.commit_db import StoredCommit

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
_LAYOUT = {
    "commits": ("u1", 2),
    "seconds": ("i8", 1),
    "weights": ("f4", 1),
    "subject_start": ("i8", 1),
    "subjects": ("u1", 1),
    "change_start": ("i8", 1),
    "changes": ("i4", 1),
    "path_start": ("i8", 1),
    "paths": ("u1", 1),
    "former_start": ("i8", 1),
    "formers": ("u1", 1),
    "renamed": ("i4", 1),
    "doubtful": ("i4", 1),
    "extent": ("i8", 1),
    "tip": ("u1", 1),
} | POSTINGS_LAYOUT
FULL_IMPACT = 255
# Of a stored term: it stands in the subject, or in the body alone.
SUBJECT_FIELD, BODY_FIELD = 1, 2
# What counts for a commit, derived with bench/commit_subjects.py.
SIZE_POWER = 0.5
HALF_LIFE_YEARS = 4.0
RECENCY_SHARE = 0.5
# What stands before the number of an issue or a pull request that a commit is said to settle.
_BEFORE_NUMBER, _BEFORE_BYTES = re.compile(rb"(?:\(|(?i:fix(?:e[sd])?|close[sd]?|resolve[sd]?):? )\Z"), 10
_YEAR_SECONDS = 365.25 * 86_400


class Extent(NamedTuple):
    """How much of a history is known.

    Attributes:
        tip: the commit whose history it is, a full hash.
        listed: how many commits lie behind it, up to the limit, without merges.
        read: how many of them were read.
        limit: how many commits there may be at most.
        boundary: 0 if the clone has all commits; else what stands for those at which a shallow clone ends.
        is_cut: git cannot read all of them.
    """

    tip: str
    listed: int
    read: int
    limit: int = 0
    boundary: int = 0
    is_cut: bool = False


class Past:
    """The commits behind one commit, newest first; those without weight are left out.

    Attributes:
        extent: how much of the history this is.
        seconds, weights: when each was made, since the epoch; how much it counts. Shapes: (n,).
        change_start: shape (n + 1,), where the files of each begin in `changes`.
        changes: shape (n_changes,), numbers of paths.
        doubtful: numbers of paths of files that may have had another before, as git could not compare contents.
        postings: a row for each commit.
    """

    def __init__(self, arrays: dict[str, npt.NDArray[Any]], names: _Names | None = None) -> None:
        self._arrays = arrays
        self._names = names or _Names(arrays)
        listed, read, limit, boundary, is_cut, _ = arrays["extent"].tolist()
        self.extent = Extent(arrays["tip"].tobytes().hex(), listed, read, limit, boundary, bool(is_cut))
        self.seconds: Ints = arrays["seconds"]
        self.weights: Floats = arrays["weights"]
        self.change_start: Ints = arrays["change_start"]
        self.changes: npt.NDArray[np.int32] = arrays["changes"]
        self.doubtful: npt.NDArray[np.int32] = arrays["doubtful"]
        self.postings = Postings.from_arrays(arrays)

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def n_paths(self) -> int:
        """How many paths the commits name."""
        return len(self._arrays["path_start"]) - 1

    def hash_of(self, commit: int) -> str:
        """Return the full hash of a commit."""
        return bytes(self._arrays["commits"][commit]).hex()

    def number_of(self, name: str) -> int:
        """Return the number of a commit by its full hash, -1 if it is not there."""
        wanted = np.frombuffer(bytes.fromhex(name), np.uint8)
        commits: npt.NDArray[np.uint8] = self._arrays["commits"]
        if commits.size != len(commits) * len(wanted):  # hashes of another length
            return -1
        places = np.flatnonzero((commits == wanted).all(axis=1))
        return int(places[0]) if len(places) else -1

    def starting_with(self, text: str) -> int:
        """Return the number of the one commit whose hash begins with some digits, two at least, -1 if there is none."""
        commits: npt.NDArray[np.uint8] = self._arrays["commits"]
        whole = np.frombuffer(bytes.fromhex(text[: len(text) // 2 * 2]), np.uint8)
        if len(whole) > commits.shape[1]:
            return -1
        places = np.flatnonzero(commits[:, 0] == whole[0])  # one in so many hundreds
        places = places[(commits[places, : len(whole)] == whole).all(axis=1)]
        found = [place for place in places.tolist() if self.hash_of(place).startswith(text)]
        return found[0] if len(found) == 1 else -1

    def numbered(self, numbers: Sequence[str]) -> dict[str, list[int]]:
        """Return, for each number of an issue or a pull request, the commits whose subjects say it, newest first."""
        # It begins with a fixed letter, which is found thirty times as fast as what may stand before it.
        pattern = re.compile(b"#(" + "|".join(numbers).encode() + rb")(?!\w)")
        subjects, starts = self._arrays["subjects"].tobytes(), self._arrays["subject_start"]
        first, found = int(starts[0]), dict[str, list[int]]()
        for match in pattern.finditer(subjects, first):
            if not _BEFORE_NUMBER.search(subjects, max(first, match.start() - _BEFORE_BYTES), match.start()):
                continue
            commit = int(np.searchsorted(starts, match.start(), side="right")) - 1
            found.setdefault(match[1].decode(), []).append(commit)
        return found

    def subject_of(self, commit: int) -> str:
        """Return the first line of a commit's message."""
        return self._text("subject", commit)

    def path_of(self, path: int) -> str:
        """Return a path, from the top of the repository."""
        return self._text("path", path)

    def paths_of(self, commit: int) -> Ints:
        """Return the numbers of the paths that a commit changed."""
        return self.changes[self.change_start[commit] : self.change_start[commit + 1]].astype(np.int64)

    @cached_property
    def counts(self) -> Ints:
        """How many files each commit changed. Shape (n,)."""
        return np.diff(self.change_start)

    @cached_property
    def standing(self) -> Floats:
        """How much each commit counts, whatever is looked for: recent and small ones more. Shape (n,)."""
        years = np.maximum(0, self.seconds.max(initial=0) - self.seconds) / _YEAR_SECONDS
        recency = 1 - RECENCY_SHARE + RECENCY_SHARE * 0.5 ** (years / HALF_LIFE_YEARS)
        standing: Floats = (self.weights * recency / np.maximum(1, self.counts) ** SIZE_POWER).astype(np.float32)
        return standing

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each path."""
        return self._names.numbers

    @property
    def renamed(self) -> dict[str, int]:
        """The number of the path that a file has now, for each that one had before and none has now."""
        return self._names.renamed

    @property
    def folders(self) -> Ints:
        """A number for the folder of each path. Shape (n_paths,)."""
        return self._names.folders

    def commits_of(self, path: int) -> Ints:
        """Return the commits that changed a path, newest first."""
        places = np.flatnonzero(self.changes == path)
        return np.searchsorted(self.change_start, places, side="right") - 1

    def behind(self, commit: int) -> Past:
        """Return the history without a commit and all that are newer, with the same numbers of paths."""
        first = commit + 1
        start, postings = self.change_start[first:], self.postings
        kept = postings.rows >= first
        before = np.concatenate([[0], np.cumsum(kept)])
        rest = Postings(
            postings.hashes,
            before[postings.start],
            postings.rows[kept] - np.int32(first),
            postings.impacts[kept],
            postings.fields[kept],
        )
        subject_start = self._arrays["subject_start"][first:]
        return Past(
            {
                **self._arrays,
                **{name: self._arrays[name][first:] for name in ("commits", "seconds", "weights")},
                "subject_start": subject_start,
                "change_start": start - start[0],
                "changes": self.changes[start[0] :],
                **rest.to_arrays(),
            },
            self._names,
        )

    def _text(self, what: str, number: int) -> str:
        first, last = self._arrays[f"{what}_start"][number : number + 2].tolist()
        return self._arrays[f"{what}s"][first:last].tobytes().decode("utf-8", "surrogateescape")


class _Names:
    """The paths of a history, which all parts of it share."""

    def __init__(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._arrays = arrays

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self._texts("path"))}

    @cached_property
    def renamed(self) -> dict[str, int]:
        return dict(zip(self._texts("former"), self._arrays["renamed"].tolist(), strict=True))

    @cached_property
    def folders(self) -> Ints:
        known: dict[str, int] = {}
        return np.array(
            [known.setdefault(text.rpartition("/")[0], len(known)) for text in self._texts("path")], np.int64
        )

    def _texts(self, what: str) -> list[str]:
        starts, content = self._arrays[f"{what}_start"].tolist(), self._arrays[f"{what}s"].tobytes()
        return [content[first:last].decode("utf-8", "surrogateescape") for first, last in pairwise(starts)]


def load_past(file: Path) -> Past | None:
    """Return what is in a file, None if there is none, or it is damaged or of another version."""
    if not file.exists():
        return None
    try:
        arrays = load_arrays(file, _LAYOUT)
        n = len(arrays["seconds"])
        check_fits(
            file,
            commits=len(arrays["commits"]) == len(arrays["weights"]) == n and len(arrays["extent"]) == _N_EXTENT,
            version=arrays["extent"].tolist()[-1:] == [VERSION],
            subjects=are_bounds(arrays["subject_start"], n, len(arrays["subjects"])),
            changes=are_bounds(arrays["change_start"], n, len(arrays["changes"])),
            paths=len(arrays["path_start"]) > 0
            and are_bounds(arrays["path_start"], len(arrays["path_start"]) - 1, len(arrays["paths"]))
            and are_below(arrays["changes"], len(arrays["path_start"]) - 1)
            and are_below(arrays["renamed"], len(arrays["path_start"]) - 1)
            and are_below(arrays["doubtful"], len(arrays["path_start"]) - 1),
            formers=are_bounds(arrays["former_start"], len(arrays["renamed"]), len(arrays["formers"])),
            postings=Postings.from_arrays(arrays).fit(n),
        )
    except DerivedFileError:
        return None
    return Past(arrays)


VERSION = 3
_N_EXTENT = 6


def save_past(
    file: Path,
    commits: Sequence[StoredCommit],
    paths: dict[int, str],
    extent: Extent,
    parents: Parents | None = None,
) -> int:
    """Write the history of a commit, and return the size of the file in bytes.

    Args:
        file: where to.
        commits: newest first.
        paths: all paths by number.
        extent: what is known of the history.
        parents: as for `follow_renames`, None if they are not known.

    Raises:
        StoreError: if it cannot be written.
    """
    counted, files = [], []
    followed = follow_renames(commits, parents or {})
    renamed = followed.renamed
    for commit, changed in zip(commits, followed.changed, strict=True):
        if commit.weight > 0 and changed:
            counted.append(commit)
            files.append(changed)
    used = sorted({path for changed in files for path in changed})
    places = {path: place for place, path in enumerate(used)}
    former = sorted(before for before, now in renamed.items() if now in places and before not in places)
    arrays: dict[str, npt.NDArray[Any]] = {
        "commits": np.frombuffer(b"".join(one.hash for one in counted), np.uint8).reshape(len(counted), -1)
        if counted
        else np.zeros((0, 20), np.uint8),
        "seconds": np.array([one.seconds for one in counted], np.int64),
        "weights": np.array([one.weight for one in counted], np.float32),
        **_texts("subject", [one.subject for one in counted]),
        "change_start": _starts([len(changed) for changed in files]),
        "changes": np.array([places[path] for changed in files for path in changed], np.int32),
        **_texts("path", [paths.get(path, "") for path in used]),
        **_texts("former", [paths.get(path, "") for path in former]),
        "renamed": np.array([places[renamed[path]] for path in former], np.int32),
        "doubtful": np.array(sorted(places[path] for path in followed.doubtful if path in places), np.int32),
        "extent": np.array(
            [extent.listed, extent.read, extent.limit, extent.boundary, extent.is_cut, VERSION], np.int64
        ),
        "tip": np.frombuffer(bytes.fromhex(extent.tip), np.uint8),
        **_make_postings(counted).to_arrays(),
    }
    return save_arrays(file, arrays)


def _make_postings(commits: Sequence[StoredCommit]) -> Postings:
    """Return the terms of commits as postings, in which every impact is the highest."""
    hashes = np.frombuffer(b"".join(one.hashes for one in commits), np.uint64)
    fields = np.frombuffer(b"".join(one.fields for one in commits), np.uint8)
    rows = np.repeat(np.arange(len(commits), dtype=np.int32), [len(one.fields) for one in commits])
    order = np.argsort(hashes, kind="stable")
    distinct, first, _ = group(hashes[order])
    start = np.append(first, len(hashes)).astype(np.int64)
    return Postings(distinct, start, rows[order], np.full(len(rows), FULL_IMPACT, np.uint8), fields[order])


def _starts(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))]).astype(np.int64)


def _texts(what: str, texts: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
    return {
        f"{what}_start": _starts([len(one) for one in encoded]),
        f"{what}s": np.frombuffer(b"".join(encoded), np.uint8),
    }
