"""`.cairn/core.yaml`: the files that everyone who works on a project should know.

People edit it too, so a change only touches the bytes concerned: comments and order survive, and an unreadable file is
left alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from cairn.errors import ConfigError, NotFoundError, PathError, StoreError
from cairn.loading import load
from cairn.storage.lock import file_lock
from cairn.yaml_files import compose, is_null, not_written, read_project_file, write_project_file

if TYPE_CHECKING:
    from yaml.nodes import Node

    from cairn.documents.document import Document

_LOCK_SECONDS = 10.0
_MAX_FILES = 1_000
_HINT = "correct it by hand: `files:` is a list of `- path: FILE`, each with an optional `summary:`"
_START = """\
# The files to know first, for whoever works on this project, people and agents alike. See: cairn core --help
"""


class CoreFile(NamedTuple):
    """A file to know, by its path below the root, and its purpose, which may be empty."""

    path: str
    summary: str


class CoreFiles:
    """The core files of one project. Each call reads them again.

    Args:
        root: the project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.file = root / ".cairn" / "core.yaml"

    def read(self) -> tuple[CoreFile, ...]:
        """Return the core files in the order of the list; none if there is no list.

        Raises:
            ConfigError: if it is damaged.
            StoreError: if it cannot be read.
        """
        return _parse(self._text(), self.file)

    def has(self, path: str) -> bool:
        """Tell whether a path is a file inside the project, since somebody else may have written the list."""
        try:
            at = Path(os.path.realpath(self._root / path))
            is_inside = at.is_relative_to(os.path.realpath(self._root))
            return is_inside and os.path.isfile(at)  # not if its name is too long
        except ValueError:  # a null byte, or half a surrogate pair
            return False

    def add(self, path: str, summary: str | None = None) -> tuple[CoreFile, bool]:
        """Add a file, or change the summary of a listed one; return it, and whether anything changed.

        Args:
            path: below the root, or absolute.
            summary: what the file is for; None leaves it as it is.

        Raises:
            NotFoundError: if there is no such file.
            PathError: if it is outside the root, also by a link.
            ConfigError, StoreError: as `read`, or if the list cannot be edited or written.
        """
        path = self._relative(path)
        if not os.path.isfile(self._root / path):
            raise NotFoundError(f"there is no file {path!r}", "name a file of the project")
        if not Path(os.path.realpath(self._root / path)).is_relative_to(os.path.realpath(self._root)):
            raise PathError(f"{path!r} leads out of {self._root}", "name a file of the project")

        def change(document: Document, files: list[CoreFile]) -> tuple[Document, CoreFile]:
            listed = next((file for file in files if file.path == path), None)
            if listed is None:
                new = CoreFile(path, summary or "")
                return document.append(("files",), _entry(new)), new
            wanted = CoreFile(path, listed.summary if summary is None else summary)
            if wanted == listed:
                return document, wanted
            at = ("files", files.index(listed))
            if isinstance(document.get(at), str):  # the path alone
                return document.set(at, _entry(wanted)), wanted
            return document.set((*at, "summary"), wanted.summary), wanted

        return self._edit(change)

    def remove(self, path: str) -> tuple[CoreFile, bool]:
        """Remove a file from the list; return it, and whether it was listed.

        Raises:
            PathError, ConfigError, StoreError: as `add`.
        """
        path = self._relative(path)

        def change(document: Document, files: list[CoreFile]) -> tuple[Document, CoreFile]:
            listed = next((file for file in files if file.path == path), None)
            if listed is None:
                return document, CoreFile(path, "")
            return document.remove(("files", files.index(listed))), listed

        return self._edit(change)

    def _edit(self, change: Callable[[Document, list[CoreFile]], tuple[Document, CoreFile]]) -> tuple[CoreFile, bool]:
        """Change the text under a lock, and write it if it differs."""
        try:
            self.file.parent.mkdir(exist_ok=True)
            is_folder = stat.S_ISDIR(os.lstat(self.file.parent).st_mode)  # not through a link, which may lead anywhere
        except OSError as error:
            raise not_written(self.file, error) from error
        if not is_folder:
            raise StoreError(f"{self.file.parent} is not a directory", f"move or remove {self.file.parent}")
        with file_lock(self.file.with_name("core.lock"), _LOCK_SECONDS, folder_variable=""):
            old = self._text()
            files = list(_parse(old, self.file))
            parse = load("cairn.documents.document:parse_document")  # start-up time: few commands edit the list
            before = parse((old or _START).encode(), "yaml", str(self.file))
            after, file = change(before, files)
            if after is not before:
                self._write(after.content.decode())
            return file, after is not before

    def _relative(self, path: str) -> str:
        at = os.path.normpath(os.path.join(self._root, path))
        below = os.path.relpath(at, self._root)
        if below == os.curdir or below.startswith(os.pardir) or os.path.isabs(below):
            raise PathError(f"{path!r} is not below {self._root}", "name a file of the project")
        return PurePosixPath(Path(below)).as_posix()

    def _text(self) -> str:
        return read_project_file(self._root, self.file.name) or ""

    def _write(self, text: str) -> None:
        try:
            write_project_file(self._root, self.file.name, text)
        except OSError as error:
            raise not_written(self.file, error) from error


def _entry(file: CoreFile) -> dict[str, str]:
    """Return a file as an entry of the list."""
    return {"path": file.path, **({"summary": file.summary} if file.summary else {})}


def _parse(text: str, file: Path) -> tuple[CoreFile, ...]:
    """Return the files that the text lists."""
    from yaml.nodes import MappingNode, SequenceNode  # noqa: PLC0415 - start-up time: most commands need no core files

    document = compose(text, str(file))
    if document is None:
        return ()
    if not isinstance(document, MappingNode):
        raise ConfigError(f"{file} has no `files:`", _HINT)
    lists = [value for key, value in document.value if key.value == "files"]
    if not lists and document.value:  # there may be other keys; without this one there is probably a typo
        raise ConfigError(f"{file} has no `files:`", _HINT)
    if not lists or is_null(lists[0]):
        return ()
    if not isinstance(lists[0], SequenceNode):
        raise ConfigError(f"{file}: `files` must be a list", _HINT)
    if len(lists[0].value) > _MAX_FILES:
        raise ConfigError(f"{file} lists more than {_MAX_FILES:,} files", _HINT)
    files: dict[str, CoreFile] = {}
    for node in lists[0].value:
        core = _core_file(node, file)
        if core.path in files:
            raise ConfigError(f"{file}:{node.start_mark.line + 1}: {core.path!r} is listed twice", _HINT)
        files[core.path] = core
    return tuple(files.values())


def _core_file(node: Node, file: Path) -> CoreFile:
    from yaml.nodes import MappingNode, ScalarNode  # noqa: PLC0415 - as in _parse()

    where = f"{file}:{node.start_mark.line + 1}"
    if isinstance(node, ScalarNode):
        return CoreFile(_path(node, where), "")
    if not isinstance(node, MappingNode):
        raise ConfigError(f"{where} must be a path, or have a `path`", _HINT)
    values = {str(key.value): value for key, value in node.value}  # other keys are left alone
    if "path" not in values:
        raise ConfigError(f"{where} has no `path`", _HINT)
    summary = values.get("summary")
    return CoreFile(_path(values["path"], where), "" if summary is None else _scalar(summary, where))


def _path(node: Node, where: str) -> str:
    path = _scalar(node, where)
    if not path:
        raise ConfigError(f"{where} has no `path`", _HINT)
    return PurePosixPath(os.path.normpath(path)).as_posix()


def _scalar(node: Node, where: str) -> str:
    if not isinstance(node.value, str):
        raise ConfigError(f"{where} must be a string", _HINT)
    return "" if is_null(node) else node.value.strip()
