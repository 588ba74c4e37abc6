"""Lines of files that are gone or have other names now: what to ask instead, by the lines that they are by now."""

from __future__ import annotations

from cairn.errors import NotFoundError, PathError
from cairn.facets.known_past import KnownPast
from cairn.facets.project_index import ProjectIndex
from cairn.facets.shaped_lines import WHY_SECONDS, FileLines, lines_named
from cairn.hints import Hint
from cairn.history.meant import Meant
from cairn.history.notes import on_choices
from cairn.history.past import Past
from cairn.source.shaping import content_in_commit, last_content, lines_in_commit
from cairn.source.walk import read_file


class FormerLines:
    """Leads from lines of files that a project had to those that it has."""

    def __init__(self, index: ProjectIndex, known: KnownPast) -> None:
        self._index = index
        self._known = known

    def error_on(self, past: Past | None, place: str) -> NotFoundError | None:
        """Return what to tell about a place, as for `why`, in a file that is not there; None if no commit knows it."""
        if past is None:
            return None
        for lines in lines_named(place):
            meant, _ = self._known.files_meant(past, lines.path)
            if meant is not None and not meant.is_folder:
                return self._error_on(past, lines, meant)
        return None

    def _error_on(self, past: Past, lines: FileLines, meant: Meant) -> NotFoundError:
        if meant.choices:
            return NotFoundError(f"there is no file {lines.path}", on_choices(lines.path, meant.choices))
        paths = self._known.answers(past).paths
        now = paths.shown(meant.numbers[0]) or self._known.moved_to(paths.last_name(meant.numbers[0]))
        if not now:
            return NotFoundError(f"{lines.path} is gone", Hint("for its commits", "history", query=meant.path))
        if now == meant.path:
            return NotFoundError(f"there is no file {lines.path}", Hint.of("why", place=_place(now, lines)))
        told = f"{lines.path} is now {now}"
        if (moved := self._lines_now(meant.path, now, lines)) is None:
            return NotFoundError(f"{told}, where {_words(lines)} cannot be told", Hint.of("history", query=now))
        last = "as it was last, is" if lines.first == lines.last else "as they were last, are"
        words = "" if moved == lines else f"{_words(lines)}, {last} {_words(moved)} there"
        return NotFoundError(told, Hint(words, "why", place=_place(now, moved)))

    def _lines_now(self, before: str, now: str, lines: FileLines) -> FileLines | None:
        """Return where lines of a file, as they were when it last had a name, are in it now; None if that is not known.

        Args:
            before: that name.
            now: the one it has now.
            lines: which, with any path.
        """
        repository, folder, head = self._index.repository, self._index.views.folder, self._known.head()
        if repository is None or not head:
            return None
        inner = f"{folder}/{before}" if folder else before
        try:
            old = content_in_commit(repository.work_tree, head, inner)
            if old is None:
                old = last_content(repository.work_tree, head, inner, WHY_SECONDS)
            new = read_file(self._index.root_on_disk, now, self._index.settings.max_file_bytes)
        except (OSError, PathError):
            return None
        found = None if old is None else lines_in_commit(new, old, lines.first, lines.last)
        return None if found is None else lines._replace(first=found.ranges[0][0], last=found.ranges[-1][1])


def _place(path: str, lines: FileLines) -> str:
    return f"{path}:{lines.first}" + (f"-{lines.last}" if lines.last > lines.first else "")


def _words(lines: FileLines) -> str:
    return f"line {lines.first}" if lines.first == lines.last else f"lines {lines.first}-{lines.last}"
