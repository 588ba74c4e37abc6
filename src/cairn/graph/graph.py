"""The symbol graph of a project, opened: keeps one state of the code until a file changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path

from cairn import waiting
from cairn.config import Settings
from cairn.graph.code import Code
from cairn.graph.facts import KeptFacts, Progress
from cairn.graph.network import Network
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.reach import Feelers
from cairn.graph.recent import Room
from cairn.graph.resolve import CALL, CONSTRUCT, DECORATE, USE, Edge, Resolver
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.graph.staleness import stale_files
from cairn.graph.testfiles import TestFiles
from cairn.hints import Hint
from cairn.index.limits import kept_bytes_of
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir
from cairn.source.text import pluralize

STORED_FROM_SECONDS = 0.3  # a network that takes longer to make is kept beside the index

_MOST_REMEMBERED = 16  # long answers
CALL_KINDS = frozenset({CALL, CONSTRUCT, DECORATE})


class Graph:
    """Answers for one folder, one question at a time; `refresh` before each.

    Args:
        progress: called with (files done, files to do) while files are read for the first time.
        kept_bytes: how much memory may be used for files; by default what the settings allow.
    """

    def __init__(
        self,
        state: StateDir,
        root: Path,
        view_name: str,
        settings: Settings,
        progress: Progress | None = None,
        kept_bytes: int | None = None,
    ) -> None:
        self.progress = progress
        self._state = state
        self._root = root
        self._view_name = view_name
        self._settings = settings
        self._room = Room.of(kept_bytes_of(settings) if kept_bytes is None else kept_bytes)
        self._kept = KeptFacts(self._room)
        self._code: Code | None = None
        self._resolver: Resolver | None = None
        self._network: Network | None = None
        self._base: Network | None = None  # the last one of an index without changed files
        self._feelers: Feelers | None = None
        self._tests: TestFiles | None = None
        self._remembered: dict[Hashable, object] = {}

    def refresh(self, snapshot: Snapshot, connection: sqlite3.Connection) -> None:
        """Take in a new generation, and files that changed since."""
        self.connection = connection
        if self._code is not None:
            self._code.read_through(connection)
        if self._code is None or self._code.snapshot is not snapshot:
            if self._code is not None and self._code.snapshot.state.identity != snapshot.state.identity:
                # Another database: a blob's id may mean another content.
                self._kept, self._base = KeptFacts(self._room), None
            self._code = Code(
                snapshot, connection, self._state, self._root, self._view_name, self._settings, self._kept, self._room
            )
            self._forget_answers()
        changed = self._code.checkout.find_changed()
        if self._resolver is None or changed != self._code.checkout.changed:
            self._code.reread(changed)
            self._forget_answers()
            self._resolver = Resolver(self._code)
            self._network = self._feelers = self._tests = None

    def _forget_answers(self) -> None:
        """Drop the resolver with all that it remembers, which the parts of its evaluator would keep for a while."""
        if self._resolver is not None:
            self._resolver.meaning.memo.forget()
        self._resolver = None
        self._remembered = {}

    def remember(self, key: Hashable, find: Callable[[], object]) -> object:
        """Return what `find` gives for a key; the last few answers are remembered until a file changes."""
        if key not in self._remembered:
            answer = find()
            if len(self._remembered) >= _MOST_REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
            self._remembered[key] = answer
        return self._remembered[key]

    def store_facts(self) -> None:
        """Store the facts that were found while nothing could be written, for the next time."""
        if self._code is not None:
            self._code.store_facts()

    @property
    def code(self) -> Code:
        """The files."""
        assert self._code is not None
        return self._code

    @property
    def resolver(self) -> Resolver:
        """What resolves the references of a file."""
        assert self._resolver is not None
        return self._resolver

    @property
    def network(self) -> Network:
        """All edges at once; the first use reads every file."""
        if self._network is None:
            self._network = self._find_network()
        return self._network

    @property
    def feelers(self) -> Feelers:
        """What a change of each node affects, by all edges."""
        if self._feelers is None:
            self._feelers = Feelers(self.network)
        return self._feelers

    @property
    def tests(self) -> TestFiles:
        """The files that hold tests."""
        if self._tests is None:
            self._tests = TestFiles(self.code)
        return self._tests

    def _find_network(self) -> Network:
        """Return all edges as of now; only the files that changes affect are resolved again, if that is known."""
        if self._base is None:
            self._base = Network.load(self._state.graph(self.code.view_id), self.code.identity)
        network = self._update(self._base) if self._base is not None else None
        if network is None:
            waiting.give_way()
            self.code.load_all(self.progress)
            network = Network.build(self.code, self.resolver)
        if not self.code.checkout.changed:
            self._base = network
            if network.seconds > STORED_FROM_SECONDS:
                network.save(self._state.graph(self.code.view_id))
        return network

    def _update(self, known: Network) -> Network | None:
        """Return an earlier network brought up to date, None if every file has to be resolved again."""
        stale = stale_files(known, self.code)
        if stale is None:
            return None
        if not stale and known.paths == self.code.paths:
            return known
        self.code.load(stale, self.progress)
        return known.resolve_again(self.code, self.resolver, stale)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of an answer has to know about the index behind it."""
        if unread := self.code.checkout.unread:
            return (Hint(f"{pluralize(unread, 'more file')} changed since the index was made; update it", "index"),)
        return ()

    # -- neighbours ---------------------------------------------------------------------------------------------------

    def incoming(self, nodes: Sequence[int], kinds: Iterable[int]) -> list[Edge]:
        """Return the edges of some kinds into any of some definitions, by file and line."""
        wanted, kinds = set(nodes), frozenset(kinds)
        incoming = []
        files, names = self.candidates(nodes)
        for number in files:
            waiting.check()
            edges = self.resolver.edges_to(number, names)
            incoming += [edge for edge in edges if edge.target in wanted and edge.kind in kinds]
        return incoming

    def candidates(self, nodes: Sequence[int]) -> tuple[list[int], set[str]]:
        """Return the files that may refer to some definitions, and the names and aliases they may use."""
        names = {name for node in nodes if place_of(node) >= 0 for name in self._names_of(node)}
        tried: set[str] = set()
        files: set[int] = set()
        while names - tried:
            name = min(names - tried)
            tried.add(name)
            mentioning = self.code.mentioning(name)
            self.code.load(mentioning, self.progress)
            files |= mentioning
            for number in mentioning:
                for imported in self.code.file(number).facts.imports:
                    if imported.name == name and imported.alias == "default":
                        names |= self._names_of_default(number)
                    elif imported.name == name and imported.alias:
                        names.add(imported.alias)
        return sorted(files), names

    def _names_of(self, node: int) -> set[str]:
        """Return the name of a definition, and what a decoration may leave of it."""
        name = self.code.definition(node).name
        return {name, name.removesuffix(self.code.file(file_of(node)).rules.attribute_suffix)} - {""}

    def _names_of_default(self, number: int) -> set[str]:
        """Return what the files that import a file's default call it."""
        stem = self.code.paths[number].rpartition("/")[2].partition(".")[0]
        if stem == "index":
            stem = self.code.paths[number].rpartition("/")[0].rpartition("/")[2]
        mentioning = self.code.mentioning(stem) if stem else set()
        self.code.load(mentioning, self.progress)
        return {
            imported.alias
            for other in mentioning
            for imported in self.code.file(other).facts.imports
            if imported.name == "default" and imported.alias
        }

    def outgoing(self, nodes: Sequence[int], kinds: Iterable[int]) -> list[Edge]:
        """Return the edges of some kinds out of any of some definitions, in reading order."""
        wanted, kinds = set(nodes), frozenset(kinds)
        files = sorted({file_of(node) for node in nodes})
        outgoing = []
        for number in files:
            waiting.check()
            outgoing += [edge for edge in self.resolver.edges(number) if edge.source in wanted and edge.kind in kinds]
        return outgoing

    def within(self, nodes: Sequence[int]) -> list[int]:
        """Return some definitions with all that they contain; a file contains all of its definitions."""
        inside: list[int] = []
        for node in nodes:
            source, place = self.code.file(file_of(node)), place_of(node)
            if place < 0:
                inside += [node_of(source.number, inner) for inner in range(-1, len(source.definitions))]
                continue
            span = source.definitions[place].span
            inside += [
                node_of(source.number, inner)
                for inner, definition in enumerate(source.definitions)
                if span.start_byte <= definition.span.start_byte and definition.span.end_byte <= span.end_byte
            ]
        return list(dict.fromkeys(inside))

    def call_targets(self, nodes: Sequence[int]) -> tuple[list[int], frozenset[int]]:
        """Return the nodes and kinds of edges that count as calls of a symbol.

        Constructing a type calls its constructor, and a function that is passed on will be called.
        """
        wanted = list(nodes)
        kinds = CALL_KINDS
        for node in nodes:
            source, place = self.code.file(file_of(node)), place_of(node)
            if place < 0:
                continue
            definition = source.definitions[place]
            if definition.kind in FUNCTION_KINDS:
                kinds = CALL_KINDS | {USE}
            parent = source.definitions[definition.parent] if definition.parent >= 0 else None
            makes = definition.kind == "constructor" or definition.name == source.rules.constructor
            if makes and parent is not None and parent.kind in TYPE_KINDS:
                wanted.append(node_of(source.number, definition.parent))
        return wanted, kinds
