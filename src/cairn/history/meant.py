"""Resolves a path to files of a history: by their present name, a former one, or the end of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from cairn.history.past import Past

# Text that can only be a path, and text that may be a file name.
PATH_ALONE = re.compile(r"[^\s/]*(?:/[^\s/]+)+/?|[^\s/]+/")
_FILE_NAME = re.compile(r"[^\s/]+\.\w+")


class Meant(NamedTuple):
    """The meaning of a path.

    Attributes:
        numbers: of the files.
        is_folder: whether it is the path of a folder.
        note: a remark for the reader.
        choices: the candidates, if it is ambiguous; then there are no numbers.
        path: of a single file, the one that the text means: its present or a former one.
    """

    numbers: list[int]
    is_folder: bool = False
    note: str = ""
    choices: tuple[str, ...] = ()
    path: str = ""


class PathsOfPast:
    """The paths of a history, relative to a project's folder.

    Args:
        past: the history.
        folder: as for `PastAnswers`.
        exists: tells whether a path exists in the project.
    """

    def __init__(self, past: Past, folder: str, exists: Callable[[str], bool]) -> None:
        self._past = past
        self._folder = folder
        self._exists = exists

    def meant_by(self, path: str, *, is_path: bool = False) -> Meant | None:
        """Return the meaning of a path, None if no commit with weight changed such a file.

        Deleted folders and ends of paths must look like paths, since any other text may be meant as words.

        Args:
            path: relative to the project's folder, which is `.`.
            is_path: whether it must be a path, however it looks.
        """
        own = "" if path == "." else path.rstrip("/")
        if found := self._file(own):
            return found
        is_there = self._exists(own or ".")
        is_path = is_path or PATH_ALONE.fullmatch(path) is not None
        if (is_there or is_path) and (found := self._in_folder(own, is_there=is_there)):
            return found
        return self._ending_with(own) if not is_there and (is_path or _FILE_NAME.fullmatch(path)) else None

    def shown(self, number: int) -> str:
        """Return the path of a file relative to the project's folder, empty if it is outside or gone."""
        own = self.last_name(number)
        return own if own and self._exists(own) else ""

    def last_name(self, number: int) -> str:
        """Return a file's last path relative to the project's folder, empty if it is outside."""
        path = self._past.path_of(number)
        return path[len(self._folder) :] if path.startswith(self._folder) else ""

    def names_of(self, path: str) -> set[str]:
        """Return a path from the top of the repository, and the file's former paths."""
        number = self._past.numbers.get(self._folder + path, -1)
        return {self._folder + path, *(one for one, now in self._past.renamed.items() if now == number)}

    def _file(self, own: str) -> Meant | None:
        past, whole = self._past, self._folder + own
        if (number := past.numbers.get(whole)) is not None:
            return Meant([number], path=own)
        if (number := past.renamed.get(whole)) is None:
            return None
        now = self.shown(number)
        note = f"{own} is now {now}." if now else f"{own} had another name before it was deleted."
        return Meant([number], note=note, path=own)

    def _in_folder(self, own: str, *, is_there: bool) -> Meant | None:
        """Return the files of a folder; for a deleted one, including files that were moved elsewhere."""
        within = f"{self._folder}{own}/" if own else self._folder
        found = _below(within, self._past.numbers.items())
        moved = [] if is_there and found else sorted(set(_below(within, self._past.renamed.items())).difference(found))
        example = next(filter(None, map(self.shown, moved)), "")
        note = f"Files of {own} have other names now, such as {example}." if example else ""
        return Meant([*found, *moved], True, note) if found or moved else None

    def _ending_with(self, own: str) -> Meant | None:
        """Return the file with a present or former path that ends like this; if there are several, the candidates."""
        known = (*self._past.renamed.items(), *self._past.numbers.items())  # the last name of a file counts
        named = {number: path for path, number in known if path.endswith(f"/{own}") and path.startswith(self._folder)}
        paths = sorted(path[len(self._folder) :] for path in named.values())
        if len(paths) != 1:
            return Meant([], choices=tuple(paths)) if paths else None
        found = self._file(paths[0])
        return found and found._replace(note=found.note or f"This is about {paths[0]}.")


def _below(within: str, known: Iterable[tuple[str, int]]) -> list[int]:
    return [number for path, number in known if path.startswith(within)]
