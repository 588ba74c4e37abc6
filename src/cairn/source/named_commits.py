"""Which commits a text names: by a hash, or by the number of an issue that their messages give."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from cairn.errors import PathError
from cairn.source.plumbing import GitStalledError, run_git

_FULL_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HASH = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
# `5096`, `#5096`, `GH-5096`, and these after a word or two, as in `Closes #5096` and `pull request #5096`.
_NUMBER = re.compile(r"(?:\d{1,9}|(?:[a-z]{1,12}:? ){0,2}(?:#|GH-)(\d{1,9}))", re.IGNORECASE)
_MAX_BYTES = 1_000_000


class Named(NamedTuple):
    """Full hashes of commits, newest first. `is_cut`: git could not look at all in time."""

    hashes: list[str]
    is_cut: bool = False


def named_commits(folder: Path, head: str, text: str, limit: int, seconds: float) -> Named:
    """Return the commits behind one that a text names and nothing else; none where it names none.

    Args:
        folder: any folder of a checkout.
        head: a full hash.
        text: such as `#5096`, `Closes #5096`, or a hash that may be cut.
        limit: how many at most.
        seconds: how long git may look.
    """
    if not _FULL_HASH.fullmatch(head):
        return Named([])
    try:
        if _HASH.fullmatch(text) and (one := _with_hash(folder, text.lower(), seconds)):
            return Named([one])
        number = _NUMBER.fullmatch(text)
        return Named([]) if number is None else _with_number(folder, head, number[1] or text, limit, seconds)
    except GitStalledError:
        return Named([], is_cut=True)
    except (OSError, PathError):
        return Named([])


def _with_hash(folder: Path, text: str, seconds: float) -> str:
    """Return the full hash of a commit, empty if there is none, or more than one; a branch of that name is none."""
    arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}"]
    found = os.fsdecode(run_git(folder, arguments, seconds).stdout).split()[-1:]
    return found[0] if found and _FULL_HASH.fullmatch(found[0]) and found[0].startswith(text) else ""


def _with_number(folder: Path, head: str, number: str, limit: int, seconds: float) -> Named:
    pattern = f"(#|[Gg][Hh]-|/(issues|pull|merge_requests)/){number}([^0-9]|$)"
    arguments = ["rev-list", f"--max-count={limit}", "--extended-regexp", f"--grep={pattern}", head, "--"]
    return Named(_FULL_HASH.findall(os.fsdecode(run_git(folder, arguments, seconds, max_bytes=_MAX_BYTES).stdout)))
