"""What is to be said of an answer from the history: what was not read, what does not count, and where to look else."""

from __future__ import annotations

import shlex
from pathlib import Path, PurePosixPath

from cairn.hints import Hint
from cairn.history.messages import MAX_FILES
from cairn.history.past import Past
from cairn.source.commits import is_partial
from cairn.source.git import Repository


def notes_without_past(repository: Repository | None, head: str) -> tuple[str, ...]:
    """Return why there is no history.

    Args:
        repository: the checkout, None outside git.
        head: the commit that is checked out, empty if there is none.
    """
    if repository is None:
        return ("There is no git repository here, so there is no history.",)
    return (Hint("No commits were read yet; read them", "index"),) if head else ("Nothing is committed yet.",)


def notes_on(past: Past, repository: Repository | None, tip: str) -> tuple[str, ...]:
    """Return what a history lacks of what is behind a commit.

    Args:
        past: the history.
        repository: the checkout, None outside git.
        tip: the commit that is checked out, empty if there is none.
    """
    notes: list[str] = []
    if tip and past.extent.tip != tip:
        words = f"This is the history of {past.extent.tip[:12]}, and {tip[:12]} is checked out; to read the rest"
        notes.append(Hint(words, "index"))
    elif past.extent.read < past.extent.listed and not past.extent.is_cut:
        words = f"{past.extent.read:,} of {past.extent.listed:,} commits were read so far; to go on"
        notes.append(Hint(words, "index"))
    if past.extent.boundary:
        notes.append("This clone is shallow: older commits are not here. To get them: git fetch --unshallow")
    if past.extent.read and not len(past) and repository is not None and is_partial(repository):
        notes.append(
            "This clone is partial and lacks the folders of its commits: which files they changed is not known."
        )
    if past.extent.is_cut:
        notes.append("git cannot read all commits; to see why: git fsck")
    return tuple(notes)


def not_counted(past: Past, path: str) -> str:
    """Return a note on what counts for nothing, or was not looked at, for an answer without commits.

    Args:
        past: the history.
        path: of which commits were looked for, if any.
    """
    extent = past.extent
    if not path.isprintable():
        return "Not counted: paths with characters that cannot be printed."
    older = f", and all but the newest {extent.limit:,} commits" if extent.listed >= extent.limit > 0 else ""
    return (
        "Not counted: merges, reverts, releases, first commits, what programs committed, and commits of more than "
        f"{MAX_FILES} files{older}."
    )


def another_repository(top: Path, path: str) -> str:
    """Return a note if a file is not in the checkout's repository but in one inside it, else nothing.

    Args:
        top: of the checkout.
        path: of the file, from there.
    """
    for folder in reversed(PurePosixPath(path).parents[:-1]):
        if (top / folder / ".git").exists():
            return f"{path} is in a repository of its own, {folder}."
    return ""


def git_failed(path: str, first: int, last: int) -> str:
    """Return a note for lines whose commits git could not follow to the end."""
    command = shlex.join(["git", "log", f"-L{first},{last}:{path}"])
    return f"git ended with an error, so there may be other commits; to see why: {command}"
