"""Finds the definitions that the current change touches, from what git says differs."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cairn.errors import DiffError, QueryError, UnknownSymbolError
from cairn.graph.code import Code
from cairn.graph.deleted import NOTHING_LEFT, Leftovers, find_leftovers
from cairn.graph.fields import Sought, find_field
from cairn.graph.graph import Graph
from cairn.graph.nodes import node_of, place_of
from cairn.graph.rules import VALUE_KINDS
from cairn.graph.symbols import find_namesakes, on_namesakes
from cairn.hints import Hint
from cairn.source.compare import Comparison, compare
from cairn.source.git import Repository
from cairn.source.plumbing import is_installed

_MAX_NAMED = 10  # submodules that a note names


class Change(NamedTuple):
    """What changes: definitions that still exist, what is left of deleted files, and a field that is no definition."""

    nodes: list[int]
    leftovers: Leftovers = NOTHING_LEFT
    field: Sought | None = None
    notes: tuple[Hint, ...] = ()


def find_change(
    graph: Graph, symbol: str | None, revision: str | None, root: Path, repository: Repository | None
) -> Change:
    """Return what changes: the definitions of a symbol, or everything that differs from a revision.

    Raises:
        QueryError: unless exactly one of the two is given.
        UnknownSymbolError, AmbiguousError: as for any symbol.
        DiffError: as `change_since`.
    """
    if symbol is not None and revision is None:
        return _change_of(graph, symbol)
    if symbol is None and revision is not None:
        return change_since(graph, root, repository, revision or "HEAD")
    raise QueryError("name either a symbol or a revision to compare with", Hint.of("impact", diff="HEAD"))


def _change_of(graph: Graph, text: str) -> Change:
    """Return what a symbol stands for when it changes: for a file, everything in it."""
    try:
        symbols = find_namesakes(graph.code, graph.connection, text)
    except UnknownSymbolError:
        if (field := find_field(graph, text.strip())) is not None:
            return Change([], field=field, notes=field.on_namesakes(text))
        raise
    nodes = [node for each in symbols for node in each]
    whole = graph.within(nodes) if any(place_of(node) < 0 for node in nodes) else nodes
    return Change(whole, notes=on_namesakes(text, symbols))


def change_since(graph: Graph, root: Path, repository: Repository | None, revision: str) -> Change:
    """Return the definitions on changed lines, files that changed elsewhere, and what is left of deleted ones.

    A changed line counts for the innermost definition around it, a removed one for what surrounds the gap. A file that
    is new to git counts as a whole.

    Raises:
        DiffError: outside git, before the first commit, or for a revision that git does not know.
    """
    if repository is None and not is_installed():
        raise DiffError("git is not installed, so there is nothing to compare with", "install git, or name a symbol")
    if repository is None:
        raise DiffError(
            f"{root} is not in a git repository, so there is nothing to compare with", "name a symbol instead"
        )
    code = graph.code
    found: dict[int, None] = {}
    compared = compare(root, repository, revision, code.numbers)
    for path, ranges in compared.changed.items():
        number = code.numbers[path]
        for first, last in ranges:
            found |= dict.fromkeys(nodes_on(code, number, first, last))
        if not ranges:
            found |= dict.fromkeys(graph.within([node_of(number, -1)]))
    leftovers = find_leftovers(graph, root, compared.gone)
    return Change(list(found), leftovers._replace(notes=(*leftovers.notes, *_notes(compared))))


def _notes(compared: Comparison) -> tuple[str, ...]:
    if not compared.submodules:
        return ()
    named = ", ".join(compared.submodules[:_MAX_NAMED]) + (", ..." if len(compared.submodules) > _MAX_NAMED else "")
    return (f"Changes inside submodules are not seen: {named}",)


def nodes_on(code: Code, number: int, first: int, last: int) -> list[int]:
    """Return the definitions on some lines of a file: the innermost on each, but the type of a value in a type."""
    source = code.file(number)
    places = {source.at_line(line) for line in range(first, min(last, first + 5_000) + 1)}
    nodes = []
    for place in sorted(places):
        # The graph may not know who uses a field or a constant; it does know who uses its type.
        while place >= 0 and source.definitions[place].kind in VALUE_KINDS and source.definitions[place].parent >= 0:
            place = source.definitions[place].parent
        nodes.append(node_of(number, place))
    return nodes
