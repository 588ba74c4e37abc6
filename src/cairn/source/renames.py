"""Finds where files of a checkout went: renames between commits, and uncommitted ones."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from cairn.errors import PathError
from cairn.source.git import is_below
from cairn.source.plumbing import run_git
from cairn.source.shaping import content_in_commit
from cairn.source.walk import read_file

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_COMMITS = 50  # commits to compare with the one checked out
_TIMEOUT_S = 2.0
_MOST_BYTES = 32_000_000
_MOST_COMPARED = 100  # files to compare with one, to find the most similar
_MOST_COMPARED_BYTES = 1_000_000
_ALIKE = 0.5  # git's own threshold
# Compare contents to find renames of changed files, but at most a hundred with a hundred.
_RENAMES = [
    "-r",
    "-z",
    "-M",
    "-l100",
    "--diff-filter=R",
    "--name-status",
    "--relative",
    "--no-commit-id",
    "--no-ext-diff",
]


def find_renames(root: Path, paths: Collection[str], commits: Sequence[str], head: str) -> dict[str, str]:
    """Return the present paths of files that are no longer at their old ones, as far as git knows; none if it fails.

    Args:
        root: the project's folder.
        paths: relative to it, with slashes.
        commits: full hashes of commits with the old paths; only the first few are used.
        head: the commit that is checked out.
    """
    try:
        renamed = _between_commits(root, commits, head)
        committed = {path: renamed.get(path, path) for path in paths}
        absent = [path for path in set(committed.values()) if not os.path.lexists(root / path)]
        staged = _in_index(root, absent, head) if absent else {}
    except (OSError, PathError):
        return {}
    places = {path: staged.get(place, place) for path, place in committed.items()}
    return {path: place for path, place in places.items() if place != path and os.path.isfile(root / place)}


def _between_commits(root: Path, commits: Sequence[str], head: str) -> dict[str, str]:
    """Return {path in one of the commits: path in the one checked out}."""
    asked = [commit for commit in dict.fromkeys(commits) if _HASH.fullmatch(commit) and commit != head]
    if not asked or not _HASH.fullmatch(head):
        return {}
    lines = "".join(f"{commit}\n" for commit in asked[:_MOST_COMMITS]).encode()
    known = run_git(root, ["rev-list", "--no-walk=unsorted", "--ignore-missing", "--stdin"], _TIMEOUT_S, given=lines)
    pairs = "".join(f"{head} {commit}\n" for commit in os.fsdecode(known.stdout).split()).encode()
    result = run_git(root, ["diff-tree", "--stdin", *_RENAMES], _TIMEOUT_S, given=pairs, max_bytes=_MOST_BYTES)
    fields = os.fsdecode(result.stdout).split("\0")
    renamed: dict[str, str] = {}
    for old, new in zip(fields[1::3], fields[2::3], strict=False):
        if is_below(new):
            renamed.setdefault(old, new)
    return renamed


def _in_index(root: Path, paths: Sequence[str], head: str) -> dict[str, str]:
    """Return {path in a commit: the only other path with the same content in git's index}."""
    tree = run_git(root, ["ls-tree", "-z", head, "--", *paths], _TIMEOUT_S) if head else None
    if tree is None or tree.returncode:
        return {}
    contents = dict(_entries(tree.stdout))
    staged = run_git(root, ["ls-files", "-z", "--stage"], _TIMEOUT_S, max_bytes=_MOST_BYTES)
    wanted = set(contents.values())
    places: dict[bytes, set[str]] = {}
    for path, content in _entries(staged.stdout):
        if content in wanted and is_below(path):
            places.setdefault(content, set()).add(path)
    return {path: next(iter(now)) for path, content in contents.items() if len(now := places.get(content, set())) == 1}


def _entries(listing: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the object id of each entry of a tree or the index."""
    for entry in listing.split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        if path:
            yield os.fsdecode(path), max(facts.split(), key=len)


# -- one file with an uncommitted rename -- -----------------------------------------------------------------------


def moved_to(folder: Path, commit: str, path: str) -> str:
    """Return the present path of a file that was moved since a commit, empty if unknown.

    That is the path with the same content in git's index, or else the most similar new file.

    Args:
        folder: the top of the checkout.
        commit: the full hash of the commit that is checked out.
        path: of the file, relative to the top.
    """
    if os.path.lexists(folder / path):
        return ""
    with suppress(OSError, PathError):
        committed, staged, others = _listed(folder, commit)
        new = [name for name in (*staged, *others) if name not in committed and os.path.isfile(folder / name)]
        same = [name for name in new if name in staged and staged[name] == committed.get(path)]
        if len(same) == 1:
            return same[0]
        if (content := content_in_commit(folder, commit, path)) is not None:
            return _most_alike(content, path, same or new, lambda name: read_file(folder, name, _MOST_COMPARED_BYTES))
    return ""


def moved_from(folder: Path, commit: str, path: str) -> str:
    """Return a file's former path in a commit, the reverse of `moved_to`; empty if there is none."""
    with suppress(OSError, PathError):
        committed, staged, _ = _listed(folder, commit)
        if path in committed:
            return ""
        gone = [name for name in committed if not os.path.lexists(folder / name)]
        same = [name for name in gone if committed[name] == staged.get(path)]
        if len(same) == 1:
            return same[0]
        if gone:
            content = read_file(folder, path, _MOST_COMPARED_BYTES)
            return _most_alike(content, path, same or gone, lambda name: content_in_commit(folder, commit, name))
    return ""


def _listed(folder: Path, commit: str) -> tuple[dict[str, bytes], dict[str, bytes], list[str]]:
    """Return {path: object id} of a commit and of git's index, and the paths of untracked files."""
    if not _HASH.fullmatch(commit):
        return {}, {}, []
    tree = run_git(folder, ["ls-tree", "-r", "-z", commit], _TIMEOUT_S)
    index = run_git(folder, ["ls-files", "-z", "--stage"], _TIMEOUT_S)
    others = run_git(folder, ["ls-files", "-z", "--others", "--exclude-standard"], _TIMEOUT_S)
    return dict(_entries(tree.stdout)), dict(_entries(index.stdout)), os.fsdecode(others.stdout).split("\0")[:-1]


def _most_alike(content: bytes, path: str, names: Iterable[str], read: Callable[[str], bytes | None]) -> str:
    """Return the file most similar to a content; empty if none shares half of it, or two are equally similar.

    Files with similar names are compared first, and at most a hundred.
    """
    stem, ending = os.path.splitext(os.path.basename(path))
    by_name = sorted(names, key=lambda name: (stem not in name, not name.endswith(ending)))
    likeness: dict[str, float] = {}
    for name in filter(is_below, by_name[:_MOST_COMPARED]):
        with suppress(OSError, PathError):
            likeness[name] = _likeness(content, read(name) or b"")
    best = sorted(likeness, key=likeness.__getitem__)[-2:]
    if not best or likeness[best[-1]] < _ALIKE or (len(best) > 1 and likeness[best[0]] == likeness[best[1]]):
        return ""
    return best[-1]


def _likeness(one: bytes, other: bytes) -> float:
    """Return the share of the larger of two contents that consists of lines in both."""
    both = Counter(one.splitlines(keepends=True)) & Counter(other.splitlines(keepends=True))
    return sum(len(line) * count for line, count in both.items()) / max(len(one), len(other), 1)
