"""Reads small, untrusted YAML files: bounded in size, depth and time, each value with its line.

Features that settings do not need are refused: tags, aliases of anything but strings, several documents, keys that are
not strings. So a file means what it appears to say, and cannot expand when it is read.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.errors import ConfigError, StoreError, is_disk_full
from cairn.setting import Entry, printable_name
from cairn.storage.atomic import write_file

if TYPE_CHECKING:
    from yaml import YAMLError
    from yaml.error import Mark
    from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_BYTES = 1_000_000
MAX_DEPTH = 20
MAX_TOKENS = 40_000  # half a second's work
_NULLS = ("", "~", "null", "Null", "NULL")
_TEXT_TAG, _NULL_TAG = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null"
# Text of the file quoted in a message, except a single character or a kind of token: `'<scalar>'`.
_QUOTED = r"\s*(?:'(?!<)[^']{2,}'|\"[^\"]{2,}\")"


# -- files -------------------------------------------------------------------------------------------------------------


def read_user_file(file: Path) -> str | None:
    """Return the text of one of the user's own files, which may be a link; None if there is none.

    Raises:
        ConfigError: if it is not a regular file, larger than 1 MB, not valid UTF-8, or cannot be read.
    """
    data = read_user_bytes(file, MAX_BYTES)
    return None if data is None else _decoded(data, file)


def read_user_bytes(file: Path, max_bytes: int) -> bytes | None:
    """Return the content of one of the user's own files, which may be a link; None if there is none.

    Raises:
        ConfigError: if it is not a regular file, larger than `max_bytes`, or cannot be read.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | _NO_WAITING)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from None
    return _read(descriptor, file, max_bytes)


def read_project_file(root: Path, name: str) -> str | None:
    """Return the text of a file in a project's `.cairn`, without following links; None if there is none.

    Raises:
        ConfigError: as `read_user_file`, and if the file is a link. A `.cairn` that is not a directory has no files.
    """
    file = root / ".cairn" / name
    try:
        if not stat.S_ISDIR(os.lstat(file.parent).st_mode):
            return None
        kind = os.lstat(file).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from None
    _check_kind(kind, file)  # checked first, because even opening can affect a device
    try:
        folder = os.open(file.parent, os.O_RDONLY | _FOLDER | _NO_LINK) if _BY_FOLDER else None
        try:
            descriptor = os.open(
                name if folder is not None else file, os.O_RDONLY | _NO_WAITING | _NO_LINK, dir_fd=folder
            )
        finally:
            if folder is not None:
                os.close(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(file, error) from None
    return _decoded(_read(descriptor, file, MAX_BYTES), file)


def write_project_file(root: Path, name: str, text: str) -> None:
    """Replace a file in a project's `.cairn`, which must exist, atomically and without following links.

    Raises:
        OSError, UnsafeStateError: if it cannot be written, or `.cairn` is a link.
    """
    folder = root / ".cairn"
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "is not a directory", str(folder))
    write_file(folder / name, text.encode("utf-8"))


def not_written(file: Path, error: OSError) -> StoreError:
    """Return the error that says why a project's file could not be written, and what to do."""
    hint = "free some space, then run the command again" if is_disk_full(error) else "make its folder writable"
    return StoreError(f"cannot write {file}: {error.strerror}", hint)


_BY_FOLDER = os.open in os.supports_dir_fd
_NO_LINK, _FOLDER = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_DIRECTORY", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)  # a pipe without a writer


def _read(descriptor: int, file: Path, max_bytes: int) -> bytes:
    """Return the content of an open file, and close it."""
    try:
        with open(descriptor, "rb") as stream:
            _check_kind(os.fstat(descriptor).st_mode, file)
            data = stream.read(max_bytes + 1)
    except OSError as error:
        raise _unreadable(file, error) from None
    if len(data) > max_bytes:
        raise ConfigError(f"{file} is larger than {max_bytes:,} bytes", f"mend or remove {file}")
    return data


def _decoded(data: bytes, file: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}:{line} is not valid UTF-8", f"mend or remove {file}") from None


def _check_kind(mode: int, file: Path) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
    }
    kind = kinds.get(stat.S_IFMT(mode), "a device")
    raise ConfigError(f"{file} is {kind} where a regular file is needed", f"mend or remove {file}")


def _unreadable(file: Path, error: OSError | ValueError) -> ConfigError:
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return ConfigError(f"{file} is a symbolic link where a regular file is needed", f"mend or remove {file}")
    why = error.strerror if isinstance(error, OSError) else "not a path"
    return ConfigError(f"{file} cannot be read: {why}", f"mend or remove {file}")


# -- YAML --------------------------------------------------------------------------------------------------------------


def read_mapping(text: str, source: str) -> dict[str, Entry]:
    """Return the mapping in a YAML text; empty for an empty text.

    Args:
        text: YAML.
        source: the file, for messages.

    Raises:
        ConfigError: if it is not a mapping, or cannot be parsed.
    """
    node = compose(text, source)
    if node is None or is_null(node):
        return {}
    entry = _entry(node, source, numbered=True)
    if not isinstance(entry.value, dict):
        raise ConfigError(f"{entry.place}: must be `name: value` lines", f"mend or remove {source}")
    return entry.value


def read_value(text: str, source: str) -> Entry:
    """Return the value of a text, such as that of the environment variable named `source`.

    Raises:
        ConfigError: if it cannot be parsed.
    """
    node = compose(text, source)
    return Entry(None, source) if node is None else _entry(node, source, numbered=False)


def compose(text: str, source: str) -> Node | None:
    """Parse the only document of a YAML text into nodes with positions; None if it is empty.

    Scalars are tagged as null or string.

    Raises:
        ConfigError: if it is not valid YAML, or uses a refused feature (see the module). The message never repeats the
            text.
    """
    from yaml import YAMLError  # noqa: PLC0415 - start-up time: most projects have no such files

    try:
        return _Composer(text, source).document()
    except ConfigError:
        raise
    except YAMLError as error:
        raise yaml_error(error, text, source) from None
    except (ValueError, OverflowError):  # malformed numbers in escapes and directives
        raise ConfigError(
            f"{source} is not valid YAML: it has an impossible number or character", _MEND.format(source)
        ) from None


def yaml_error(error: YAMLError, text: str, source: str) -> ConfigError:
    """Translate an error of PyYAML for the user, without the text of the file."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    line = mark.line + 1 if mark is not None else text.count("\n", 0, getattr(error, "position", 0)) + 1
    if problem == _TOO_MUCH:
        return ConfigError(f"{source}:{line}: {_TOO_MUCH}", _MEND.format(source))
    words = re.sub(_QUOTED, "", str(problem or "a character that is not allowed")).strip()
    return ConfigError(f"{source}:{line} is not valid YAML: {words}", _MEND.format(source))


_MEND = "mend {}"
_TOO_MUCH = "too many names and values for such a file"


@cache
def bounded_parser() -> type[Any]:
    """Return PyYAML's parser, modified to stop if a text would take too long.

    Only the stages in Python are used: libyaml's are faster, but a bug in them would crash the process.
    """
    from yaml.parser import Parser  # noqa: PLC0415 - start-up time, as in compose()
    from yaml.reader import Reader  # noqa: PLC0415 - as above
    from yaml.scanner import Scanner, ScannerError  # noqa: PLC0415 - as above

    class BoundedParser(Reader, Scanner, Parser):
        def __init__(self, text: str) -> None:
            Reader.__init__(self, text)
            self._left = MAX_TOKENS
            Scanner.__init__(self)
            Parser.__init__(self)

        def fetch_more_tokens(self) -> None:
            self._left -= 1
            if self._left < 0:
                raise ScannerError(None, None, _TOO_MUCH, self.get_mark())
            super().fetch_more_tokens()

    return BoundedParser


class _Composer:
    """Builds nodes from the events of a text."""

    def __init__(self, text: str, source: str) -> None:
        self._events = bounded_parser()(text)
        self._source = source
        self._anchors: dict[str, ScalarNode] = {}

    def document(self) -> Node | None:
        from yaml.events import StreamEndEvent  # noqa: PLC0415 - start-up time, as in compose()

        self._next()  # the stream begins
        if self._events.check_event(StreamEndEvent):
            return None
        self._next()  # the document begins
        node = self._node(0)
        self._next()
        if not self._events.check_event(StreamEndEvent):
            raise self._not_allowed(self._events.peek_event().start_mark, "a second document, but only one is allowed")
        return node

    def _next(self) -> Any:  # noqa: ANN401 - an event; each kind has other fields
        return self._events.get_event()

    def _node(self, depth: int) -> Node:
        from yaml.events import AliasEvent, MappingStartEvent, ScalarEvent  # noqa: PLC0415 - as in compose()
        from yaml.nodes import ScalarNode  # noqa: PLC0415 - as above

        event = self._next()
        is_alias, is_scalar = isinstance(event, AliasEvent), isinstance(event, ScalarEvent)
        if is_alias:
            target = self._anchors.get(event.anchor)
            if target is None:
                raise self._not_allowed(event.start_mark, "an alias of something that is not a string")
            return target
        if event.tag not in (None, "!", _TEXT_TAG):
            raise self._not_allowed(event.start_mark, "a tag, which no setting needs")
        if depth > MAX_DEPTH:
            raise self._not_allowed(event.start_mark, f"more than {MAX_DEPTH} levels")
        if is_scalar:
            null = event.implicit[0] and event.tag is None and event.value in _NULLS
            tag = _NULL_TAG if null else _TEXT_TAG
            node = ScalarNode(tag, event.value, event.start_mark, event.end_mark, style=event.style)
            if event.anchor is not None:
                self._anchors[event.anchor] = node
            return node
        if event.anchor is not None:
            self._anchors.pop(event.anchor, None)  # from here on it has another meaning
        return self._mapping(event, depth) if isinstance(event, MappingStartEvent) else self._sequence(event, depth)

    def _sequence(self, event: Any, depth: int) -> SequenceNode:  # noqa: ANN401 - typed by none
        from yaml.events import SequenceEndEvent  # noqa: PLC0415 - as in compose()
        from yaml.nodes import SequenceNode  # noqa: PLC0415 - as above

        items = []
        while not self._events.check_event(SequenceEndEvent):
            items.append(self._node(depth + 1))
        end = self._next()
        return SequenceNode(event.tag, items, event.start_mark, end.end_mark, flow_style=event.flow_style)

    def _mapping(self, event: Any, depth: int) -> MappingNode:  # noqa: ANN401 - typed by none
        from yaml.events import MappingEndEvent, ScalarEvent  # noqa: PLC0415 - as in compose()
        from yaml.nodes import MappingNode  # noqa: PLC0415 - as above

        pairs: list[tuple[Any, Node]] = []
        lines: dict[str, int] = {}
        while not self._events.check_event(MappingEndEvent):
            at = self._events.peek_event()
            mark = at.start_mark
            if not isinstance(at, ScalarEvent):
                raise self._not_allowed(mark, "a name that is not a string")
            name = self._node(depth + 1)
            line = name.start_mark.line + 1
            if name.value in lines:
                label = f"`{printable}`" if (printable := printable_name(name.value)) else "a name"
                raise self._not_allowed(mark, f"{label} appears twice, first in line {lines[name.value]}")
            lines[name.value] = line
            pairs.append((name, self._node(depth + 1)))
        end = self._next()
        return MappingNode(event.tag, pairs, event.start_mark, end.end_mark, flow_style=event.flow_style)

    def _not_allowed(self, mark: Mark, words: str) -> ConfigError:
        return ConfigError(f"{self._source}:{mark.line + 1}: {words}", _MEND.format(self._source))


def is_null(node: Node) -> bool:
    """Tell whether a node that `compose` made is null."""
    return node.tag == _NULL_TAG


def _entry(node: Node, source: str, *, numbered: bool, line: int | None = None) -> Entry:
    """Return a node as plain values. Its depth is bounded by `compose`."""
    from yaml.nodes import MappingNode, SequenceNode  # noqa: PLC0415 - as in compose()

    line = node.start_mark.line if line is None else line
    place = f"{source}:{line + 1}" if numbered else source
    if isinstance(node, MappingNode):
        named = {
            key.value: _entry(value, source, numbered=numbered, line=key.start_mark.line) for key, value in node.value
        }
        return Entry(named, place)
    if isinstance(node, SequenceNode):
        return Entry([_entry(item, source, numbered=numbered) for item in node.value], place)
    return Entry(None if is_null(node) else node.value, place)
