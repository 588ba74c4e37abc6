"""What is to be said of an answer from the history: what was not read, what does not count, and where to look else."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from cairn.hints import Hint
from cairn.history.messages import MAX_FILES
from cairn.history.past import Past
from cairn.source.commits import is_partial
from cairn.source.git import Repository
from cairn.source.plumbing import is_installed

_MOST_CHOICES = 4  # files that a path may mean, which are named
ON_DOUBTFUL = (
    "This clone lacks older contents: a file that was renamed and edited at once may have other commits from before."
)
_ON_PARTIAL_WITHOUT_FOLDERS = (
    "This clone is partial and lacks the folders of its commits: which files they changed is not known."
)


def notes_without_past(repository: Repository | None, head: str) -> tuple[str, ...]:
    """Return why there is no history.

    Args:
        repository: the checkout, None outside git.
        head: the commit that is checked out, empty if there is none.
    """
    if repository is None and not is_installed():
        return ("git is not installed, so there is no history. Install it, or add it to the PATH.",)
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
        notes.append(_ON_PARTIAL_WITHOUT_FOLDERS)
    if past.extent.listed >= past.extent.limit > 0:
        notes.append(
            f"Only the newest {past.extent.limit:,} commits are read, which is the setting history_commits; there may "
            "be older ones."
        )
    if past.extent.is_cut:
        notes.append("git cannot read all commits; to see why: git fsck")
    return tuple(notes)


def not_counted(path: str) -> str:
    """Return a note on what counts for nothing, for an answer without commits.

    Args:
        path: of which commits were looked for, if any.
    """
    if not path.isprintable():
        return "Not counted: paths with characters that cannot be printed."
    return (
        "Not counted: merges, reverts, releases, first commits, what programs committed, and commits of more than "
        f"{MAX_FILES} files."
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


def git_failed(path: str, lines: Sequence[tuple[int, int]], *, lacks_contents: bool) -> str:
    """Return a note for lines whose commits git could not follow to the end.

    Args:
        path: of the file.
        lines: the first and the last of each range.
        lacks_contents: whether the clone may lack what git needs for that.
    """
    command = shlex.join(["git", "log", *(f"-L{first},{last}:{path}" for first, last in lines)])
    if lacks_contents:
        return (
            "This clone is partial and lacks older contents of its files, so there may be other commits; this fetches "
            f"them: {command}"
        )
    return f"git ended with an error, so there may be other commits; to see why: {command}"


def was_called(path: str, moved: str) -> str:
    """Return a note for a file that was moved and not committed yet."""
    return f"{path} was {moved} in the last commit."


def on_choices(path: str, choices: Sequence[str], action: str = "history", field: str = "query") -> Hint:
    """Return which files a path may mean, and how to ask for one of them: by which action, and its field."""
    named, rest = choices[:_MOST_CHOICES], len(choices) - _MOST_CHOICES
    last = f"{rest:,} more" if rest > 0 else named[-1]
    others = named if rest > 0 else named[:-1]
    return Hint(f"{path} may mean {', '.join(others)} or {last}; for one of them", action, **{field: choices[0]})


def no_such_file(path: str, *, has_words: bool) -> str:
    """Return a note for a path that nothing is known of, and whether there is an answer for its words."""
    rest = "; these have its words" if has_words else ""
    return f"There is no file {path} here, and no commit that counts changed one{rest}."
