"""The symbol graph of a project, opened: keeps one state of the code until a file changes."""

from __future__ import annotations

import posixpath
import sqlite3
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

from cairn import waiting
from cairn.config import Settings
from cairn.graph.answers import Answers
from cairn.graph.code import Code
from cairn.graph.connections import Connections, KnownEdges
from cairn.graph.facts import KeptFacts, Progress
from cairn.graph.kept_network import KeptNetwork
from cairn.graph.network import Network
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.patience import GraphPatience
from cairn.graph.reach import Feelers
from cairn.graph.reader import Reader
from cairn.graph.recent import Room, Unfinished
from cairn.graph.referrers import Referrers
from cairn.graph.resolve import CALL, CONSTRUCT, DECORATE, USE, Edge, Resolver
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, TYPE_KINDS
from cairn.graph.source_file import SourceFile, runs_when_made
from cairn.graph.symbols import with_counterparts
from cairn.graph.testfiles import TestFiles
from cairn.hints import Hint
from cairn.index.limits import kept_bytes_of
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir
from cairn.source.text import pluralize

_MOST_UNFINISHED = 4  # questions to go on with
_STALE_COSTS = 3  # files: one that a change affects takes as long as so many, since it tends to be a central one
CALL_KINDS = frozenset({CALL, CONSTRUCT, DECORATE})


class Graph:
    """Answers for one folder, one question at a time; `refresh` before each.

    Args:
        progress: called with (files done, files to do) while files are read for the first time.
        kept_bytes: how much memory may be used for files; by default what the settings allow.
        patience: how long a question may resolve what nobody has prepared.
    """

    def __init__(
        self,
        state: StateDir,
        root: Path,
        view_name: str,
        settings: Settings,
        progress: Progress | None = None,
        kept_bytes: int | None = None,
        patience: GraphPatience | None = None,
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
        self._last: KeptNetwork | None = None
        self._connections: Connections | None = None
        self._feelers: Feelers | None = None
        self._tests: TestFiles | None = None
        self.patience = patience or GraphPatience()
        self.unfinished: Unfinished[Hashable] = Unfinished(_MOST_UNFINISHED)
        self.answers = Answers(lambda: self.patience)

    def refresh(self, snapshot: Snapshot, connection: sqlite3.Connection, *, is_current: bool = False) -> None:
        """Take in a new generation, and files that changed since.

        Args:
            snapshot: the newest generation.
            connection: reads the index of that.
            is_current: whether no file has changed since, so that none need be compared.
        """
        self.connection = connection
        self.patience.begin()
        if self._code is not None:
            self._code.read_through(connection)
        if self._code is None or self._code.snapshot is not snapshot:
            if self._code is not None and self._code.snapshot.state.identity != snapshot.state.identity:
                # Another database: a blob's id may mean another content.
                self._kept, self._last = KeptFacts(self._room), None
            is_first, settings = self._code is None, self._settings
            self._code = Code(
                snapshot, connection, self._state, self._root, self._view_name, settings, self._kept, self._room
            )
            is_large = len(self._code.paths) >= self.patience.least_files
            if is_first and is_large and not self._state.graph(self._code.view_id).exists():
                self._code.warm_up()
            self._forget_answers()
        changed = {} if is_current else self._code.checkout.find_changed()
        if self._resolver is None or changed != self._code.checkout.changed:
            self._code.reread(changed)
            self._forget_answers()
            self._resolver = Resolver(self._code)
            self._network = self._feelers = self._tests = self._connections = None
        elif self._network is None and self._last is not None and self._last.has_news(self.connections.known):
            self._connections = None
        self.patience.leave_half()

    def _forget_answers(self) -> None:
        """Drop the resolver with all that it remembers, which the parts of its evaluator would keep for a while."""
        if self._resolver is not None:
            self._resolver.meaning.memo.forget()
        self._resolver = None
        self.unfinished = Unfinished(_MOST_UNFINISHED)
        self.answers.forget()

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
    def connections(self) -> Connections:
        """The edges of each file."""
        if self._connections is None:
            if self._last is None:
                self._last = KeptNetwork(self._state.graph(self.code.view_id))
            known = self._last.find_known(self.code, self.progress)
            self._connections = Connections(self.code, self.resolver, known)
        return self._connections

    @property
    def is_prepared(self) -> bool:
        """Whether all edges are known, or soon will be: of a small project, or where few files are to be resolved."""
        known = self.connections.known
        n_open = len(self.code.paths) if known is None else _STALE_COSTS * len(known.stale)
        return self._network is not None or n_open < self.patience.least_files

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
        known = self.connections.known
        if known is None:
            waiting.give_way()
            self.code.load_all(self.progress)
            network = Network.build(self.code, self.resolver)
        elif known.stale:
            network = known.network.completed(self.code, self.resolver, known.stale)
        else:
            network = known.network
        if self._last is not None and not self.code.checkout.changed:
            self._last.keep(network)
        if known is None or known.stale:
            self._connections = Connections(self.code, self.resolver, KnownEdges(network, ()))
        return network

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of an answer has to know about the index behind it."""
        if unread := self.code.checkout.unread:
            return (Hint(f"{pluralize(unread, 'more file')} changed since the index was made; update it", "index"),)
        return ()

    # -- neighbours ---------------------------------------------------------------------------------------------------

    def reader(self, *, is_patient: bool = False) -> Reader:
        """Return what reads files for one question: for as long as that may take, or as it takes."""
        lasts = None if is_patient or self.is_prepared else self.patience.lasts
        return Reader(self.code, lasts, self.patience.seconds_each, self.progress)

    def incoming(self, nodes: Sequence[int], kinds: Iterable[int], reader: Reader | None = None) -> list[Edge]:
        """Return the edges of some kinds into any of some definitions, by file and line; all without a reader."""
        return self.referrers(reader).incoming(nodes, frozenset(kinds))

    def referrers(self, reader: Reader | None = None) -> Referrers:
        """Return what looks for references file by file."""
        return Referrers(self.code, self.resolver, self.connections, reader or self.reader(is_patient=True))

    def outgoing(self, nodes: Sequence[int], kinds: Iterable[int], reader: Reader | None = None) -> list[Edge]:
        """Return the edges of some kinds out of any of some definitions, in reading order; all without a reader."""
        reader = reader or self.reader(is_patient=True)
        wanted, kinds = set(nodes), frozenset(kinds)
        outgoing = []
        for number in sorted({file_of(node) for node in nodes}):
            waiting.check()
            edges = self.connections.edges_out_of(number, wanted, reader)
            outgoing += [edge for edge in edges if edge.source in wanted and edge.kind in kinds]
        return outgoing

    def within(self, nodes: Sequence[int]) -> list[int]:
        """Return some definitions with all that they contain; a file contains all of its definitions.

        A type of Go contains its methods, which stand outside of it.
        """
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
            if source.language == "go" and source.definitions[place].kind in TYPE_KINDS:
                inside += self._methods_beside(source, source.definitions[place].name)
        return list(dict.fromkeys(inside))

    def _methods_beside(self, source: SourceFile, name: str) -> list[int]:
        """Return the methods of a type of Go, in the files of its folder."""
        folder, of_type = posixpath.join(posixpath.dirname(source.path), ""), f"{name}."
        files = [
            number
            for number, path in enumerate(self.code.paths)
            if path.endswith(".go") and path.startswith(folder) and "/" not in path[len(folder) :]
        ]
        return [
            node_of(number, place)
            for number in files
            for place, definition in enumerate(self.code.file(number).definitions)
            if definition.kind == "method" and definition.qualified_name.startswith(of_type)
        ]

    def call_targets(self, nodes: Sequence[int]) -> tuple[list[int], frozenset[int]]:
        """Return the nodes and kinds of edges that count as calls of a symbol.

        Constructing a type calls its constructor, and a function that is passed on will be called. A class of Ruby is
        called on, as in `Job.later`, whoever defines the method.
        """
        wanted = with_counterparts(self.code, nodes)
        kinds = CALL_KINDS
        for node in nodes:
            source, place = self.code.file(file_of(node)), place_of(node)
            if place < 0:
                continue
            definition = source.definitions[place]
            is_called_on = source.rules.family == "ruby" and definition.kind in TYPE_KINDS | NAMESPACE_KINDS
            if is_called_on or definition.kind in FUNCTION_KINDS:
                kinds = CALL_KINDS | {USE}
            if runs_when_made(source, place):
                wanted.append(node_of(source.number, definition.parent))
        return wanted, kinds
