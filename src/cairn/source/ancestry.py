"""Where the branches of a repository stand, and which commits a commit has behind it."""

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
    """Return the commit of each branch, by name; one of the remote `origin` where there is no local one of its name.

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
    """Return what differs after a branch, or the one that others come from, was moved, made or deleted. Runs no git.

    Args:
        common_dir: where the repository keeps its references.
        branch: its name, as `branch_tips` says it.
    """
    names = [place + name for name in (branch, *_USUAL_DEFAULTS) for place in (_ORIGIN, _LOCAL)]
    return tuple(_stamp(common_dir / name) for name in ("packed-refs", "reftable/tables.list", *names))


def first_commit_of(folder: Path, branch: str) -> str:
    """Return the commit that a branch began at, as its reflog tells; empty if git does not know.

    Args:
        folder: any folder of the checkout.
        branch: its name.
    """
    result = run_git(folder, ["rev-list", "--walk-reflogs", _LOCAL + branch, "--"])
    return (os.fsdecode(result.stdout).split() or [""])[-1]


def default_branch(folder: Path, branches: Collection[str]) -> str:
    """Return the branch that others come from: what the remote `origin` says, else `main` or `master`; empty for none.

    Args:
        folder: any folder of the checkout.
        branches: the names of all.
    """
    result = run_git(folder, ["symbolic-ref", "--short", "--quiet", f"{_ORIGIN}HEAD"])
    told = os.fsdecode(result.stdout).strip().removeprefix("origin/")
    return printable_name(told) or next((name for name in _USUAL_DEFAULTS if name in branches), "")


def not_behind(folder: Path, commits: Sequence[str], tip: str) -> set[str]:
    """Return those of some commits that a commit does not have behind it, and which are known here.

    One that git does not know is not among them. If git fails, none are.

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
    except (OSError, ValueError):  # it is not there, or no file can have this name
        return None
    return state.st_mtime_ns, state.st_ino
