"""Finds where a method is called by what it overrides, and by what overrides it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from cairn.graph.graph import Graph
from cairn.graph.implementations import implementers_of, interfaces_of
from cairn.graph.nodes import file_of, place_of
from cairn.graph.reader import FOR_USERS, Reader
from cairn.graph.resolve import Edge
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.graph.symbols import symbol_of
from cairn.hints import Hint
from cairn.source.text import pluralize

_MOST_TRIED = 40  # methods of one name
_MOST_NAMED = 3

Calls = Callable[[Sequence[int], Reader], Sequence[Edge]]


def overriding(graph: Graph, nodes: Iterable[int], reader: Reader) -> list[Edge]:
    """Return an edge from each method that overrides or implements one of some methods, see `implementers_of`."""
    methods = [node for node in nodes if _may_be_overridden(graph, node)]
    return implementers_of(graph, methods, reader)


def _may_be_overridden(graph: Graph, node: int) -> bool:
    if not _is_method(graph, node) or (parent := graph.code.definition(node).parent) < 0:
        return False
    source = graph.code.file(file_of(node))
    return source.definitions[parent].kind in TYPE_KINDS | source.rules.mixins


def _is_method(graph: Graph, node: int) -> bool:
    """Tell whether a definition may be a method, which in Go stands outside of its type; a constructor is none."""
    if place_of(node) < 0:
        return False
    definition, rules = graph.code.definition(node), graph.code.file(file_of(node)).rules
    return definition.kind in FUNCTION_KINDS - {"constructor"} and definition.name != rules.constructor


def calls_above(
    graph: Graph, nodes: Sequence[int], calls_to: Calls, reader: Reader
) -> list[tuple[int, Sequence[Edge]]]:
    """Return the methods that some definitions override and that are called, with their calls.

    Args:
        graph: the graph.
        nodes: the definitions; none of them is returned.
        calls_to: finds the calls of some definitions.
        reader: says how long there is time.
    """
    methods = [node for node in nodes if _is_method(graph, node)]
    above = list[int]()
    for node in methods:
        if (bases := reader.attempt(FOR_USERS, partial(graph.connections.overridden, node))) is None:
            reader.leave([graph.code.definition(node).name])
        above += bases or ()
    for node in methods:
        above += reader.attempt(FOR_USERS, partial(_all_interfaces, graph, node)) or ()
    return list(_first_called(dict.fromkeys(base for base in above if base not in nodes), calls_to, reader))


def _all_interfaces(graph: Graph, node: int) -> list[int]:
    return list(interfaces_of(graph, node))


def on_above(graph: Graph, called: Sequence[tuple[int, Sequence[Edge]]]) -> tuple[Hint, ...]:
    """Return what to say of calls of what a method overrides that are not listed."""
    return tuple(_hints(graph, "It overrides {}, which is called", iter(called)))


def on_below(graph: Graph, nodes: Sequence[int], calls_to: Calls, reader: Reader) -> tuple[Hint, ...]:
    """Return what to say of the calls of methods that override one; nothing if there are none."""
    methods = [node for node in nodes if place_of(node) >= 0 and graph.code.definition(node).kind in FUNCTION_KINDS]
    below = dict.fromkeys(edge.source for edge in implementers_of(graph, methods, reader))
    return tuple(_hints(graph, "{}, which overrides it, is called", _first_called(below, calls_to, reader)))


def _first_called(methods: Iterable[int], calls_to: Calls, reader: Reader) -> Iterator[tuple[int, Sequence[Edge]]]:
    """Yield the methods that are called, with their calls."""
    for _, node in zip(range(_MOST_TRIED), methods, strict=False):
        if edges := calls_to([node], reader):
            yield node, edges


def _hints(graph: Graph, text: str, called: Iterator[tuple[int, Sequence[Edge]]]) -> Iterator[Hint]:
    for _, (node, edges) in zip(range(_MOST_NAMED), called, strict=False):
        symbol = symbol_of(graph.code, node)
        first = f"{graph.code.paths[file_of(edges[0].source)]}:{edges[0].line}"
        more = f" and on {pluralize(len(edges) - 1, 'more line')}" if len(edges) > 1 else ""
        words = f"{text.format(symbol.name)}: {first}{more}; see these calls"
        yield Hint(words, "callers", symbol=f"{symbol.path}:{symbol.line}")
