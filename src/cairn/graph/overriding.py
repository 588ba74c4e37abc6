"""Says where a method that nothing is known to call is called by what it overrides, or by what overrides it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from cairn.graph.graph import Graph
from cairn.graph.implementations import implementers_of, interfaces_of
from cairn.graph.nodes import file_of, place_of
from cairn.graph.reader import Reader
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
    source, place = graph.code.file(file_of(node)), place_of(node)
    definition = source.definitions[place] if place >= 0 else None
    if definition is None or definition.parent < 0 or definition.kind not in FUNCTION_KINDS - {"constructor"}:
        return False
    is_member = source.definitions[definition.parent].kind in TYPE_KINDS | source.rules.mixins
    return is_member and definition.name != source.rules.constructor


def on_overriding(graph: Graph, nodes: Sequence[int], calls_to: Calls, reader: Reader) -> tuple[Hint, ...]:
    """Return what to say of the calls of a method by its bases, and of the methods below it; nothing if there are none.

    Args:
        graph: the graph.
        nodes: the method.
        calls_to: finds the calls of some definitions.
        reader: says how long there is time.
    """
    methods = [node for node in nodes if place_of(node) >= 0 and graph.code.definition(node).kind in FUNCTION_KINDS]
    above = [base for node in methods for base in (*graph.connections.overridden(node), *interfaces_of(graph, node))]
    below = [edge.source for edge in implementers_of(graph, methods, reader)]
    words = (("It overrides {}, which is called", above), ("{}, which overrides it, is called", below))
    called = ((text, _first_called(graph, dict.fromkeys(found), calls_to, reader)) for text, found in words)
    return tuple(hint for text, found in called for hint in _hints(graph, text, found))


def _first_called(
    graph: Graph, methods: Iterable[int], calls_to: Calls, reader: Reader
) -> Iterator[tuple[int, Sequence[Edge]]]:
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
