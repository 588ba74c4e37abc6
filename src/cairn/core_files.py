"""`.cairn/core.yaml`: the files that everyone who works on a project should know.

People write it, too: an edit changes only the lines it is about, so comments and order survive, and a file that cannot
be read is left alone.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from cairn.errors import ConfigError, NotFoundError, PathError, StoreError
from cairn.storage.lock import file_lock
from cairn.yaml_files import compose, is_null, read_project_file, write_project_file

if TYPE_CHECKING:
    from yaml.nodes import Node, ScalarNode, SequenceNode

_LOCK_SECONDS = 10.0
_MAX_FILES = 1_000
_HINT = "correct it by hand: `files:` is a list of `- path: FILE`, each with an optional `summary:`"
_START = """\
# The files to know first, for whoever works on this project, people and agents alike. See: cairn core --help
files:
"""


class CoreFile(NamedTuple):
    """A file to know, by its path below the root, and what it is for; that may be empty."""

    path: str
    summary: str


class _Item(NamedTuple):
    """A core file and where it stands in the text."""

    file: CoreFile
    node: Node
    path_node: ScalarNode
    summary_node: ScalarNode | None


class CoreFiles:
    """The core files of one project. Each call reads them again.

    Args:
        root: the project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.file = root / ".cairn" / "core.yaml"

    def read(self) -> tuple[CoreFile, ...]:
        """Return the core files in the order of the list; none when there is no list.

        Raises:
            ConfigError: if it is damaged.
            StoreError: if it cannot be read.
        """
        return tuple(item.file for item in _parse(self._text(), self.file)[1])

    def has(self, path: str) -> bool:
        """Tell whether a path leads to a file inside the project; somebody else may have written the list."""
        try:
            at = Path(os.path.realpath(self._root / path))
            is_inside = at.is_relative_to(os.path.realpath(self._root))
            return is_inside and os.path.isfile(at)  # not if its name is too long
        except ValueError:  # a null byte, or half a character
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

        def change(text: str) -> tuple[str, CoreFile]:
            sequence, items = _parse(text, self.file)
            for item in items:
                if item.file.path == path:
                    wanted = CoreFile(path, item.file.summary if summary is None else summary)
                    return (text if wanted == item.file else _set_summary(text, item, wanted.summary)), wanted
            new = CoreFile(path, summary or "")
            return _add_item(text or _START, sequence, items, new), new

        return self._edit(change, present=True)

    def remove(self, path: str) -> tuple[CoreFile, bool]:
        """Remove a file from the list; return it, and whether it was listed.

        Raises:
            PathError, ConfigError, StoreError: as `add`.
        """
        path = self._relative(path)

        def change(text: str) -> tuple[str, CoreFile]:
            _, items = _parse(text, self.file)
            for item in items:
                if item.file.path == path:
                    return _remove_item(text, item), item.file
            return text, CoreFile(path, "")

        return self._edit(change, present=False)

    def _edit(self, change: Callable[[str], tuple[str, CoreFile]], *, present: bool) -> tuple[CoreFile, bool]:
        """Change the text under a lock. It is written only if it then says the same as before, but for the change."""
        try:
            self.file.parent.mkdir(exist_ok=True)
            is_folder = stat.S_ISDIR(os.lstat(self.file.parent).st_mode)  # not a link to one, which may lead anywhere
        except OSError as error:
            raise StoreError(f"cannot write {self.file}: {error.strerror}", "make its folder writable") from error
        if not is_folder:
            raise StoreError(f"{self.file.parent} is not a directory", f"move or remove {self.file.parent}")
        with file_lock(self.file.with_name("core.lock"), _LOCK_SECONDS):
            old = self._text()
            new, file = change(old)
            if new == old:
                return file, False
            before = [item.file for item in _parse(old, self.file)[1]]
            try:
                after = [item.file for item in _parse(new, self.file)[1]]
            except ConfigError:  # about the text that would be written
                after = []
            if _others(after, file) != _others(before, file) or (file in after) != present:
                raise ConfigError(f"{self.file} is written in a way that cannot be edited", _HINT)
            self._write(new)
            return file, True

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
            raise StoreError(f"cannot write {self.file}: {error.strerror}", "make its folder writable") from error


def _others(files: Sequence[CoreFile], file: CoreFile) -> list[CoreFile]:
    return [listed for listed in files if listed.path != file.path]


def _parse(text: str, file: Path) -> tuple[SequenceNode | None, list[_Item]]:
    """Return the list in the text, None when there is none, and its items."""
    from yaml.nodes import MappingNode, SequenceNode  # noqa: PLC0415 - start-up time: most commands need no core files

    document = compose(text, str(file))
    if document is None:
        return None, []
    if not isinstance(document, MappingNode):
        raise ConfigError(f"{file} has no `files:`", _HINT)
    lists = [value for key, value in document.value if key.value == "files"]
    if not lists and document.value:  # other keys may be beside it; without it there is probably a typo
        raise ConfigError(f"{file} has no `files:`", _HINT)
    if not lists or is_null(lists[0]):
        return None, []
    if not isinstance(lists[0], SequenceNode):
        raise ConfigError(f"{file}: `files` must be a list", _HINT)
    if len(lists[0].value) > _MAX_FILES:
        raise ConfigError(f"{file} lists more than {_MAX_FILES:,} files", _HINT)
    items: dict[str, _Item] = {}
    for node in lists[0].value:
        item = _item(node, file)
        if item.file.path in items:
            raise ConfigError(f"{file}:{node.start_mark.line + 1}: {item.file.path!r} is listed twice", _HINT)
        items[item.file.path] = item
    return lists[0], list(items.values())


def _item(node: Node, file: Path) -> _Item:
    from yaml.nodes import MappingNode, ScalarNode  # noqa: PLC0415 - as in _parse()

    where = f"{file}:{node.start_mark.line + 1}"
    if isinstance(node, ScalarNode):
        return _Item(CoreFile(_path(node, where), ""), node, node, None)
    if not isinstance(node, MappingNode):
        raise ConfigError(f"{where} must be a path, or have a `path`", _HINT)
    values = {str(key.value): value for key, value in node.value}  # other keys are left alone
    if "path" not in values:
        raise ConfigError(f"{where} has no `path`", _HINT)
    summary = values.get("summary")
    core = CoreFile(_path(values["path"], where), "" if summary is None else _scalar(summary, where))
    return _Item(core, node, values["path"], summary)


def _path(node: Node, where: str) -> str:
    path = _scalar(node, where)
    if not path:
        raise ConfigError(f"{where} has no `path`", _HINT)
    return PurePosixPath(os.path.normpath(path)).as_posix()


def _scalar(node: Node, where: str) -> str:
    if not isinstance(node.value, str):
        raise ConfigError(f"{where} must be a string", _HINT)
    return "" if is_null(node) else node.value.strip()


# -- edits of the text -------------------------------------------------------------------------------------------------


def _add_item(text: str, sequence: SequenceNode | None, items: list[_Item], new: CoreFile) -> str:
    """Return the text with a new item after the last one."""
    if sequence is not None and sequence.flow_style and items:
        raise ConfigError("a list of core files in brackets cannot be edited", _HINT)
    lines = text.splitlines(keepends=True)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += ending
    if items:
        indent = _dash_column(lines, items[-1].node)
        at = _end_line(lines, items[-1].node)
    else:
        indent, at = 2, next((n + 1 for n, line in enumerate(lines) if line.startswith("files:")), len(lines))
        if at and lines[at - 1].startswith("files:"):
            comment = re.search(r"\s+#.*", lines[at - 1].rstrip("\r\n"))
            lines[at - 1] = f"files:{comment[0] if comment else ''}{ending}"
        else:
            lines.append("files:" + ending)
            at = len(lines)
    added = [f"{' ' * indent}- path: {_yaml_string(new.path)}{ending}"]
    if new.summary:
        added.append(f"{' ' * indent}  summary: {_yaml_string(new.summary)}{ending}")
    return "".join([*lines[:at], *added, *lines[at:]])


def _set_summary(text: str, item: _Item, summary: str) -> str:
    """Return the text with another summary of an item."""
    if item.summary_node is not None:
        old = item.summary_node
        written = text[old.start_mark.index : old.end_mark.index]
        tail = "\n" if written.endswith("\n") else ""  # a block scalar ends with its line
        return text[: old.start_mark.index] + _yaml_string(summary) + tail + text[old.end_mark.index :]
    lines = text.splitlines(keepends=True)
    at = item.path_node.end_mark.line
    ending = "\r\n" if lines[0].endswith("\r\n") else "\n"
    if item.path_node is item.node:  # the path alone
        start, end = item.node.start_mark.index, item.node.end_mark.index
        indent = " " * item.node.start_mark.column
        return f"{text[:start]}path: {text[start:end]}{ending}{indent}summary: {_yaml_string(summary)}{text[end:]}"
    indent = " " * item.node.start_mark.column
    if not lines[at].endswith("\n"):
        lines[at] += ending
    lines.insert(at + 1, f"{indent}summary: {_yaml_string(summary)}{ending}")
    return "".join(lines)


def _remove_item(text: str, item: _Item) -> str:
    """Return the text without the lines of an item."""
    lines = text.splitlines(keepends=True)
    return "".join(lines[: item.node.start_mark.line] + lines[_end_line(lines, item.node) :])


def _end_line(lines: list[str], node: Node) -> int:
    """Return the line after an item; empty lines below it and comments further left are not part of it."""
    mark = node.end_mark  # on the item's last line, or where the next thing begins
    end = mark.line + (1 if mark.line < len(lines) and lines[mark.line][: mark.column].strip() else 0)
    left = node.start_mark.column
    while end > node.start_mark.line + 1:
        line = lines[end - 1].lstrip()
        if line and not (line.startswith("#") and len(lines[end - 1]) - len(line) < left):
            break
        end -= 1
    return min(end, len(lines))


def _dash_column(lines: list[str], node: Node) -> int:
    line = lines[node.start_mark.line]
    return len(line) - len(line.lstrip())


def _yaml_string(text: str) -> str:
    """Return a text as YAML on one line."""
    import yaml  # noqa: PLC0415 - as in _parse()

    style = None if text.isprintable() else '"'  # only there can a line break be written on one line
    written: str = yaml.safe_dump(
        text, width=float("inf"), allow_unicode=True, default_flow_style=True, default_style=style
    )
    return written.removesuffix("\n").removesuffix("\n...")
