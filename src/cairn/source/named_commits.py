"""Finds the commits that a text names: by hash, or by an issue number in their messages."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from cairn.errors import PathError
from cairn.source.plumbing import GitStalledError, run_git

_FULL_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HASH = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
# `5096`, `#5096` and `GH-5096`, also after a word or two, as in `Closes #5096` and `pull request #5096`.
_NUMBER = re.compile(r"(?:\d{1,9}|(?:[a-z]{1,12}:? ){0,2}(?:#|GH-)(\d{1,9}))", re.IGNORECASE)
# A number at either end of a subject: `[Fix #12436] Do it`, `Fixes GH-12436: do it`, `Do it (#12436)`.
_FIRST_NUMBER = re.compile(r"[\[(]?(?:[a-z]{1,12}:? )?(?:#|GH-)(\d{1,9})(?!\w)", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"\((?:#|GH-)(\d{1,9})\)$", re.IGNORECASE)
_MAX_BYTES = 1_000_000


class Named(NamedTuple):
    """Full hashes of commits, newest first.

    `is_cut`: git ran out of time. `is_aside`: the commit that a hash names is not an ancestor of the given one.
    """

    hashes: list[str]
    is_cut: bool = False
    is_aside: bool = False


def named_commits(folder: Path, head: str, text: str, limit: int, seconds: float) -> Named:
    """Return the ancestors of a commit that a text names, if it says nothing else.

    Args:
        folder: any folder of a checkout.
        head: a full hash.
        text: such as `#5096`, `Closes #5096`, or a full or short hash.
        limit: how many at most.
        seconds: how long git may look.
    """
    if not _FULL_HASH.fullmatch(head):
        return Named([])
    try:
        if _HASH.fullmatch(text) and (one := _with_hash(folder, text.lower(), seconds)):
            return Named([one], is_aside=not _is_behind(folder, head, one, seconds))
        number = _NUMBER.fullmatch(text)
        return Named([]) if number is None else _with_number(folder, head, number[1] or text, limit, seconds)
    except GitStalledError:
        return Named([], is_cut=True)
    except (OSError, PathError):
        return Named([])


def numbered_commits(folder: Path, head: str, subject: str, limit: int, seconds: float) -> list[str]:
    """Return the ancestors of a commit with the issue number of a subject, newest first; none without a number.

    Args:
        folder, head, limit, seconds: as for `named_commits`.
        subject: such as `[Fix #12436] Do it` or `Do it (#12436)`.
    """
    number = None if "\n" in subject else _FIRST_NUMBER.match(subject) or _LAST_NUMBER.search(subject)
    if number is None or not _FULL_HASH.fullmatch(head):
        return []
    try:
        return _with_number(folder, head, number[1], limit, seconds).hashes
    except (OSError, PathError):  # also raised if git is too slow
        return []


def merged_by(folder: Path, commit: str, limit: int, seconds: float) -> list[str]:
    """Return the commits that a merge without changes of its own brought in, newest first.

    For any other commit, or if git cannot tell, there are none.

    Args:
        folder, limit, seconds: as for `named_commits`.
        commit: a full hash.
    """
    try:
        own = run_git(folder, ["diff-tree", "-c", "-r", "--root", "--name-only", "--no-commit-id", commit], seconds)
        if own.stdout or own.returncode:
            return []
        merged = ["rev-list", "--no-merges", f"--max-count={limit}", commit, f"^{commit}^1", "--"]
        found = _FULL_HASH.findall(os.fsdecode(run_git(folder, merged, seconds).stdout))
    except (OSError, PathError):
        return []
    return [one for one in found if one != commit]


def _is_behind(folder: Path, head: str, commit: str, seconds: float) -> bool:
    """Tell whether a commit is another or an ancestor of it."""
    listed = run_git(folder, ["rev-list", "--max-count=1", commit, f"^{head}", "--"], seconds)
    return not listed.stdout


def _with_hash(folder: Path, text: str, seconds: float) -> str:
    """Return the full hash of a commit, empty unless exactly one matches; a branch of that name does not count."""
    arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}"]
    found = os.fsdecode(run_git(folder, arguments, seconds).stdout).split()[-1:]
    return found[0] if found and _FULL_HASH.fullmatch(found[0]) and found[0].startswith(text) else ""


def _with_number(folder: Path, head: str, number: str, limit: int, seconds: float) -> Named:
    pattern = f"(#|[Gg][Hh]-|/(issues|pull|merge_requests)/){number}([^0-9]|$)"
    arguments = ["rev-list", f"--max-count={limit}", "--extended-regexp", f"--grep={pattern}", head, "--"]
    return Named(_FULL_HASH.findall(os.fsdecode(run_git(folder, arguments, seconds, max_bytes=_MAX_BYTES).stdout)))
