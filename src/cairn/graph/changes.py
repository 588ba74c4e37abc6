"""Finds the definitions that the current change touches, from what git says differs."""

from __future__ import annotations

from pathlib import Path

from cairn.errors import DiffError, QueryError
from cairn.graph.code import Code, node_of, place_of
from cairn.graph.graph import Graph
from cairn.graph.rules import VALUE_KINDS
from cairn.graph.symbols import find_symbol
from cairn.source.compare import changed_lines
from cairn.source.git import Repository


def nodes_of_change(
    graph: Graph, symbol: str | None, revision: str | None, root: Path, repository: Repository | None
) -> list[int]:
    """Return the definitions that change: those of a symbol, or all that differ from a revision.

    Raises:
        QueryError: unless one of both is given.
        UnknownSymbolError, AmbiguousError: as for any symbol.
        DiffError: as `changed_nodes`.
    """
    if symbol is not None and revision is None:
        return _nodes_of(graph, symbol)
    if symbol is None and revision is not None:
        return changed_nodes(graph.code, root, repository, revision or "HEAD")
    raise QueryError(
        "name a symbol, or ask for what changed: one of both", "cairn impact SYMBOL, or: cairn impact --diff"
    )


def _nodes_of(graph: Graph, text: str) -> list[int]:
    """Return the definitions that a symbol stands for when it changes: of a file, all that it holds."""
    nodes = find_symbol(graph.code, graph.connection, text)
    return graph.within(nodes) if any(place_of(node) < 0 for node in nodes) else nodes


def changed_nodes(code: Code, root: Path, repository: Repository | None, revision: str) -> list[int]:
    """Return the definitions on changed lines, and files with changes outside of all.

    A line counts for the innermost definition around it. What was removed counts for what surrounds the gap. A file
    that is new to git counts as a whole.

    Raises:
        DiffError: outside git, or for a revision that git does not know.
    """
    if repository is None:
        raise DiffError(f"{root} is in no git repository, so nothing tells what changed", "name a symbol instead")
    found: dict[int, None] = {}
    for path, ranges in changed_lines(root, repository, revision, code.numbers).items():
        number = code.numbers.get(path)
        if number is None:
            continue
        source = code.file(number)
        for first, last in ranges:
            found |= dict.fromkeys(_touched(code, number, first, last))
        if not ranges:
            found |= dict.fromkeys(node_of(number, place) for place in range(-1, len(source.definitions)))
    return list(found)


def _touched(code: Code, number: int, first: int, last: int) -> list[int]:
    source = code.file(number)
    places = {source.at_line(line) for line in range(first, min(last, first + 5_000) + 1)}
    nodes = []
    for place in sorted(places):
        # A field or a constant has users of its own only where the graph knows them; its type has.
        while place >= 0 and source.definitions[place].kind in VALUE_KINDS and source.definitions[place].parent >= 0:
            place = source.definitions[place].parent
        nodes.append(node_of(number, place))
    return nodes
