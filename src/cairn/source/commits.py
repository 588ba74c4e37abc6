"""Reads commits: the ancestors of one, their messages, and the files that each changed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial as partial_of
from pathlib import Path
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from cairn.errors import PathError
from cairn.source.git import Repository, is_below
from cairn.source.plumbing import GitStalledError, read_small, run_git

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OBJECT = re.compile(rb"([0-9a-f]{40,64}) (\w+) (\d+)\n")
_T = TypeVar("_T")
_LIST_TIMEOUT_S, _TIMEOUT_S = 20.0, 10.0
_WITH_MERGES = 1.5  # commits to ask for per wanted one, to have enough without merges; if not, git is asked again
_MAX_SHALLOW_BYTES = 10_000_000
# How much git may print for a batch of commits. If that is too little, they are read one by one.
_MAX_BYTES = 48_000_000
_MAX_MESSAGE_BYTES = 20_000
_MAX_FAILURES = 24  # failures after which the rest of a batch counts as unreadable
# `--always` also lists commits without changes, to tell them from commits that git cannot compare. For a merge, `-c`
# lists the files that differ from all parents.
_CHANGES = ["diff-tree", "--stdin", "-r", "-z", "-c", "--root", "--always", "--name-status", "--no-ext-diff"]
# To find renames of changed files, compare contents, but of at most a hundred with a hundred. Empty files never count.
_SIMILAR, _EQUAL = ["-M", "-l100", "--no-rename-empty"], ["-M100%", "-l100", "--no-rename-empty"]
_COMMITTER = re.compile(rb"(?m)^committer [^\n]*> (-?\d{1,12}) [+-]\d{4}$")
_AUTHOR = re.compile(rb"(?m)^author ([^\n]*)> ")
# A commit may name any encoding, and some of Python's codecs are not for text or are slow.
_ENCODING = re.compile(
    rb"(?mi)^encoding ((?:iso-?8859-?|latin-?|cp-?|windows-?|koi8-)\w{1,4}|euc-?\w{2}|shift_?jis|gb\w{2,5}|big5)$"
)
_PROGRAM = re.compile(
    rb"\[bot\]|\b(?:dependabot|renovate|greenkeeper|snyk-bot|pre-commit-ci|github-actions|mergify)\b", re.I
)


class CommittedChange(NamedTuple):
    """A file that a commit changed: its path in the repository, and its previous path if it was renamed.

    `is_doubtful`: it may have been renamed, but git could not compare its content with the deleted files.
    """

    path: str
    before: str = ""
    is_doubtful: bool = False


class Commit(NamedTuple):
    """A commit: its time in seconds since the epoch, its message, and its changes.

    `by_program` says that a program made it; the author is not kept. `is_whole` says that git could read all of it.
    """

    hash: str
    seconds: int
    message: str
    changes: tuple[CommittedChange, ...]
    by_program: bool = False
    is_whole: bool = True


class Listed(NamedTuple):
    """Hashes of commits, newest first.

    Attributes:
        hashes: without those of merges.
        is_cut: whether git could not read all ancestors.
        parents: those of each, and of the merges between them, newest first.
    """

    hashes: list[str]
    is_cut: bool = False
    parents: Mapping[str, Sequence[str]] = MappingProxyType({})


def list_commits(folder: Path, tip: str, limit: int) -> Listed:
    """Return a commit and its newest ancestors, without merges; none if git fails.

    Args:
        folder: any folder of a checkout.
        tip: a full hash.
        limit: how many at most.
    """
    if not _HASH.fullmatch(tip) or limit < 1:
        return Listed([])
    asked = int(_WITH_MERGES * limit)
    try:
        while True:
            result = run_git(folder, ["rev-list", "--parents", f"--max-count={asked}", tip, "--"], _LIST_TIMEOUT_S)
            lines = os.fsdecode(result.stdout).splitlines()  # the last line is cut short if git crashed
            rows = [row for line in lines if (row := _HASH.findall(line))]
            hashes = [commit for commit, *parents in rows if len(parents) < 2]
            if len(hashes) >= limit or len(rows) < asked:
                break
            asked *= 2
    except (OSError, PathError):
        return Listed([], is_cut=True)
    return Listed(hashes[:limit], bool(result.returncode), {commit: parents for commit, *parents in rows})


def read_commits(
    folder: Path, hashes: Sequence[str], *, partial: bool = False, is_unwanted: Callable[[], bool] = lambda: False
) -> list[Commit]:
    """Return some commits in order; damaged parts are empty.

    Args:
        folder: any folder of a checkout.
        hashes: full ones.
        partial: the clone may lack most contents, so do not look for them one by one, and count commits as whole
            without them.
        is_unwanted: see `run_git`.

    Raises:
        PathError, OSError: if git cannot run, is too slow, or is unwanted.
    """
    asked = [one for one in hashes if _HASH.fullmatch(one)]
    run = partial_of(_run, folder, is_unwanted)
    said = _BatchReader(partial_of(_read_messages, run)).read(asked)
    changed = _BatchReader(partial_of(_read_changes, run), 1 if partial else _MAX_FAILURES).read(asked)
    nothing = Commit("", 0, "", ())
    return [
        said.get(one, nothing)._replace(
            hash=one, changes=changed.get(one, ()), is_whole=one in said and (partial or one in changed)
        )
        for one in asked
    ]


def is_partial(repository: Repository) -> bool:
    """Tell whether a clone fetched only part of the contents, as with `git clone --filter`."""
    return any((repository.common_dir / "objects" / "pack").glob("*.promisor"))


def shallow_commits(repository: Repository) -> frozenset[str]:
    """Return the commits whose parents a shallow clone lacks, which makes all of their files look new."""
    try:
        content = read_small(repository.common_dir / "shallow", _MAX_SHALLOW_BYTES)
    except OSError:
        return frozenset()
    return frozenset(_HASH.findall(os.fsdecode(content)))


class _BatchReader(Generic[_T]):
    """Asks git about many commits at once, and about fewer if that fails, so that a damaged commit affects no other.

    Args:
        ask: returns git's output for some commits, by hash; None if it fails.
        most_failures: after this many, the rest counts as unreadable.
    """

    def __init__(
        self, ask: Callable[[Sequence[str]], dict[str, _T] | None], most_failures: int = _MAX_FAILURES
    ) -> None:
        self._ask = ask
        self._most_failures = most_failures
        self._failures = 0

    def read(self, hashes: Sequence[str]) -> dict[str, _T]:
        """Return git's output for some commits."""
        if not hashes or self._failures >= self._most_failures:
            return {}
        found = self._ask(hashes)
        if found is not None:
            return found
        self._failures += 1
        if len(hashes) == 1:
            return {}
        middle = len(hashes) // 2
        return self.read(hashes[:middle]) | self.read(hashes[middle:])


_Run = Callable[[list[str], Sequence[str]], bytes | None]  # as in `_run`


def _read_messages(run: _Run, hashes: Sequence[str]) -> dict[str, Commit] | None:
    output = run(["cat-file", "--batch", "--buffer"], hashes)
    return None if output is None else {commit.hash: commit for commit in _parse_commits(output)}


def _parse_commits(output: bytes) -> Iterator[Commit]:
    """Yield the commits that `cat-file --batch` prints, without their changes."""
    at = 0
    while (end := output.find(b"\n", at)) >= 0:
        header = _OBJECT.match(output, at)
        at = end + 1
        if header is None:  # the commit is missing
            continue
        size = int(header[3])
        if header[2] == b"commit" and (commit := _parse_commit(os.fsdecode(header[1]), output[at : at + size])):
            yield commit
        at += size + 1


def _parse_commit(name: str, content: bytes) -> Commit | None:
    facts, _, message = content.partition(b"\n\n")
    made = _COMMITTER.search(facts)
    if made is None:
        return None
    encoding = _ENCODING.search(facts)
    author = _AUTHOR.search(facts)
    return Commit(
        name,
        max(0, int(made[1])),
        _decode(message[:_MAX_MESSAGE_BYTES], encoding[1].decode() if encoding else "utf-8"),
        (),
        author is not None and _PROGRAM.search(author[1]) is not None,
    )


def _decode(message: bytes, encoding: str) -> str:
    try:
        return message.decode(encoding, "replace")
    except LookupError:
        return message.decode("utf-8", "replace")


def _read_changes(run: _Run, hashes: Sequence[str]) -> dict[str, tuple[CommittedChange, ...]] | None:
    # Without the contents, as in a partial clone, only renames of unchanged files are found.
    if (output := run([*_CHANGES, *_SIMILAR], hashes)) is not None:
        found = _parse_changes(output)
        return {name: tuple(change for _, change in changes) for name, changes in found.items()}
    if (output := run([*_CHANGES, *_EQUAL], hashes)) is not None:
        return {name: _not_compared(changes) for name, changes in _parse_changes(output).items()}
    return None


def _not_compared(changes: Sequence[tuple[str, CommittedChange]]) -> tuple[CommittedChange, ...]:
    """Return changes with their letters; new files are doubtful if others were deleted in the same commit."""
    is_removing = any(letter == "D" for letter, _ in changes)
    return tuple(change._replace(is_doubtful=is_removing and letter == "A") for letter, change in changes)


def _parse_changes(output: bytes) -> dict[str, list[tuple[str, CommittedChange]]]:
    """Parse `diff-tree -z`, which prints for each commit its hash, then for each change letters and one or two paths.

    A number after the letter means that two paths follow. A merge has a letter for each parent, and one path. Paths
    that lead out of the repository, which only a forged commit can have, are left out.
    """
    changes: dict[str, list[tuple[str, CommittedChange]]] = {}
    current: list[tuple[str, CommittedChange]] = []
    fields = iter(os.fsdecode(output).split("\0"))
    for field in fields:
        if _HASH.fullmatch(field):
            current = changes.setdefault(field, [])
        elif field:
            before = next(fields, "") if field[0] in "RC" and field[1:].isdigit() else ""
            path = next(fields, "")
            if is_below(path):
                before = before if field[0] == "R" and is_below(before) else ""
                current.append((field, CommittedChange(path, before)))
    return changes


def _run(folder: Path, is_unwanted: Callable[[], bool], arguments: list[str], hashes: Sequence[str]) -> bytes | None:
    """Return git's output about some commits; None if it fails or prints too much.

    Raises:
        PathError, OSError: if git cannot run, is too slow, or is unwanted.
    """
    given = "".join(f"{one}\n" for one in hashes).encode()
    started = time.monotonic()
    try:
        result = run_git(folder, arguments, _TIMEOUT_S, given=given, max_bytes=_MAX_BYTES, is_unwanted=is_unwanted)
    except GitStalledError:
        if is_unwanted() or time.monotonic() >= started + _TIMEOUT_S:
            raise
        return None
    return None if result.returncode else result.stdout
