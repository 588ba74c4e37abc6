"""The nodes of a document in any format: mappings, sequences and scalars, with their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from cairn.errors import ConfigError

Format = Literal["json", "jsonc", "toml", "yaml"]
Kind = Literal["mapping", "sequence", "scalar"]
# The form of a mapping or sequence: in brackets, by indentation (YAML), or as lines and headers (TOML).
Form = Literal["brackets", "block", "sections"]
Path = Sequence[str | int]  # names and list indexes, from the root

MAX_BYTES = 50_000_000  # bytes of a JSON file; Claude Code keeps prompts in the same file as its servers
MAX_PARSED_BYTES = 2_000_000  # bytes of files in other formats, whose parsers are much slower
MAX_DEPTH = 100
MISSING = object()  # stands for no value
_KINDS = {"mapping": "an object", "sequence": "a list", "scalar": "a single value"}


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its position.

    Attributes:
        kind, form: what it is, and how it is written.
        start, end: for a TOML table, those of the first and the last of its `spans`.
        members: of a mapping or sequence, in the order of the file.
        spans: the TOML lines and headers that define it and its content.
        own_end: the end of a TOML table's last line that does not belong to another table; -1 if it has none.
        prefix: the text before the names on those lines: `a.b` for the table defined by `a.b.c = 1`.
    """

    kind: Kind
    start: int
    end: int
    form: Form = "brackets"
    members: Sequence[Member] = ()
    spans: tuple[tuple[int, int], ...] = ()
    own_end: int = -1
    prefix: tuple[str, ...] = ()


class Member(NamedTuple):
    """A value of a mapping or sequence, with its name or index; `start` is that of the name or the dash."""

    name: Any
    start: int
    node: Node


class PathStep(NamedTuple):
    """A mapping or list on the path to a value, and the index of the member that continues it."""

    holder: Node
    place: int

    @property
    def member(self) -> Member:
        """The member that continues the path."""
        return self.holder.members[self.place]


class Splice(NamedTuple):
    """A replacement of a passage. `at` is a byte offset before the change."""

    at: int
    removed: str
    inserted: str


class Reference(NamedTuple):
    """An alias in a YAML file, or a value with its own tag."""

    name: str
    value: Any = None


class Names(list[tuple[Any, Any]]):
    """The pairs of a mapping as written; names may be duplicated."""

    def places(self, name: Any) -> list[int]:  # noqa: ANN401 - YAML has names of any type
        """Return the indexes of the pairs with a name."""
        return [index for index, (given, _) in enumerate(self) if given == name and type(given) is type(name)]


def apply_splices(body: bytes, splices: Sequence[Splice]) -> bytes:
    """Apply changes, which are in ascending order and do not overlap, to a text."""
    parts, done = [], 0
    for splice in splices:
        parts += [body[done : splice.at], splice.inserted.encode()]
        done = splice.at + len(splice.removed.encode())
    return b"".join([*parts, body[done:]])


def line_of(body: bytes, at: int) -> int:
    """Return the 1-based line of a byte."""
    return body.count(b"\n", 0, at) + 1


def invalid(source: str, line: int, words: str) -> ConfigError:
    """Return the error for a position in a file."""
    return ConfigError(f"{source}:{line}: {words}", f"mend {source}")


def too_deep(source: str, line: int) -> ConfigError:
    """Return the error for a value that is nested too deeply."""
    return invalid(source, line, f"more than {MAX_DEPTH} levels")


def too_large(source: str, limit: int) -> ConfigError:
    """Return the error for a file that is too large to edit in its format."""
    return ConfigError(f"{source} is larger than {limit:,} bytes", f"make the change in {source} by hand")


def not_editable(source: str) -> ConfigError:
    """Return the error for a change that would affect anything else."""
    return ConfigError(f"{source} is written in a way that cannot be edited", f"make the change in {source} by hand")


def has_kind(kind: Kind) -> str:
    """Return the word for a kind of value in messages."""
    return _KINDS[kind]
