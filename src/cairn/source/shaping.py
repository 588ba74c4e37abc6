"""Finds the commits that shaped some lines of a file: where the lines are in the last commit, and git's log of them."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from cairn.errors import PathError
from cairn.source.content import normalize
from cairn.source.git import is_below
from cairn.source.line_diff import match_lines
from cairn.source.plumbing import BLAME, LINE_LOG, end_git, run_git, start_git

_MAX_FILE_BYTES = 5_000_000
_READ_S = 5.0
_ENDING_S = 1.0  # for git to exit after its output ends
_PIECE_BYTES = 65_536
_MOST_RANGES = 100  # ranges of lines to ask git for; closer ranges are joined if there are more
_LISTING_SHARE = 0.4  # share of the time for listing the newest commits of the file
_LINE = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) (-?\d+)")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BLAMED = re.compile(
    rb"^([0-9a-f]{40}(?:[0-9a-f]{24})?) \d+ \d+ \d+\n(?:[^\t\n].*\n)*?committer-time (-?\d+)$", re.MULTILINE
)


class Shaping(NamedTuple):
    """A commit that changed some lines, and when it was made, in seconds since the epoch."""

    hash: str
    seconds: int


class Shapings(NamedTuple):
    """The commits that changed some lines, newest first.

    `is_cut`: time ran out. `has_failed`: git failed.
    """

    commits: list[Shaping]
    is_cut: bool = False
    has_failed: bool = False


class CommittedLines(NamedTuple):
    """Where some lines are in a commit: ranges, 1-based and inclusive; and how many lines are missing there."""

    ranges: list[tuple[int, int]]
    n_new: int


def content_in_commit(folder: Path, commit: str, path: str) -> bytes | None:
    """Return the content of a file in a commit, None if the commit does not have the file.

    Args:
        folder: the top of the checkout.
        commit: a full hash.
        path: of the file, from there.

    Raises:
        PathError, OSError: if git cannot read it.
    """
    if not _HASH.fullmatch(commit) or not is_below(path):
        return None
    result = run_git(folder, ["cat-file", "blob", f"{commit}:{path}"], _READ_S, max_bytes=_MAX_FILE_BYTES)
    if not result.returncode:
        return result.stdout
    listed = run_git(folder, ["ls-tree", "-z", commit, "--", path], _READ_S)
    if listed.returncode or b" blob " in listed.stdout:
        raise PathError(f"git cannot read {path} in the commit {commit[:12]}", "to see why: git fsck")
    return None


def last_content(folder: Path, commit: str, path: str, seconds: float) -> bytes | None:
    """Return a file's content in the last ancestor of a commit that had it, None if unknown.

    Args:
        folder: the top of the checkout.
        commit: the full hash of a commit without the file.
        path: of the file, from there.
        seconds: how long git may look for the commit that deleted it.

    Raises:
        PathError, OSError: if git cannot read it, or not in time.
    """
    if not _HASH.fullmatch(commit) or not is_below(path):
        return None
    newest = ["rev-list", "--max-count=1", "--format=%P", commit, "--", f":(literal){path}"]
    before = _HASH.findall(os.fsdecode(run_git(folder, newest, seconds).stdout))[1:]
    return content_in_commit(folder, before[0], path) if before else None


def lines_in_commit(before: bytes, now: bytes, first: int, last: int) -> CommittedLines | None:
    """Return where some current lines of a file are in a commit, None if none of them are.

    Args:
        before: the content in the commit.
        now: the content now.
        first: the first of the lines, 1-based.
        last: the last of them.
    """
    partner = match_lines(lines_of(before), lines_of(now))
    found = [partner[line] + 1 for line in range(first - 1, min(last, len(partner))) if partner[line] >= 0]
    breaks = [place for place in range(1, len(found)) if found[place] != found[place - 1] + 1]
    if len(breaks) >= _MOST_RANGES:
        breaks = []
    ranges = [(found[start], found[end - 1]) for start, end in pairwise([0, *breaks, len(found)])] if found else []
    return CommittedLines(ranges, last - first + 1 - len(found)) if found else None


def is_in_commit(folder: Path, commit: str, path: str) -> bool:
    """Tell whether a commit has a file or folder; True if git cannot tell.

    Args:
        folder: the top of the checkout.
        commit: a full hash.
        path: from there.
    """
    try:
        listed = run_git(folder, ["ls-tree", "-z", commit, "--", path], _READ_S)
    except (OSError, PathError):
        return True
    return bool(listed.stdout or listed.returncode)


def shaped_by(
    folder: Path, commit: str, path: str, lines: Sequence[tuple[int, int]], limit: int, seconds: float
) -> Shapings:
    """Return the commits that changed some lines, newest first, as far as git finds them in time.

    Args:
        folder: the top of the checkout.
        commit: the full hash of a commit that has the lines.
        path: of the file, from there.
        lines: the first and the last of each range, 1-based.
        limit: how many commits at most.
        seconds: how long git may look, and if necessary as long again to find who last wrote them.
    """
    if not _HASH.fullmatch(commit) or not is_below(path):
        return Shapings([])
    started = time.monotonic()
    recent = _ask(
        folder, ["rev-list", f"--max-count={limit}", commit, "--", f":(literal){path}"], seconds * _LISTING_SHARE
    )
    hashes = _HASH.findall(os.fsdecode(recent.output))
    ranges = [f"-L{first},{last}:{path}" for first, last in lines]
    command = [*LINE_LOG, f"--max-count={limit}", *ranges, commit]
    until = started + seconds
    found, last = Shapings([], is_cut=True), list[Shaping]()
    # Otherwise git lists all ancestors before it looks at the first one.
    if hashes and (recent.is_cut or len(hashes) == limit):
        found = _follow(folder, [*command, f"^{hashes[-1]}^@"], until)
        last = [] if found.commits else _blame(folder, commit, path, lines, seconds)
    if found.is_cut or len(found.commits) < limit:
        whole = _follow(folder, command, until)
        is_better = not (whole.is_cut or whole.has_failed) or len(whole.commits) >= len(found.commits)
        found = whole if is_better else found._replace(is_cut=whole.is_cut, has_failed=whole.has_failed)
    if found.commits:
        return found
    return found._replace(commits=last or _blame(folder, commit, path, lines, seconds))


def _blame(folder: Path, commit: str, path: str, lines: Sequence[tuple[int, int]], seconds: float) -> list[Shaping]:
    """Return the commits that last wrote some lines, newest first; git finds these sooner than all that shaped them."""
    blamed = _ask(folder, [*BLAME, *(f"-L{first},{last}" for first, last in lines), commit, "--", path], seconds)
    last = {Shaping(match[1].decode(), max(0, int(match[2]))) for match in _BLAMED.finditer(blamed.output)}
    return sorted(last, key=lambda one: (-one.seconds, one.hash))


def _follow(folder: Path, command: list[str], until: float) -> Shapings:
    """Return git's output about some lines until a deadline."""
    found = _ask(folder, command, max(0.0, until - time.monotonic()))
    return Shapings(list(_parse(found.output)), found.is_cut, found.has_failed)


class _Output(NamedTuple):
    """git's output, whether time ran out, and whether git failed."""

    output: bytes
    is_cut: bool
    has_failed: bool = False


def _ask(folder: Path, arguments: list[str], seconds: float) -> _Output:
    """Return what git prints within some time."""
    try:
        process = start_git(folder, arguments, seconds=seconds)
    except (OSError, PathError):
        return _Output(b"", is_cut=True)
    with process:
        try:
            return _read_until(process, time.monotonic() + seconds)
        finally:
            end_git(process)


def lines_of(content: bytes) -> list[bytes]:
    """Return lines in UTF-8 and without line endings, since git may convert either."""
    lines = [line.rstrip(b"\r") for line in normalize(content).split(b"\n")]
    return lines if lines[-1] else lines[:-1]


def _read_until(process: subprocess.Popen[bytes], deadline: float) -> _Output:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    pieces: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(max(0.0, deadline - time.monotonic())):
            piece = os.read(process.stdout.fileno(), _PIECE_BYTES)
            if not piece:
                status = _wait_for(process)
                return _Output(b"".join(pieces), is_cut=status < 0, has_failed=status > 0)
            pieces.append(piece)
    return _Output(b"".join(pieces), is_cut=True)


def _wait_for(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status of git after its output; negative if it was killed or does not exit."""
    try:
        return process.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        return -1


def _parse(output: bytes) -> Iterator[Shaping]:
    for line in output.splitlines():
        if match := _LINE.fullmatch(line):
            yield Shaping(match[1].decode(), max(0, int(match[2])))
