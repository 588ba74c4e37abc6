"""Finds what refers to definitions: in the files that say their names, or others that imports give them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from cairn import waiting
from cairn.graph.code import Code
from cairn.graph.connections import Connections, KnownEdges
from cairn.graph.nodes import file_of, place_of
from cairn.graph.reader import Reader
from cairn.graph.resolve import IMPLEMENT, INHERIT, Edge, Resolver, Spelling
from cairn.graph.rules import FUNCTION_KINDS
from cairn.graph.sightings import lines_with, looks_called, looks_derived

_BASE_KINDS = frozenset({INHERIT, IMPLEMENT})


class NamesSought(NamedTuple):
    """What may call a definition: its names, those that imports give it among them, and how they may be spelled."""

    names: set[str]
    spelling: Spelling


class Referrers:
    """Looks for references in one state of the code.

    Args:
        code: the files.
        resolver: resolves the references of files whose edges are not known.
        connections: the edges that are known.
        reader: reads the files of the question.

    Attributes:
        names: what the definitions last asked about may be called, as far as there was time to look for that.
    """

    def __init__(self, code: Code, resolver: Resolver, connections: Connections, reader: Reader) -> None:
        self._code = code
        self._resolver = resolver
        self._connections = connections
        self._reader = reader
        self.names: set[str] = set()

    def incoming(self, nodes: Sequence[int], kinds: Collection[int]) -> list[Edge]:
        """Return the edges of some kinds into any of some definitions, by file and line."""
        wanted = set(nodes)
        known = self._connections.known
        spelling: Spelling = "function" if all(map(self._is_plain_function, wanted)) else "any"
        late = self.names = {name for node in nodes if place_of(node) >= 0 for name in self._names_of(node)}
        incoming: dict[int, list[Edge]] = {}
        while late:
            names = frozenset(late)
            files, says = self._open_files(late, known), partial(self._says_any, names=names)
            read: list[int] = []
            for number in self._reader.read(files, says, _nearest(wanted), self.looks_used(names, kinds)):
                waiting.check()
                read.append(number)
                if not self._reader.is_patient:  # what says a name comes before what may lead there without it
                    self._add_from(number, self.lines_with(number, names), wanted, kinds, spelling, incoming)
            for number in read:
                waiting.check()
                self._add_from(number, None, wanted, kinds, spelling, incoming)
            late = self._all_names(self.names, known) - self.names  # from imports in the files that were just read
            self.names = self.names | late
        if known is not None:
            for number, edges in known.edges_into(wanted, kinds).items():
                if number not in known.stale and self._says_any(number, self.names):
                    incoming[number] = self._connections.only_to(number, edges, self.names, kinds, spelling)
        return [edge for number in sorted(incoming) for edge in incoming[number]]

    def _add_from(
        self,
        number: int,
        lines: Collection[int] | None,
        wanted: Collection[int],
        kinds: Collection[int],
        spelling: Spelling,
        incoming: dict[int, list[Edge]],
    ) -> None:
        """Add the edges of a file, or of some of its lines, if there is time to resolve these."""
        resolve = partial(self._resolver.edges_to, number, self.names, kinds, spelling, lines)
        if (edges := self._reader.resolve(number, resolve)) is not None:
            incoming[number] = [edge for edge in edges if edge.target in wanted and edge.kind in kinds]

    def lines_with(self, number: int, names: frozenset[str]) -> frozenset[int]:
        """Return the lines of a file that say one of some names."""
        return lines_with(self._code.checkout.read(number) or b"", names)

    def looks_used(self, names: frozenset[str], kinds: Collection[int]) -> Callable[[int], bool] | None:
        """Return what tells from the text of a file whether it uses some names in some ways; None for too many ways."""
        is_base = _BASE_KINDS.issuperset(kinds)
        if not is_base and not _BASE_KINDS.isdisjoint(kinds):
            return None
        look, code = looks_derived if is_base else looks_called, self._code
        return lambda number: look(code.checkout.read(number) or b"", names, code.languages[number])

    def _open_files(self, names: Collection[str], known: KnownEdges | None) -> Collection[int]:
        """Return the files whose edges are not known and that may say any of some names; more, if time is short."""
        if known is not None:
            return known.stale
        return {number for name in names for number in self._may_say(name)}

    def _may_say(self, name: str) -> Collection[int]:
        """Return the files that say a name; where time is short, those that the index knows to have it or its like."""
        mentions = self._code.mentions
        return mentions.saying(name) if self._reader.is_patient else mentions.may_mention(name)

    def seek(self, node: int) -> NamesSought:
        """Return what may call a definition, as far as known edges and the files that changed since then say."""
        known = self._connections.known
        names = self._names_of(node)
        if known is not None:
            names = self._all_names(names, known)
        return NamesSought(names, "function" if self._is_plain_function(node) else "any")

    def other_names(self, sought: NamesSought, number: int) -> set[str]:
        """Return the names that a file gives to what is sought, and add them to that."""
        found: set[str] = set()
        for own, alias in self._connections.renamings(number):
            if own in sought.names:
                found |= self._names_given(number, alias, self._connections.known)
        found -= sought.names
        sought.names.update(found)
        return found

    def _is_plain_function(self, node: int) -> bool:
        """Tell whether a definition is a function that making an instance does not call."""
        source, place = self._code.file(file_of(node)), place_of(node)
        if place < 0 or source.definitions[place].kind not in FUNCTION_KINDS - {"constructor"}:
            return False
        return source.definitions[place].name not in (source.rules.constructor, source.rules.maker)

    def _says_any(self, number: int, names: Iterable[str]) -> bool:
        return any(self._code.mentions.says(number, name) for name in names)

    def _all_names(self, names: Collection[str], known: KnownEdges | None) -> set[str]:
        """Return some names, and others that imports give to the same, as far as time allows."""
        found = set(names)
        tried: set[str] = set()
        while found - tried:
            name = min(found - tried)
            tried.add(name)
            for number, alias in self._renamings(name, known):
                found |= self._names_given(number, alias, known)
        return found

    def _names_given(self, number: int, alias: str, known: KnownEdges | None) -> set[str]:
        """Return what others call something that a file gives another name."""
        return self._names_of_default(number, known) if alias == "default" else {alias}

    def _renamings(self, name: str, known: KnownEdges | None, word: str = "") -> Iterator[tuple[int, str]]:
        """Yield the files that import or export something of a name under another one, each with that.

        Args:
            name: this name.
            known: the edges that are known.
            word: what these files say, the name by default.
        """
        said = word or name
        if known is not None:
            yield from known.renamings(name)
        files = self._may_say(said) if known is None else known.stale
        says = partial(self._code.mentions.says, name=said)
        for number in self._reader.read_for_names(files, says):
            for own, alias in self._connections.renamings(number):
                if own == name:
                    yield number, alias

    def _names_of(self, node: int) -> set[str]:
        """Return the name of a definition, and what a decoration may leave of it."""
        name = self._code.definition(node).name
        return {name, name.removesuffix(self._code.file(file_of(node)).rules.attribute_suffix)} - {""}

    def _names_of_default(self, number: int, known: KnownEdges | None) -> set[str]:
        """Return what the files that import a file's default call it."""
        stem = self._code.paths[number].rpartition("/")[2].partition(".")[0]
        if stem == "index":
            stem = self._code.paths[number].rpartition("/")[0].rpartition("/")[2]
        if not stem:
            return set()
        found = self._renamings("default", known, stem)
        return {alias for other, alias in found if self._code.mentions.says(other, stem)}


def _nearest(nodes: Collection[int]) -> int:
    """Return the file near which users are looked for first, -1 for none."""
    return file_of(min(nodes)) if nodes else -1
