"""What the symbol graph knows around one definition: who calls it, what it calls, and the tests that exercise it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

from cairn.answers import Neighbour, OutlineSymbol
from cairn.errors import AmbiguousError, StoreError
from cairn.graph.code import Code
from cairn.graph.field_impact import choose_tests_of_field
from cairn.graph.fields import Sought, find_field
from cairn.graph.graph import Graph
from cairn.graph.impact import choose_tests
from cairn.graph.nodes import file_of, node_of
from cairn.graph.patience import shared_time
from cairn.graph.questions import callees_of, callers_above, callers_of
from cairn.graph.reader import note_on_unfollowed
from cairn.graph.references import look_for
from cairn.graph.values import Link, RankedTest, Symbol, Unfollowed
from cairn.hints import Hint
from cairn.structure.context import ContextSection

OpenGraph = Callable[[], AbstractContextManager[Graph]]

MAX_TESTS = 10
_MAX_TEST_NAMES = 5  # of one file
_LEFT_OUT = "callers, callees and tests are left out"


@dataclass(frozen=True, slots=True)
class _Around:
    """What a context shows, a line each, and what there was no time for."""

    callers: tuple[str, ...]
    callees: tuple[str, ...]
    tests: tuple[str, ...]
    unfollowed: Unfollowed | None


def surroundings(
    open_graph: OpenGraph, path: str, symbol: OutlineSymbol
) -> tuple[list[ContextSection], tuple[str, ...]]:
    """Return the sections of a context that need the index, and notes; without an index only a note about that."""
    try:
        with open_graph() as graph:
            node = node_at(graph.code, path, symbol.qualified_name, symbol.start_line)
            if node is None:
                return _surroundings_of_part(graph, path, symbol)
            nodes = graph.code.group(node)
            around = graph.answers.give(("surroundings", tuple(nodes)), lambda: _around(graph, nodes), keeps=False)
            return _sections(around), (*graph.notes, *note_on_unfollowed(around.unfollowed))
    except StoreError as error:
        return [], (error.hint.after(f"{_LEFT_OUT}: {error}"),)


def _surroundings_of_part(
    graph: Graph, path: str, symbol: OutlineSymbol
) -> tuple[list[ContextSection], tuple[str, ...]]:
    """Return the sections for what the graph has no definition of, such as a field of a struct, and notes."""
    if path not in graph.code.numbers:
        return [], (Hint(f"{_LEFT_OUT}: {path} is not in the index; update it", "index"),)
    try:
        field = find_field(graph, f"{path}:{symbol.qualified_name}")
    except AmbiguousError:
        field = None
    if field is None:
        words = f"{_LEFT_OUT}: the graph knows no {symbol.kind} {symbol.qualified_name}; see what mentions it"
        return [], (Hint(words, "search", query=symbol.name, mode="literal"),)
    around = graph.answers.give(
        ("surroundings of field", field.target), lambda: _around_field(graph, field), keeps=False
    )
    sections = [ContextSection("used by:", around.callers), ContextSection("tested by:", around.tests)]
    return sections, (*graph.notes, *note_on_unfollowed(around.unfollowed))


def _around_field(graph: Graph, field: Sought) -> _Around:
    with shared_time(2):
        choice = choose_tests_of_field(graph, field)
        graph.patience.begin()
        reader = graph.reader()
        found, _, _ = look_for(graph, field, reader)
    tests = [test for test in choice.tests if test.tests][:MAX_TESTS]
    is_listed = _listed_with(graph, tests)
    places = {(one.path, one.line): one for one in found if not is_listed(one.path, one.symbol)}
    users = (f"{path}:{line} {_label(places[path, line].symbol)}" for path, line in sorted(places))
    return _Around(tuple(users), (), tuple(map(_test, tests)), reader.unfollowed() or choice.unfollowed)


def node_at(code: Code, path: str, qualified_name: str, line: int) -> int | None:
    """Return the definition of a name that begins on a line, None when the graph has none there."""
    if (number := code.numbers.get(path)) is None:
        return None
    for place, definition in enumerate(code.file(number).definitions):
        if (definition.qualified_name, definition.span.start_line) == (qualified_name, line):
            return node_of(number, place)
    return None


def _around(graph: Graph, nodes: Sequence[int]) -> _Around:
    with shared_time(2):
        graph.patience.begin()
        choice = choose_tests(graph, nodes)
        graph.patience.begin()
        reader = graph.reader()
        called, calling = callees_of(graph, nodes, reader), callers_of(graph, nodes, reader)
        above = callers_above(graph, nodes, reader)
    tests = [test for test in choice.tests if test.tests][:MAX_TESTS]
    is_listed = _listed_with(graph, tests)
    by_base = ((link, f" (by {base.symbol.name})") for base in above for link in base.links)
    callers = (
        f"{link.path}:{link.line} {_label(link.symbol)}{said or _doubt(link)}"
        for link, said in (*((link, "") for link in calling.links), *by_base)
        if not is_listed(link.path, link.symbol)
    )
    callees = (f"{link.symbol.path}:{link.symbol.line} {_label(link.symbol)}{_doubt(link)}" for link in called.links)
    unfollowed = reader.unfollowed() or choice.unfollowed
    return _Around(tuple(callers), tuple(dict.fromkeys(callees)), tuple(map(_test, tests)), unfollowed)


def _listed_with(graph: Graph, tests: Sequence[RankedTest]) -> Callable[[str, Symbol], bool]:
    """Return what tells whether a symbol in a file belongs to tests, which are listed by themselves."""
    files = {test.path for test in tests if graph.code.numbers[test.path] in graph.tests.numbers}
    shown = {(test.path, name) for test in tests for name in test.tests}
    return lambda path, symbol: path in files or (path, symbol.name) in shown


def _sections(around: _Around) -> list[ContextSection]:
    return [
        ContextSection("called by:", around.callers),
        ContextSection("calls:", around.callees),
        ContextSection("tested by:", around.tests),
    ]


def _label(symbol: Symbol) -> str:
    return f"{symbol.kind} {symbol.name}".strip()


def _doubt(link: Link) -> str:
    return " (by name only)" if link.how == "name" else ""


def _test(test: RankedTest) -> str:
    last = list(dict.fromkeys(name.rpartition(".")[2] for name in test.tests))
    more = len(last) - _MAX_TEST_NAMES
    names = ", ".join(last[:_MAX_TEST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"{test.path} {names}"


def neighbours(graph: Graph, node: int, most: int) -> tuple[Neighbour, ...]:
    """Return the callers of a definition, those in tests last, then callees; at most `most` of either, each once.

    They are those that are found in the time of a question.
    """
    nodes, reader = graph.code.group(node), graph.reader()
    callers, callees = callers_of(graph, nodes, reader).links, callees_of(graph, nodes, reader).links
    code = graph.code
    callers = tuple(sorted(callers, key=lambda link: bool(code.tests[code.numbers[link.path]])))
    own = {(code.paths[file_of(node)], code.definition(node).qualified_name) for node in nodes}
    found: list[Neighbour] = []
    sides: tuple[tuple[Literal["caller", "callee"], Sequence[Link]], ...] = (("caller", callers), ("callee", callees))
    for relation, links in sides:
        seen = set(own)
        for link in links:
            other = link.symbol
            if (other.path, other.name) in seen or len(seen) - len(own) == most:
                continue
            seen.add((other.path, other.name))
            path, line = (link.path, link.line) if relation == "caller" else (other.path, other.line)
            found.append(Neighbour(relation, path, line, other.kind, other.name, link.how))
    return tuple(found)
