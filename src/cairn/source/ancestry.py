"""Finds the tips of branches, and which commits are ancestors of another."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from cairn.source.git import printable_name
from cairn.source.plumbing import run_git

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_USUAL_DEFAULTS = ("main", "master")
_LOCAL, _ORIGIN = "refs/heads/", "refs/remotes/origin/"


def branch_tips(folder: Path) -> dict[str, str]:
    """Return the commit of each branch by name; branches of `origin` are included if no local one has their name.

    Args:
        folder: any folder of a checkout.
    """
    result = run_git(folder, ["for-each-ref", "--format=%(objectname) %(refname)", _ORIGIN, _LOCAL])
    tips: dict[str, str] = {}
    for place in (_ORIGIN, _LOCAL):
        for line in os.fsdecode(result.stdout).splitlines():
            commit, _, name = line.partition(" ")
            if name.startswith(place):
                tips[printable_name(name.removeprefix(place))] = commit
    return tips


def branch_stamp(common_dir: Path, branch: str) -> tuple[object, ...]:
    """Return a value that changes when a branch or the default branch is moved, created or deleted. Runs no git.

    Args:
        common_dir: where the repository keeps its references.
        branch: its name, as from `branch_tips`.
    """
    names = [place + name for name in (branch, *_USUAL_DEFAULTS) for place in (_ORIGIN, _LOCAL)]
    return tuple(_stamp(common_dir / name) for name in ("packed-refs", "reftable/tables.list", *names))


def first_commit_of(folder: Path, branch: str) -> str:
    """Return the first commit in a branch's reflog, empty if git does not know.

    Args:
        folder: any folder of the checkout.
        branch: its name.
    """
    result = run_git(folder, ["rev-list", "--walk-reflogs", _LOCAL + branch, "--"])
    return (os.fsdecode(result.stdout).split() or [""])[-1]


def default_branch(folder: Path, branches: Collection[str]) -> str:
    """Return the default branch: what the remote `origin` says, else `main` or `master`; empty for none.

    Args:
        folder: any folder of the checkout.
        branches: the names of all branches.
    """
    result = run_git(folder, ["symbolic-ref", "--short", "--quiet", f"{_ORIGIN}HEAD"])
    told = os.fsdecode(result.stdout).strip().removeprefix("origin/")
    return printable_name(told) or next((name for name in _USUAL_DEFAULTS if name in branches), "")


def not_behind(folder: Path, commits: Sequence[str], tip: str) -> set[str]:
    """Return those commits that are not ancestors of `tip` and are known here.

    Commits that git does not know are left out. If git fails, all are.

    Args:
        folder: any folder of the checkout.
        commits: full hashes; anything else is left out.
        tip: a full hash.
    """
    asked = [commit for commit in dict.fromkeys(commits) if _HASH.fullmatch(commit) and commit != tip]
    if not asked or not _HASH.fullmatch(tip):
        return set()
    lines = "".join(f"{line}\n" for line in [*asked, f"^{tip}"])
    result = run_git(folder, ["rev-list", "--ignore-missing", "--stdin"], given=lines.encode())
    return set(asked).intersection(os.fsdecode(result.stdout).split())


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except (OSError, ValueError):  # missing, or not a valid file name
        return None
    return state.st_mtime_ns, state.st_ino
