"""Where files of a checkout went: renames that git sees between commits, and those that are not committed yet."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from cairn.errors import PathError
from cairn.source.git import is_below
from cairn.source.plumbing import run_git

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_COMMITS = 50  # that are compared with what is checked out
_TIMEOUT_S = 2.0
_MOST_BYTES = 32_000_000
# Files that changed with their name are compared by content, but not more than a hundred with a hundred.
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
    """Return where some files are now that are no longer at their places, as far as git knows; none if it fails.

    Args:
        root: the project's folder.
        paths: relative to it, with slashes.
        commits: full hashes, in which the files were at these places; the first ones count.
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
    """Return {path in one of some commits: path in the one checked out}."""
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
    """Return {path in a commit: the only other path that has the same content in git's index}."""
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
