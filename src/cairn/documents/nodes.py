"""What a document is made of, whatever its format: mappings, sequences and scalars, each with where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from cairn.errors import ConfigError

Format = Literal["json", "jsonc", "toml", "yaml"]
Kind = Literal["mapping", "sequence", "scalar"]
# How a mapping or a sequence is written: between brackets, by indentation (YAML), or as lines and headers (TOML).
Form = Literal["brackets", "block", "sections"]
Path = Sequence[str | int]  # names and list indexes, from the root

MAX_BYTES = 50_000_000  # of a file, which is JSON; Claude Code keeps what was asked in the file of its servers
MAX_PARSED_BYTES = 2_000_000  # of one in another format, whose parsers take much longer
MAX_DEPTH = 100
MISSING = object()  # what is said where nothing is
_KINDS = {"mapping": "an object", "sequence": "a list", "scalar": "a single value"}


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its bytes.

    Attributes:
        kind, form: what it is, and how it is written.
        start, end: for a table of TOML, those of the first and the last of its `spans`.
        members: of a mapping or a sequence, in the order of the file.
        spans: the lines and headers of TOML that define it and what is in it.
        own_end: where the last line of a table of TOML ends that is not one of another table's; -1 if it has none.
        prefix: what stands before the names on those lines: `a.b` for the table that `a.b.c = 1` defines.
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
    """A value of a mapping or a sequence, by its name or index; `start` is that of the name, or of the dash."""

    name: Any
    start: int
    node: Node


class PathStep(NamedTuple):
    """A mapping or list on the way to a value, and which of its members leads on."""

    holder: Node
    place: int

    @property
    def member(self) -> Member:
        """The member that leads on."""
        return self.holder.members[self.place]


class Splice(NamedTuple):
    """A passage that is written in the place of another. `at` counts bytes before the change."""

    at: int
    removed: str
    inserted: str


class Reference(NamedTuple):
    """A place of a YAML file that repeats another, or a value of a type of its own."""

    name: str
    value: Any = None


class Names(list[tuple[Any, Any]]):
    """The pairs of a mapping as they are written; a name may appear twice."""

    def places(self, name: Any) -> list[int]:  # noqa: ANN401 - YAML has names of any type
        """Return which pairs have a name."""
        return [index for index, (given, _) in enumerate(self) if given == name and type(given) is type(name)]


def apply_splices(body: bytes, splices: Sequence[Splice]) -> bytes:
    """Return a text after changes, which are in ascending order and do not overlap."""
    parts, done = [], 0
    for splice in splices:
        parts += [body[done : splice.at], splice.inserted.encode()]
        done = splice.at + len(splice.removed.encode())
    return b"".join([*parts, body[done:]])


def line_of(body: bytes, at: int) -> int:
    """Return the number of the line, from 1, in which a byte stands."""
    return body.count(b"\n", 0, at) + 1


def invalid(source: str, line: int, words: str) -> ConfigError:
    """Return the error about a place in a file."""
    return ConfigError(f"{source}:{line}: {words}", f"mend {source}")


def too_deep(source: str, line: int) -> ConfigError:
    """Return the error about a value inside too many others."""
    return invalid(source, line, f"more than {MAX_DEPTH} levels")


def too_large(source: str, limit: int) -> ConfigError:
    """Return the error about a file that is larger than is edited in its format."""
    return ConfigError(f"{source} is larger than {limit:,} bytes", f"make the change in {source} by hand")


def not_editable(source: str) -> ConfigError:
    """Return the error about a file in which a change would mean something else, too."""
    return ConfigError(f"{source} is written in a way that cannot be edited", f"make the change in {source} by hand")


def has_kind(kind: Kind) -> str:
    """Return how a kind of value is called in messages."""
    return _KINDS[kind]
