"""What questions to the history are answered with: frozen values without I/O. Who made a commit is never said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cairn.source.text import pluralize

Subject = Literal["query", "file", "symbol", "lines"]


@dataclass(frozen=True, slots=True)
class PastCommit:
    """A commit: its hash, its day, the first line of what it says, and the files it changed, as they are called now.

    `omitted_files` counts those that are gone, and those beyond the first few. `relevance` is the share of the question
    that it answers.
    """

    hash: str
    date: str
    subject: str
    files: tuple[str, ...]
    omitted_files: int
    relevance: float


@dataclass(frozen=True, slots=True)
class PastFile:
    """A file that commits of an answer changed, and how many of them did."""

    path: str
    commits: int
    relevance: float


@dataclass(frozen=True, slots=True)
class Solved:
    """Which commits and files solved something like a question, or shaped a file, a definition or lines; best first.

    `subject` is what the question was taken for. `files` are those of all commits that were found, `omitted` the number
    of those that are left out; `is_cut` says that there may be more. Of `listed` commits `read` are known by now.
    """

    query: str
    subject: Subject
    commits: tuple[PastCommit, ...]
    files: tuple[PastFile, ...]
    omitted: int
    read: int
    listed: int
    notes: tuple[str, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class RelatedFile:
    """A file that changed in the same commits as another: in how many, of how many that changed it; and how alike."""

    path: str
    together: int
    commits: int
    likeness: float


@dataclass(frozen=True, slots=True)
class RelatedFiles:
    """What changes together with a file, which `commits` commits changed."""

    path: str
    commits: int
    files: tuple[RelatedFile, ...]
    omitted: int
    read: int
    listed: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShapedLines:
    """The commits that shaped some lines of a file, newest first, with what else they changed.

    `omitted` of those that were found are left out; `is_cut` says that there may be more.
    """

    path: str
    line: int
    end_line: int
    commits: tuple[PastCommit, ...]
    omitted: int
    notes: tuple[str, ...] = ()
    is_cut: bool = False


def rest_of_files(n_shown: int, n_omitted: int) -> list[str]:
    """Return what stands behind the files of a commit for those that are not shown: one entry, or none."""
    if n_shown or not n_omitted:
        return [f"{n_omitted:,} more"] if n_omitted else []
    return [f"{pluralize(n_omitted, 'file')} that {'is' if n_omitted == 1 else 'are'} gone"]
