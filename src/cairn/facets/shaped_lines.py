"""Which commits shaped some lines of a file: finds the lines in the last commit, and asks git about them."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import NamedTuple

from cairn.errors import NotFoundError, PathError
from cairn.facets.known_past import KnownPast
from cairn.facets.project_index import ProjectIndex
from cairn.facets.project_paths import path_there
from cairn.hints import Hint
from cairn.history.notes import another_repository, git_failed, was_called
from cairn.source.commits import is_partial, shallow_commits
from cairn.source.shaping import content_in_commit, lines_in_commit, lines_of, shaped_by
from cairn.source.text import pluralize
from cairn.source.walk import read_file

# How long git may look for the commits that shaped some lines, and how many are shown of them at most.
WHY_SECONDS = 3.0
MOST_COMMITS = 200
_PLACE = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?", re.DOTALL)
_WITH_COLUMN = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?P<last>)(?::\d{1,9})?:?", re.DOTALL)


class FileLines(NamedTuple):
    """Some lines of a file as it is now, 1-based and inclusive."""

    path: str
    first: int
    last: int


class FoundLines(NamedTuple):
    """What shaped some lines.

    Attributes:
        lines: which.
        committed: what the file is called in the last commit.
        notes: what is to be said of that.
        hashes: of the commits, newest first.
        is_cut: there may be more commits.
    """

    lines: FileLines
    committed: str
    notes: tuple[str, ...]
    hashes: tuple[str, ...] = ()
    is_cut: bool = False


class _Committed(NamedTuple):
    """A file in the last commit: its path from the project and from the top, and its content, None if it has none."""

    path: str
    inner: str
    content: bytes | None
    notes: tuple[str, ...] = ()


class LineHistory:
    """Finds what shaped lines of a project's files."""

    def __init__(self, index: ProjectIndex, known: KnownPast) -> None:
        self._index = index
        self._known = known

    def lines_at(self, place: str) -> FileLines | None:
        """Return the lines that a text such as `PATH:LINE`, `PATH:LINE:COLUMN` or `PATH:FIRST-LAST` names.

        None if it has no such form. The path is empty if there is no such file.
        """
        found = lines_named(place)
        for lines in found:
            if path := path_there(self._index.root_on_disk, lines.path):
                return lines._replace(path=path)
        return found[-1]._replace(path="") if found else None

    def find(self, lines: FileLines) -> FoundLines:
        """Return what shaped some lines; what lies beyond the end of the file is left out.

        Raises:
            NotFoundError: if the file cannot be read, or there are no such lines.
        """
        path, link = self._without_links(lines.path)
        content = self._read(path)
        n_lines = len(lines_of(content))
        if not 0 < lines.first <= n_lines:
            hint = Hint.of("why", place=f"{path}:{n_lines}") if n_lines else Hint.of("history", query=path)
            raise NotFoundError(f"{path} has {pluralize(n_lines, 'line')}", hint)
        lines = FileLines(path, lines.first, min(lines.last, n_lines))
        found = FoundLines(lines, path, link)
        repository, head = self._index.repository, self._known.head()
        if repository is None or not head or not self._index.settings.history:
            return found
        return self._follow(found, head, self._in_commit(repository.work_tree, head, path), content)

    def _follow(self, found: FoundLines, head: str, committed: _Committed, content: bytes) -> FoundLines:
        """Return what git says of lines."""
        repository, lines, notes = self._index.repository, found.lines, [*found.notes, *committed.notes]
        assert repository is not None
        if committed.content is None:
            return found._replace(notes=tuple(notes))
        before = lines_in_commit(committed.content, content, lines.first, lines.last)
        if before is None:
            return found._replace(notes=(*notes, "These lines are not committed yet."))
        if before.n_new:
            notes.append(f"{before.n_new:,} of these {lines.last - lines.first + 1:,} lines are not committed yet.")
        top = repository.work_tree
        shaped = shaped_by(top, head, committed.inner, before.ranges, MOST_COMMITS + 1, WHY_SECONDS)
        hashes = [one.hash for one in shaped.commits][:MOST_COMMITS]
        has_more = len(shaped.commits) > MOST_COMMITS
        if has_more:
            notes.append(on_limit("shaped these lines"))
        if shaped.is_cut:
            notes.append("The time was up: there may be older commits.")
        if shaped.has_failed:
            notes.append(git_failed(lines.path, before.ranges, lacks_contents=is_partial(repository)))
        ends = sorted(shallow_commits(repository).intersection(hashes))
        notes += (f"This clone ends at {one[:12]}, which need not have changed these lines." for one in ends)
        is_cut = has_more or shaped.is_cut or shaped.has_failed
        return found._replace(hashes=tuple(hashes), committed=committed.path, is_cut=is_cut, notes=tuple(notes))

    def _in_commit(self, top: Path, head: str, path: str) -> _Committed:
        """Return a file as it is in a commit, where it may have another name."""
        folder = self._index.views.folder
        inner, moved = os.path.join(folder, path), ""
        try:
            before = content_in_commit(top, head, inner)
            if before is None and (moved := self._known.moved_from(path)):
                inner = os.path.join(folder, moved)
                before = content_in_commit(top, head, inner)
        except (OSError, PathError) as error:
            return _Committed(path, inner, None, (f"{error}.",))
        if before is None:
            missing = another_repository(top, inner) or f"{path} is not in the last commit."
            return _Committed(path, inner, None, (missing,))
        return _Committed(moved or path, inner, before, (was_called(path, moved),) if moved else ())

    def _without_links(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return the path of what a path leads to, and a note if there is a link on the way.

        Raises:
            NotFoundError: if it leads out of the project.
        """
        root = os.path.realpath(self._index.root_on_disk)
        real = os.path.relpath(os.path.realpath(os.path.join(root, path)), root)
        if real == path:
            return path, ()
        if real.startswith(os.path.join(os.pardir, "")):
            raise NotFoundError(f"{path} is a link that leads out of the project", Hint.of("history", query=path))
        return real, (f"{path} is a link to {real}.",)

    def _read(self, path: str) -> bytes:
        limit = self._index.settings.max_file_bytes
        try:
            return read_file(self._index.root_on_disk, path, limit)
        except OSError as error:
            if os.path.isdir(self._index.root_on_disk / path):
                raise NotFoundError(
                    f"{path} is a folder; name a line of a file", Hint.of("history", query=path)
                ) from error
            reason = error.strerror
            if error.errno == errno.EFBIG:
                reason = f"it is larger than {limit:,} bytes, which is the setting max_file_bytes"
            raise NotFoundError(f"{path} cannot be read: {reason}", Hint.of("history", query=path)) from error


def on_limit(what: str) -> str:
    """Return a note that more commits did something than are shown."""
    return f"Only the newest {MOST_COMMITS:,} commits that {what} were looked for: there are older ones."


def lines_named(place: str) -> list[FileLines]:
    """Return the lines that a text may name, in whatever file: the number at its end may be that of a column."""
    return [_lines(match) for form in (_PLACE, _WITH_COLUMN) if (match := form.fullmatch(place))]


def _lines(match: re.Match[str]) -> FileLines:
    first, last = sorted((int(match["first"]), int(match["last"] or match["first"])))
    return FileLines(match["path"], first, last)
