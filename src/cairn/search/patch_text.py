"""Reads patches in texts: what `git diff` and `git show` print, and the hunks that reviews show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

MAX_HUNKS = 50
_MARKS = "+- "
_FENCES = ("```", "~~~")

_HUNK = re.compile(r"@@ -(\d{1,7})(?:,(\d{1,7}))? \+(\d{1,7})(?:,(\d{1,7}))? @@ ?(.*)")
_QUOTED_HUNK = re.compile(r"((?:> ?){1,5}|[ \t]{1,8}|)@@ -\d")
_FILE = re.compile(r"(?:---|\+\+\+) \"?([^\t\n\"]+)")
_NO_FILE = "/dev/null"
# What git says of a file before its hunks.
_OF_FILE = re.compile(
    r"diff --git |index [0-9a-f]+\.\.[0-9a-f]+|(?:new|deleted) file mode |(?:old|new) mode |(?:dis)?similarity index "
    r"|(?:rename|copy) (?:from|to) "
)
_PATH = re.compile(r"(?<![\w./@+-])[\w@+-][\w./@+-]*\.[A-Za-z]\w{0,9}\b")
# What stands over the message of a commit: `git show` and `git log`, and a patch that was mailed.
_COMMIT = re.compile(r"commit [0-9a-f]{7,64}\b|From [0-9a-f]{40} ")
_SUBJECT = re.compile(r"Subject: (?:\[[^\]]*\] )?(.*)")
_INDENT = "    "
_PATCH = re.compile(r"diff --git |--- |@@ ")


class Hunk(NamedTuple):
    """Lines of one file that a patch changes, and those around them.

    Attributes:
        path: of the file, as the patch names it.
        old, new: the number of the first line, before and after the change.
        heading: what the patch says of what is around: mostly the line in which a function begins.
        lines: each behind its mark: `-` for one that is taken out, `+` for one that is put in, else a space.
        is_guessed: the path is what the text above names last, as in a review: the patch names none.
    """

    path: str
    old: int
    new: int
    heading: str
    lines: tuple[str, ...] = ()
    is_guessed: bool = False

    @property
    def changed(self) -> list[str]:
        """The lines that are taken out or put in, without their marks."""
        return [line[1:] for line in self.lines if line[0] != " "]

    def side(self, mark: str) -> list[str]:
        """Return the lines as they were before the change (`-`) or are after it (`+`), without their marks."""
        return [line[1:] for line in self.lines if line[0] in (mark, " ")]


class PatchText(NamedTuple):
    """A text without what git says around changes: its lines, those of hunks as blocks of code, and its hunks."""

    lines: list[str]
    hunks: tuple[Hunk, ...]


def read_patches(lines: Sequence[str]) -> PatchText:
    """Return a text with its patches read; the lines of a text without any are as given."""
    marks = [found[1] for line in lines if "@@ -" in line and (found := _QUOTED_HUNK.match(line))]
    if not marks:
        return PatchText(list(lines), ())
    mark = min(marks, key=len)  # of a mail that quotes the patch, or of a text that indents it
    plain = [line.removeprefix(mark) if line.startswith(mark) else line.removeprefix(mark.rstrip()) for line in lines]
    reader = _PatchReader()
    for line in _without_commit(plain if mark else lines):
        reader.add(line)
    return reader.end()


class _PatchReader:
    """Takes one line of a text after the other."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._above: list[str] = []  # what stands between the last hunk and the next one
        self._hunks: list[Hunk] = []
        self._path = ""
        self._lines: list[str] = []  # of the hunk that is being read
        self._left = [0, 0]  # lines of it that are still to come, before and after the change
        self._is_in_block = False

    def add(self, line: str) -> None:
        """Take the next line."""
        if any(self._left) and (line == "" or line[0] in _MARKS):
            self._take(line or " ")
        elif self._lines and line.startswith("\\ "):
            return  # `\ No newline at end of file`
        elif (begin := _HUNK.match(line)) is not None:
            self._begin(begin)
        else:
            self._left = [0, 0]
            self._take_other(line)

    def end(self) -> PatchText:
        """Return the whole text, once all lines were taken."""
        self._finish()
        return PatchText(self._text, tuple(hunk for hunk in self._hunks if hunk.path and hunk.lines)[:MAX_HUNKS])

    def _begin(self, begin: re.Match[str]) -> None:
        self._finish()
        old, n_old, new, n_new, heading = begin.groups()
        self._left = [int(n_old or 1), int(n_new or 1)]
        path = self._path or self._named_above()
        self._hunks.append(Hunk(path, int(old), int(new), heading.strip(), is_guessed=not self._path))
        self._above = []

    def _take(self, line: str) -> None:
        self._lines.append(line)
        self._left = [max(0, left - (line[0] in (mark, " "))) for left, mark in zip(self._left, "-+", strict=True)]

    def _take_other(self, line: str) -> None:
        self._finish()
        if (file := _FILE.match(line)) is not None:
            self._path = self._path if file[1] == _NO_FILE else file[1]
        elif line.startswith("diff --git "):
            self._path = ""
        elif not _OF_FILE.match(line):
            self._is_in_block ^= line.lstrip(" >").startswith(_FENCES)
            self._text.append(line)
            self._above.append(line)

    def _finish(self) -> None:
        """Put the hunk that was read into the text, as a block of code."""
        if self._lines:
            self._hunks[-1] = self._hunks[-1]._replace(lines=tuple(self._lines))
            if not self._hunks[-1].changed:  # it is no hunk, or has its marks within the lines
                self._hunks.pop()
            begin, end = ([], []) if self._is_in_block else (["```diff"], ["```"])
            self._text += [*begin, *(line[1:] for line in self._lines), *end]
        self._lines = []

    def _named_above(self) -> str:
        """Return the path that the text names last before a hunk, or that of the hunk before: a review has no other."""
        for line in reversed(self._above):
            if found := _PATH.findall(line):
                return str(found[-1])
        return self._hunks[-1].path if self._hunks else ""


def _without_commit(lines: Sequence[str]) -> list[str]:
    """Return the lines without what git says of a commit over its message, which `git show` indents."""
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if not _COMMIT.match(lines[first]):
        return list(lines)
    end = next((number for number in range(first, len(lines)) if not lines[number].strip()), len(lines))
    subjects = [found[1] for line in lines[first:end] if (found := _SUBJECT.match(line))]
    patch = next((number for number in range(end, len(lines)) if _PATCH.match(lines[number])), len(lines))
    return [*subjects, *(line.removeprefix(_INDENT) for line in lines[end:patch]), *lines[patch:]]
