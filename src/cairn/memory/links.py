"""What memories speak of: ties a memory to a file or definition as it is now, and tells later whether it changed.

The hash of a definition says how many lines it has, marks the first of them and digests them all, without their
indentation. So whether it is still there, word for word, can be told without parsing: some run of that many lines has
that mark and digest. The file is parsed only where none has. Overloads and variants for different systems, which have
one name, have a hash each, and are there if all of them are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple
from zlib import crc32

from cairn.answers import OutlineSymbol
from cairn.errors import AmbiguousError, CairnError, NotFoundError
from cairn.memory.targets import MARK, target_in
from cairn.source.content import normalize
from cairn.source.walk import read_file
from cairn.storage.memory.rows import CodeLink, Observation
from cairn.structure.locate import find_symbol, outline_of, read_source
from cairn.structure.outline import FileOutline

State = Literal["current", "changed", "gone"]
_BETWEEN_NAMES = re.compile(r"::|#")
_ADDITIONS = ("impl", "extension")  # to a type of the same name
_DIGEST_CHARS = 32
_BETWEEN_HASHES = "+"  # of variants of one definition
_MAX_VARIANTS = 8
_HASH = re.compile(r"(?:(\d{1,7}):([0-9a-f]{8}):)?([0-9a-f]{32})")
# So much is looked at: a repository may bring memories and files that were made to keep others busy.
_MAX_BYTES = 1_000_000
_MAX_LINKS = 50
_MAX_LINES = 200_000  # digested in search of a definition
_MAX_KEPT = 10_000  # states of links


class Staleness(NamedTuple):
    """What became of the code that a memory speaks of.

    Attributes:
        state: `current` also where it speaks of none; `gone` if nothing of it is left.
        changed, gone: the links whose code is so, as `path` or `path::symbol`.
    """

    state: State = "current"
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What a reader should know, empty for nothing."""
        if self.state == "gone":
            return f"its code is gone: {', '.join(self.gone)}"
        if self.state == "changed":
            return f"check: code changed since: {', '.join([*self.changed, *self.gone])}"
        return ""


_CURRENT = Staleness()


def link_to(root: Path, target: str) -> CodeLink:
    """Return the link to a file, or to a definition in it, as it is now.

    Args:
        root: the project's folder, resolved.
        target: `path` or `path::symbol`; the path is relative to the root, or absolute.

    Raises:
        NotFoundError: if there is no such file or definition.
        AmbiguousError: if the name means several definitions that are called differently in full.
        PathError: if the path leads out of the project, or is not a text file.
    """
    path, symbol = target_in(root, target)
    file = read_source(root, path)
    if not symbol:
        return CodeLink(file.path, "", _digest(_lines_of(file.data)))
    outline, lines = outline_of(file), _lines_of(file.data)
    found = [outline.symbols[number] for number in _find_variants(outline, symbol)]
    hashes = [_hash_of(lines[one.start_line - 1 : one.end_line]) for one in found]
    return CodeLink(file.path, found[0].qualified_name, _BETWEEN_HASHES.join(hashes[:_MAX_VARIANTS]))


def _hash_of(lines: list[bytes]) -> str:
    return f"{len(lines)}:{_mark(lines[0])}:{_digest(lines)}"


def find_definition(outline: FileOutline, name: str) -> int:
    """Return the number of the definition that a name means, also one as `Pool::take` or `Pool#take`.

    Where a type has the name and blocks that add to it have it, too, as `impl Pool`, the type is meant. Of variants of
    one definition, such as overloads and those for different systems, this is the first.

    Raises:
        NotFoundError: if there is none.
        AmbiguousError: if there are several that are called differently in full.
    """
    return _find_variants(outline, name)[0]


def _find_variants(outline: FileOutline, name: str) -> list[int]:
    """Return the numbers of the definitions that a name means; all of them have the same name in full."""
    try:
        return [find_symbol(outline, name)]
    except NotFoundError:
        dotted = _BETWEEN_NAMES.sub(".", name)
        if dotted == name:
            raise
        return _find_variants(outline, dotted)
    except AmbiguousError:
        named = [number for number, symbol in enumerate(outline.symbols) if _is_named(symbol, name)]
        named = [number for number in named if outline.symbols[number].kind not in _ADDITIONS] or named
        named = [number for number in named if outline.symbols[number].qualified_name == name] or named
        if len({outline.symbols[number].qualified_name for number in named}) != 1:
            raise
        return named


def _is_named(symbol: OutlineSymbol, name: str) -> bool:
    return f".{symbol.qualified_name}".endswith(f".{name}")


def name_of(link: CodeLink) -> str:
    """Return a link as `link_to` takes it."""
    return f"{link.path}{MARK}{link.symbol}" if link.symbol else link.path


class LinkedLines(NamedTuple):
    """Where linked code is in a file: behind how many lines, and how many it has."""

    start: int
    n_lines: int


def find_linked(data: bytes, link: CodeLink) -> LinkedLines | None:
    """Return where a content has the code of a link, word for word but for indentation; None if it has not."""
    match, lines = _HASH.fullmatch(link.hash.partition(_BETWEEN_HASHES)[0]), _lines_of(data)
    if match is None:
        return None
    n_lines, first, digest = match.groups()
    if n_lines is None:
        return LinkedLines(0, len(lines)) if _digest(lines) == digest else None
    start = _start_of(lines, int(n_lines), first, digest)
    return None if start is None else LinkedLines(start, int(n_lines))


class LinkStates:
    """Tells what became of the code that memories speak of; remembers it for as long as the file stays as it is.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root, self._folder = root, str(root)
        self._known: dict[tuple[CodeLink, int, int], State] = {}
        self._lock = Lock()

    def staleness(self, observation: Observation) -> Staleness:
        """Return what became of the code that a memory speaks of."""
        return self.of(observation.links)

    def of(self, links: Iterable[CodeLink]) -> Staleness:
        """Return what became of the code of some links together."""
        few = list(islice(links, _MAX_LINKS))
        return _together(few, {link: self.state(link) for link in few})

    def find_stale(self, links: Mapping[str, Sequence[CodeLink]]) -> dict[str, Staleness]:
        """Return what became of the code of those memories, given by their ids, whose code is not as it was."""
        few = {id: own[:_MAX_LINKS] for id, own in links.items()}
        distinct = set(chain.from_iterable(few.values()))
        stale = {link: state for link in distinct if (state := self.state(link)) != "current"}
        return {id: _together(own, stale) for id, own in few.items() if not stale.keys().isdisjoint(own)}

    def state(self, link: CodeLink) -> State:
        """Return what became of the code of one link; `current` if nothing can be told of a file that is there."""
        try:
            status = os.stat(f"{self._folder}/{link.path}")
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return "gone"
        except OSError:
            return "current"
        key = link, status.st_size, status.st_mtime_ns
        with self._lock:
            if (known := self._known.get(key)) is not None:
                return known
        state = self._look(link)
        with self._lock:
            if len(self._known) >= _MAX_KEPT:
                self._known.clear()
            self._known[key] = state
        return state

    def _look(self, link: CodeLink) -> State:
        try:
            lines = _lines_of(normalize(read_file(self._root, link.path, _MAX_BYTES)))
        except (FileNotFoundError, NotADirectoryError):
            return "gone"
        except OSError:
            return "current"
        hashes = link.hash.split(_BETWEEN_HASHES)[:_MAX_VARIANTS]
        matches = [match for hashed in hashes if (match := _HASH.fullmatch(hashed)) is not None]
        if len(matches) != len(hashes):
            return "current" if not link.symbol or self._defines(link) else "gone"
        if all(_is_there(lines, *match.groups()) for match in matches):
            return "current"
        return "changed" if not link.symbol or self._defines(link) else "gone"

    def _defines(self, link: CodeLink) -> bool:
        """Tell whether the file still defines what a link names."""
        try:
            find_definition(outline_of(read_source(self._root, link.path)), link.symbol)
        except AmbiguousError:
            return True
        except NotFoundError:
            return False
        except CairnError:  # nothing can be told of such a file
            return True
        return True


def _together(links: Sequence[CodeLink], states: Mapping[CodeLink, State]) -> Staleness:
    """Return what became of the code of a memory, from that of each of its links; by default a link is current."""
    changed, gone = [], []
    for link in links:
        state = states.get(link)
        if state == "changed":
            changed.append(name_of(link))
        elif state == "gone":
            gone.append(name_of(link))
    if not (changed or gone):
        return _CURRENT
    return Staleness("gone" if len(gone) == len(links) else "changed", tuple(changed), tuple(gone))


def _lines_of(data: bytes) -> list[bytes]:
    return [line.strip() for line in data.split(b"\n")]


def _digest(lines: Iterable[bytes]) -> str:
    return sha256(b"\n".join(lines)).hexdigest()[:_DIGEST_CHARS]


def _mark(line: bytes) -> str:
    return f"{crc32(line):08x}"


def _is_there(lines: list[bytes], n_lines: str | None, first: str, digest: str) -> bool:
    if n_lines is None:
        return _digest(lines) == digest
    return _start_of(lines, int(n_lines), first, digest) is not None


def _start_of(lines: list[bytes], n_lines: int, first: str, digest: str) -> int | None:
    """Return behind how many lines a run has the mark and digest of a definition; None if none has."""
    starts = [place for place, line in enumerate(lines) if _mark(line) == first]
    n_starts = _MAX_LINES // max(1, min(n_lines, len(lines)))
    return next((start for start in starts[:n_starts] if _digest(lines[start : start + n_lines]) == digest), None)
