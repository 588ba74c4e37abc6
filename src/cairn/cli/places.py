"""Paths as people give them, who stand in a folder of the project: as the project has them, and back."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from cairn.errors import PathError
from cairn.hints import Hint
from cairn.registry import enclosing_root, real_folder

# Compiled at their first use: start-up time.
_FROM_HERE = r"\.{1,2}(/|$)|/"
_WILDCARD = r"[*?\[]"


class Standpoint:
    """The folder in which somebody stands: that of -C, by default the current one.

    The project is only looked for where a path has to be found.

    Args:
        project: the folder.
        is_elsewhere: paths are those of another project, which may not be on this machine.
    """

    def __init__(self, project: str, *, is_elsewhere: bool = False) -> None:
        self._project = project
        self._is_elsewhere = is_elsewhere

    @cached_property
    def folder(self) -> str:
        """Where it is."""
        return real_folder(self._project)

    @cached_property
    def _root(self) -> str:
        return enclosing_root(self._project) or self.folder

    @cached_property
    def inside(self) -> str:
        """The same, relative to the project's root; empty for the root itself."""
        return "" if self._is_elsewhere or self._root == self.folder else os.path.relpath(self.folder, self._root)

    def globs(self, globs: Sequence[str]) -> list[str]:
        """Return the globs of a search, relative to the root of the project.

        `.`, `..` and what begins with `./`, `../` or `/` are paths from here, and so is what exists here. Any other
        glob counts everywhere, as the search has it.

        Raises:
            PathError: for a path outside the project.
        """
        if self._is_elsewhere:
            return list(globs)
        return [f"!{self._glob(glob[1:])}" if glob.startswith("!") else self._glob(glob) for glob in globs]

    def _glob(self, glob: str) -> str:
        is_from_here = bool(re.match(_FROM_HERE, glob))
        exists = (bool(self.inside) or is_from_here) and os.path.lexists(os.path.join(self.folder, glob))
        if not exists and not is_from_here:
            return glob
        wildcard = None if exists else re.search(_WILDCARD, glob)
        # The folders in front of the first wildcard are a path; only what follows is a pattern.
        above = glob[: glob.rfind("/", 0, wildcard.start()) + 1] if wildcard else glob
        path = os.path.relpath(os.path.join(self.folder, above), self._root)
        if path == os.pardir or path.startswith(os.path.join(os.pardir, "")):
            raise PathError(
                f"{glob} is outside the project", Hint("look into another project", "search", query=None, project=None)
            )
        pattern = glob[len(above) :] or ("**" if os.path.isdir(os.path.join(self._root, path)) else "")
        return "/".join(filter(None, ("" if path == os.curdir else re.sub(_WILDCARD, r"[\g<0>]", path), pattern)))

    def file(self, file: str) -> str:
        """Return a file here as its path, if it exists; any other is relative to the root of the project."""
        near = os.path.join(self.folder, file)
        return near if not self._is_elsewhere and os.path.exists(near) else file

    def place(self, text: str) -> str:
        """Return a place or a symbol, such as `PATH:NAME` or `PATH#LINE`, with the path of a file here from the root.

        What begins with no such path stays as it is.
        """
        for path in _beginnings(text) if self.inside else ():
            near = os.path.join(self.folder, path)
            if os.path.isfile(near):
                return os.path.relpath(near, self._root) + text[len(path) :]
        return text

    def past_place(self, text: str) -> str:
        """Return the same for a place in the history, which may also be a folder, or a path from here that is gone."""
        if self.inside and (re.match(_FROM_HERE, text) or os.path.isdir(os.path.join(self.folder, text))):
            path = os.path.relpath(os.path.join(self.folder, text), self._root)
            if path != os.pardir and not path.startswith(os.path.join(os.pardir, "")):
                return path
        return self.place(text)

    def show(self, path: str) -> str:
        """Return a path of the project as it is from here."""
        return os.path.relpath(path, self.inside) if self.inside else path


def standpoint_of(options: argparse.Namespace) -> Standpoint:
    """Return where a command stands; one that names another project says its paths from the root of that."""
    return Standpoint(options.project, is_elsewhere=getattr(options, "among", None) is not None)


def _beginnings(text: str) -> Iterator[str]:
    """Yield what of a text may be a path, the longest first."""
    yield text
    for match in reversed(list(re.finditer(r"(?<=.)[:#]", text))):
        yield text[: match.start()]
