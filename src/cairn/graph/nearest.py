"""Walks from what changed to what that may affect, the surest way first, while the whole project is not resolved."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from cairn import waiting
from cairn.graph.file_queue import FIRST_AT_ONCE, MOST_AT_ONCE, FileQueue
from cairn.graph.graph import CALL_KINDS, Graph
from cairn.graph.importing import may_import
from cairn.graph.nodes import file_of, place_of
from cairn.graph.reach import Feelers, Reached, Steps, counts, doubt_of_edge, doubt_of_override, is_too_far
from cairn.graph.reader import MOST_NAMES, Reader, nearest_first
from cairn.graph.referrers import NamesSought
from cairn.graph.resolve import ALL_KINDS, Edge
from cairn.graph.values import Unfollowed


class _Phase(IntEnum):
    """What is looked at of the users of a definition; those of all that are as near, before the next phase of any."""

    LIKELY = 0  # lines that say a name of it, in files that look as if they use it
    SAYING = 1  # such lines of all other files
    REST = 2  # what may lead to it without saying a name, in all these files


@dataclass(slots=True)
class _Users:
    """A definition whose users are looked for: what they may call it, and the files that are still to be read.

    `later` are files for the next phase, and `read` those whose lines that say a name of it were looked at.
    """

    node: int
    sought: NamesSought
    files: FileQueue
    later: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    phase: _Phase = _Phase.LIKELY


@dataclass(slots=True)
class _Importers:
    """A file whose importers are looked for: what these say, those found, and the files that are still to be read."""

    names: frozenset[str]
    files: FileQueue
    found: list[int] = field(default_factory=list)


class NearestWalk:
    """What a change of some nodes affects, as far as time allows to follow it; `go_on` as often as there is time.

    Args:
        graph: the graph, whose code must stay as it is.
        starts: the nodes.
        n_asked: how many of them were asked about; the others are parts of these.
        for_tests: whether likely users are looked for in tests first, else in what is no test.
    """

    def __init__(self, graph: Graph, starts: Sequence[int], n_asked: int, *, for_tests: bool) -> None:
        self._graph = graph
        self._starts = tuple(starts)
        self._for_tests = for_tests
        self._parts = deque(starts[n_asked:])  # which are followed once those asked about are
        self._lengths = dict.fromkeys(starts, 0)
        self._done: set[int] = set()
        self._queue: list[tuple[int, _Phase, int, int]] = []  # length of the way, phase, files to read for it, node
        self._begun: dict[int, _Users] = {}  # by their nodes
        self._users: _Users | None = None
        self._at_once = FIRST_AT_ONCE
        self._edges: dict[Edge, None] = {}
        self._overrides: dict[tuple[int, int], None] = {}
        self._importers: dict[int, _Importers] = {}
        self._n_saying: dict[str, int] = {}
        for node in starts[:n_asked]:
            self._push(node, 0)

    # -- what uses what changed ---------------------------------------------------------------------------------------

    def go_on(self, may_go_on: Callable[[], bool], may_look_on: Callable[[], bool]) -> None:
        """Follow what uses the changed nodes, what uses that, and so on, while there is time.

        Args:
            may_go_on: tells whether there is time.
            may_look_on: tells whether there is time to look for likely files while there was none yet.
        """
        while (self._users is not None or self._queue or self._parts) and may_go_on():
            users = self._users
            if users is None:
                self._add_parts(may_go_on)
                self._users = self._next() if self._queue else None
                continue
            only_likely = users.phase is _Phase.LIKELY
            some = users.files.take(self._at_once, may_go_on, may_look_on, only_likely=only_likely)
            if not some and not may_go_on():
                return
            self._graph.code.load(some, None, may_go_on)
            self._at_once = min(2 * self._at_once, MOST_AT_ONCE)
            with suppress(waiting.TimeUp), waiting.limited(may_go_on):
                if some:
                    self._read(users, some)
                else:
                    self._end_phase(users)

    def _add_parts(self, may_go_on: Callable[[], bool]) -> None:
        """Begin with the parts of what was asked about, once likely users of that were looked for."""
        if not self._queue or self._queue[0][:2] > (0, _Phase.LIKELY):
            while self._parts and may_go_on():
                self._push(self._parts[0], 0)
                self._parts.popleft()

    def _end_phase(self, users: _Users) -> None:
        """Put a definition behind others that are as near, or be done with it."""
        if users.phase is _Phase.REST:
            self._close(users.node)
            del self._begun[users.node]
        else:
            users.files.extend(users.later)
            if users.phase is _Phase.SAYING:
                users.files.put_back(users.read)
                users.read = []
            users.later, users.phase = [], _Phase(users.phase + 1)
            self._enqueue(users.node, self._lengths[users.node], users.phase)
        self._users = None

    def _push(self, node: int, length: int) -> None:
        if node not in self._done and self._is_said(node):
            self._enqueue(node, length, self._begun[node].phase if node in self._begun else _Phase.LIKELY)

    def _enqueue(self, node: int, length: int, phase: _Phase) -> None:
        name = self._graph.code.definition(node).name
        if name not in self._n_saying:
            self._n_saying[name] = len(self._graph.code.mentions.may_mention(name))
        heapq.heappush(self._queue, (length, phase, self._n_saying[name], node))

    def _is_said(self, node: int) -> bool:
        """Tell whether code can refer to a node by its name: not to an operator, nor to a test that has a sentence.

        What imports a file does not count as what uses it.
        """
        name = self._graph.code.definition(node).name if place_of(node) >= 0 else ""
        return " " not in name and any(letter.isalpha() or letter == "_" for letter in name)

    def _next(self) -> _Users | None:
        """Begin with the nearest node; of those as near, with the one that takes the least reading."""
        length, phase, _, node = entry = heapq.heappop(self._queue)
        if node in self._done or length > self._lengths[node]:
            return None
        if (begun := self._begun.get(node)) is not None:
            return begun if begun.phase == phase else None
        known = self._graph.connections.known
        for edges in known.edges_into([node], ALL_KINDS).values() if known is not None else ():
            self._add(edges, node)
        reader = self._graph.reader()
        users = self._seek(node, reader)
        if reader.unnamed:
            heapq.heappush(self._queue, entry)
            return None
        self._look_in(users, users.sought.names)
        self._begun[node] = users
        return users

    def _seek(self, node: int, reader: Reader) -> _Users:
        """Return what looks for the users of a node, without files."""
        referrers = self._graph.referrers(reader)
        sought, mentions = referrers.seek(node), self._graph.code.mentions

        def says(number: int) -> bool:
            return any(mentions.says(number, name) for name in sought.names)

        return _Users(node, sought, FileQueue((), says, referrers.looks_used(frozenset(sought.names), CALL_KINDS)))

    def _look_in(self, users: _Users, names: Iterable[str]) -> None:
        """Add the files that may say some names, the nearest first."""
        code, known = self._graph.code, self._graph.connections.known
        wanted = {number for name in names for number in code.mentions.may_mention(name)}
        if known is not None:
            wanted &= known.stale
        near = nearest_first(code.paths, code.languages, wanted, file_of(users.node))
        if users.phase is _Phase.LIKELY:
            users.later += [number for number in near if code.tests[number] != self._for_tests]
            near = [number for number in near if code.tests[number] == self._for_tests]
        users.files.extend(near)

    def _read(self, users: _Users, some: Sequence[int]) -> None:
        """Read the next few files that may use a node; one for which time is short is begun again."""
        reader = self._graph.reader()
        referrers = self._graph.referrers(reader)
        n_read = 0
        try:
            for number in some:
                waiting.check()
                self._look_in(users, referrers.other_names(users.sought, number))
                if reader.unnamed:
                    return
                names, spelling = users.sought
                lines = None if users.phase is _Phase.REST else referrers.lines_with(number, frozenset(names))
                edges = self._graph.resolver.edges_to(number, names, spelling=spelling, lines=lines)
                self._add((edge for edge in edges if edge.target == users.node), users.node)
                n_read += 1
                if users.phase is not _Phase.REST:
                    users.read.append(number)
        finally:
            users.files.put_back(some[n_read:])

    def _add(self, edges: Iterable[Edge], node: int) -> None:
        for edge in edges:
            self._edges[edge] = None
            if counts(edge.source, edge.kind):
                self._reach(edge.source, self._lengths[node] + doubt_of_edge(edge.how, edge.kind))

    def _close(self, node: int) -> None:
        """Be done with the users of a node, except those of the methods that it overrides."""
        for base in self._graph.connections.overridden(node):
            self._overrides[node, base] = None
            self._reach(base, self._lengths[node] + doubt_of_override())
        self._done.add(node)

    def _reach(self, node: int, length: int) -> None:
        if not is_too_far(length) and length < self._lengths.get(node, length + 1):
            self._push(node, length)  # which may read a file, for which there may be no time: then it is reached again
            self._lengths[node] = length

    @property
    def reached(self) -> Reached:
        """What the change affects, as far as it was followed."""
        edges = sorted(self._edges, key=lambda edge: edge.source)
        overrides = sorted(self._overrides)
        return Feelers(
            Steps(
                np.array([edge.source for edge in edges], np.int64),
                np.array([edge.target for edge in edges], np.int64),
                np.array([edge.kind for edge in edges], np.uint8),
                np.array([edge.how for edge in edges], np.uint8),
                np.array([method for method, _ in overrides], np.int64),
                np.array([base for _, base in overrides], np.int64),
            )
        ).reach(self._starts)

    def edges_into(self, nodes: Collection[int], kinds: Collection[int]) -> list[Edge]:
        """Return the edges of some kinds into some nodes, by file and line, as far as they were found."""
        found = [edge for edge in self._edges if edge.target in nodes and edge.kind in kinds]
        return sorted(found, key=lambda edge: (file_of(edge.source), edge.line))

    # -- what imports a file ------------------------------------------------------------------------------------------

    def importers(self, number: int, may_go_on: Callable[[], bool]) -> list[int]:
        """Return the files that import a file, as far as there is time to look for them."""
        code = self._graph.code
        search = self._importers.get(number)
        if search is None:
            possible = may_import(self._graph, number)
            nearest = nearest_first(code.paths, code.languages, possible.files, number)
            search = self._importers[number] = _Importers(
                possible.names, FileQueue(nearest, possible.says, possible.is_likely)
            )
        while some := search.files.take(self._at_once, may_go_on, may_go_on):
            code.load(some, None, may_go_on)
            n_read = 0
            with suppress(waiting.TimeUp), waiting.limited(may_go_on):
                for other in some:
                    waiting.check()
                    imports = self._graph.connections.imports(other, search.names)
                    if any(edge.target == number for edge in imports):
                        search.found.append(other)
                    n_read += 1
            search.files.put_back(some[n_read:])
        return sorted(search.found)

    # -- what is not known --------------------------------------------------------------------------------------------

    def unfollowed(self, reader: Reader) -> Unfollowed | None:
        """Return what is left to follow, and what is left to a reader, None if that is nothing."""
        users = self._users
        queued = [node for *_, node in sorted(self._queue)]
        own = [users.node] if users is not None else []
        left = dict.fromkeys([*own, *queued, *filter(self._is_said, self._parts)])
        nodes = [node for node in left if node not in self._done]
        files = reader.unread | reader.unnamed
        for users in self._begun.values():
            files.update(users.files.files, users.later, users.read)
        files.update(number for search in self._importers.values() for number in search.files.files)
        if not nodes and not files and not reader.lines_left:
            return None
        names = dict.fromkeys(self._graph.code.definition(node).name for node in nodes[: 4 * MOST_NAMES])
        seconds = self._graph.patience.seconds_each
        return Unfollowed(len(nodes), tuple(names)[:MOST_NAMES], len(files), reader.lines_left, seconds)


def walk_from(graph: Graph, starts: Sequence[int], n_asked: int, *, for_tests: bool) -> NearestWalk:
    """Return the walk from some nodes, see there; one that was begun before, as long as no file changed since."""
    waiting.give_way()
    walk = graph.unfinished.take(tuple(starts))
    return walk if isinstance(walk, NearestWalk) else NearestWalk(graph, starts, n_asked, for_tests=for_tests)


def keep_walk(graph: Graph, starts: Sequence[int], walk: NearestWalk) -> None:
    """Keep a walk, to be gone on with when the same is asked again."""
    graph.unfinished.keep(tuple(starts), walk)
