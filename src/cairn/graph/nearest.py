"""Walks from what changed to what that may affect, the surest way first, while the whole project is not resolved."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from cairn import waiting
from cairn.graph.graph import Graph
from cairn.graph.nodes import file_of, place_of
from cairn.graph.questions import MayImport, may_import
from cairn.graph.reach import Feelers, Reached, Steps, counts, doubt_of_edge, doubt_of_override, is_too_far
from cairn.graph.reader import MOST_NAMES, Reader, nearest_first
from cairn.graph.referrers import NamesSought
from cairn.graph.resolve import ALL_KINDS, Edge
from cairn.graph.values import Unfollowed

_FILES_AT_ONCE = 40  # parsed in a row: what one helper does in some 60 ms


@dataclass(slots=True)
class _Users:
    """A definition whose users are looked for: what they may call it, and the files that are still to be read."""

    node: int
    sought: NamesSought
    files: deque[int]


@dataclass(slots=True)
class _Importers:
    """A file whose importers are looked for: those found, and the files that are still to be read."""

    possible: MayImport
    files: deque[int]
    found: list[int] = field(default_factory=list)


class NearestWalk:
    """What a change of some nodes affects, as far as time allows to follow it; `go_on` as often as there is time.

    Args:
        graph: the graph, whose code must stay as it is.
        starts: the nodes.
    """

    def __init__(self, graph: Graph, starts: Sequence[int]) -> None:
        self._graph = graph
        self._starts = tuple(starts)
        self._lengths = dict.fromkeys(starts, 0)
        self._done: set[int] = set()
        self._queue: list[tuple[int, int, int]] = []  # length of the way, files to read for it, node
        self._users: _Users | None = None
        self._edges: dict[Edge, None] = {}
        self._overrides: dict[tuple[int, int], None] = {}
        self._importers: dict[int, _Importers] = {}
        self._n_saying: dict[str, int] = {}
        for node in starts:
            self._push(node, 0)

    # -- what uses what changed ---------------------------------------------------------------------------------------

    def go_on(self, may_go_on: Callable[[], bool]) -> None:
        """Follow what uses the changed nodes, what uses that, and so on, while there is time."""
        while (self._users is not None or self._queue) and may_go_on():
            if self._users is None:
                self._users = self._next()
                continue
            some = self._load(self._users, may_go_on)
            with suppress(waiting.TimeUp), waiting.limited(may_go_on):
                if some:
                    self._read(self._users, some)
                else:
                    self._close(self._users.node)
                    self._users = None

    def _push(self, node: int, length: int) -> None:
        if place_of(node) < 0 or node in self._done:
            return  # what imports a file does not count as what uses it
        name = self._graph.code.definition(node).name
        if _can_be_said(name):
            if name not in self._n_saying:
                self._n_saying[name] = len(self._graph.code.mentions.may_mention(name))
            heapq.heappush(self._queue, (length, self._n_saying[name], node))

    def _next(self) -> _Users | None:
        """Begin with the nearest node; of those as near, with the one that takes the least reading."""
        length, _, node = begun = heapq.heappop(self._queue)
        if node in self._done or length > self._lengths[node]:
            return None
        known = self._graph.connections.known
        for edges in known.edges_into([node], ALL_KINDS).values() if known is not None else ():
            self._add(edges, node)
        reader = self._graph.reader()
        users = _Users(node, self._graph.referrers(reader).seek(node), deque())
        if reader.unnamed:
            heapq.heappush(self._queue, begun)
            return None
        self._look_in(users, users.sought.names)
        return users

    def _look_in(self, users: _Users, names: Iterable[str]) -> None:
        """Add the files that say some names, the nearest first."""
        code, known = self._graph.code, self._graph.connections.known
        wanted = {number for name in names for number in code.mentions.may_mention(name)}
        if known is not None:
            wanted &= known.stale
        users.files.extend(nearest_first(code.paths, code.languages, wanted, file_of(users.node)))

    def _load(self, users: _Users, may_go_on: Callable[[], bool]) -> dict[int, bool]:
        """Return the next few files that may use a node, and of each whether it says one of its names."""
        code, names = self._graph.code, users.sought.names
        some = [users.files[place] for place in range(min(_FILES_AT_ONCE, len(users.files)))]
        saying = {number: any(code.mentions.says(number, name) for name in names) for number in some}
        code.load([number for number in some if saying[number]], None, may_go_on)
        return saying

    def _read(self, users: _Users, some: dict[int, bool]) -> None:
        """Read the next few files that may use a node; one for which time is short is begun again."""
        reader = self._graph.reader()
        referrers = self._graph.referrers(reader)
        for number, says_it in some.items():
            waiting.check()
            if says_it:
                self._look_in(users, referrers.other_names(users.sought, number))
                if reader.unnamed:
                    return
                edges = self._graph.resolver.edges_to(number, users.sought.names, spelling=users.sought.spelling)
                self._add((edge for edge in edges if edge.target == users.node), users.node)
            users.files.popleft()

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
            search = self._importers[number] = _Importers(possible, deque(nearest))
        while search.files and may_go_on():
            some = [search.files[place] for place in range(min(_FILES_AT_ONCE, len(search.files)))]
            saying = set(filter(search.possible.says, some))
            code.load([other for other in some if other in saying], None, may_go_on)
            with suppress(waiting.TimeUp), waiting.limited(may_go_on):
                for other in some:
                    waiting.check()
                    imports = self._graph.connections.imports(other) if other in saying else ()
                    if any(edge.target == number for edge in imports):
                        search.found.append(other)
                    search.files.popleft()
        return sorted(search.found)

    # -- what is not known --------------------------------------------------------------------------------------------

    def unfollowed(self, reader: Reader) -> Unfollowed | None:
        """Return what is left to follow, and what is left to a reader, None if that is nothing."""
        users = self._users
        left = dict.fromkeys(
            [*([users.node] if users is not None else ()), *(node for _, _, node in sorted(self._queue))]
        )
        nodes = [node for node in left if node not in self._done]
        files = reader.unread | reader.unnamed
        files.update(users.files if users is not None else ())
        files.update(number for search in self._importers.values() for number in search.files)
        if not nodes and not files and not reader.lines_left:
            return None
        names = dict.fromkeys(self._graph.code.definition(node).name for node in nodes[: 4 * MOST_NAMES])
        seconds = self._graph.patience.seconds
        return Unfollowed(len(nodes), tuple(names)[:MOST_NAMES], len(files), reader.lines_left, seconds)


def _can_be_said(name: str) -> bool:
    """Tell whether code can refer to something by its name: not to an operator, nor to a test that has a sentence."""
    return " " not in name and any(letter.isalpha() or letter == "_" for letter in name)


def walk_from(graph: Graph, starts: Sequence[int]) -> NearestWalk:
    """Return the walk from some nodes; one that was begun before, as long as no file changed since."""
    waiting.give_way()
    walk = graph.unfinished.take(tuple(starts))
    return walk if isinstance(walk, NearestWalk) else NearestWalk(graph, starts)


def keep_walk(graph: Graph, starts: Sequence[int], walk: NearestWalk) -> None:
    """Keep a walk, to be gone on with when the same is asked again."""
    graph.unfinished.keep(tuple(starts), walk)
