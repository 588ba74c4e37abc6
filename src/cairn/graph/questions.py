"""Direct questions to the graph: who calls, what is called, the way from one symbol to another, who imports."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, takewhile
from typing import cast

from cairn.errors import UnknownSymbolError
from cairn.graph.code import Code
from cairn.graph.empty import on_no_callees, on_no_callers, on_no_importers, on_no_subclasses, on_unread, on_users
from cairn.graph.fields import find_callables
from cairn.graph.graph import CALL_KINDS, Graph
from cairn.graph.implementations import implementers_of, unresolved_subtypes
from cairn.graph.importing import MayImport, may_import, unresolved_imports, users_of
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.overriding import calls_above, on_above, on_below, overriding
from cairn.graph.reader import Reader, note_on_unfollowed
from cairn.graph.resolve import ALL_KINDS, IMPLEMENT, USE, Edge, ImportEdge
from cairn.graph.rules import NAMESPACE_KINDS, TYPE_KINDS, VALUE_KINDS, resolves_imports
from cairn.graph.symbols import find_file, find_namesakes, on_namesakes, symbol_of, with_counterparts
from cairn.graph.unresolved import note_on, on_nothing_in_time, unresolved_callees, unresolved_calls
from cairn.graph.values import (
    BaseCalls,
    CallPath,
    Importer,
    Importers,
    Link,
    Links,
    Symbol,
    Unfollowed,
    Unresolved,
    Way,
)
from cairn.hints import Hint
from cairn.source.imports import ImportFlag
from cairn.source.references import KINDS
from cairn.source.text import pluralize

_MAX_VISITED = 200_000
_MOST_ABOVE = 60  # calls of what a method overrides that an answer lists


def callers(graph: Graph, text: str, limit: int = 0) -> Links:
    """Return what calls a symbol directly, by file and line; `limit` 0 gives all.

    Raises:
        UnknownSymbolError, AmbiguousError: as `find_namesakes`.
    """
    return graph.answers.give(("callers", text, limit), lambda: _find_callers(graph, text, limit))


def _find_callers(graph: Graph, text: str, limit: int) -> Links:
    reader = graph.reader()
    symbols = find_callables(graph, text)
    nodes = _all_of(symbols)
    edges = calls_to(graph, nodes, reader)
    above = calls_above(graph, nodes, partial(calls_to, graph), reader)
    known = [*edges, *(edge for _, calls in above for edge in calls)]
    called = _numbers_of(symbols, lambda own: graph.call_targets(own)[0])
    links = _links(graph, symbols, [(edge, called[edge.target]) for edge in edges], limit, incoming=True)
    unresolved = unresolved_calls(graph, nodes, known, reader=reader)
    unfollowed = reader.unfollowed()
    notes = note_on(unresolved, f"call of {_short(links)}", has_known=bool(known))
    if not known and unresolved is None and unfollowed is None:
        notes = on_no_callers(graph, graph.code.main_of(nodes), _names_of(graph, nodes))
    if not known:
        below = on_below(graph, nodes, partial(calls_to, graph), reader) if unfollowed is None else ()
        notes = (*on_unread(graph, nodes[0]), *below, *notes)
    listed = _listed_above(above, len(links.links), limit)
    links = replace(links, above=tuple(_base_calls(graph, *each) for each in above[:listed]) or None)
    notes = (*on_above(graph, above[listed:]), *notes, *note_on_unfollowed(unfollowed))
    if unfollowed is not None and not known and unresolved is None:
        notes = (*notes, *on_nothing_in_time(_names_of(graph, nodes)))
    return _with_notes(links, text, symbols, notes, unresolved, unfollowed)


def _listed_above(above: Sequence[tuple[int, Sequence[Edge]]], n_links: int, limit: int) -> int:
    """Return for how many methods that are overridden an answer has room to list the calls, the nearest ones first."""
    room = min(_MOST_ABOVE, max(limit - n_links, 0)) if limit else _MOST_ABOVE
    sums = accumulate(len(calls) for _, calls in above)
    return sum(1 for _ in takewhile(lambda lines: lines <= room, sums))


def _base_calls(graph: Graph, base: int, calls: Sequence[Edge]) -> BaseCalls:
    return BaseCalls(symbol_of(graph.code, base), tuple(_link(graph, edge, edge.source) for edge in calls))


def _with_notes(
    links: Links,
    text: str,
    symbols: Sequence[Sequence[int]],
    notes: Sequence[Hint],
    unresolved: Unresolved | None,
    unfollowed: Unfollowed | None,
) -> Links:
    """Return links with what a reader has to know of them."""
    n_listed = len({link.namesake for link in links.links}) if not links.omitted else None
    said = (*links.notes, *on_namesakes(text, symbols, n_listed), *notes)
    return replace(links, notes=said, unresolved=unresolved, unfollowed=unfollowed)


def _all_of(symbols: Iterable[Iterable[int]]) -> list[int]:
    """Return the definitions of all of some symbols."""
    return list(dict.fromkeys(node for nodes in symbols for node in nodes))


def _numbers_of(symbols: Sequence[Sequence[int]], nodes_of: Callable[[Sequence[int]], Iterable[int]]) -> dict[int, int]:
    """Return of which symbol some nodes are that belong to each, by its number; of several, the first one."""
    return {node: number for number in range(len(symbols) - 1, -1, -1) for node in nodes_of(symbols[number])}


def _names_of(graph: Graph, nodes: Sequence[int]) -> set[str]:
    return {graph.code.definition(node).name for node in nodes if place_of(node) >= 0}


def _short(links: Links) -> str:
    return links.symbol.name or links.symbol.path


def callers_of(graph: Graph, nodes: Sequence[int], reader: Reader | None = None) -> Links:
    """Return what calls any of some definitions directly, without a word on what is not known; all without a reader."""
    return _links(graph, [nodes], [(edge, 0) for edge in calls_to(graph, nodes, reader)], 0, incoming=True)


def callers_above(graph: Graph, nodes: Sequence[int], reader: Reader) -> tuple[BaseCalls, ...]:
    """Return what calls the methods that some definitions override."""
    return tuple(_base_calls(graph, *each) for each in calls_above(graph, nodes, partial(calls_to, graph), reader))


def calls_to(graph: Graph, nodes: Sequence[int], reader: Reader | None = None) -> list[Edge]:
    """Return the calls of some definitions, by file and line; all without a reader."""
    wanted, kinds = graph.call_targets(nodes)
    edges = graph.incoming(wanted, kinds, reader)
    named = with_counterparts(graph.code, nodes)
    return [edge for edge in edges if edge.kind != USE or edge.target in named]  # a type that is named is not made


def callees(graph: Graph, text: str, limit: int = 0) -> Links:
    """Return what a symbol calls directly, in reading order; a type calls what its methods do.

    Raises:
        UnknownSymbolError, AmbiguousError: as `find_namesakes`.
    """
    return graph.answers.give(("callees", text, limit), lambda: _find_callees(graph, text, limit))


def _find_callees(graph: Graph, text: str, limit: int) -> Links:
    reader = graph.reader()
    symbols = find_callables(graph, text)
    nodes = _all_of(symbols)
    inside = _inside(graph, nodes)
    edges = [*graph.outgoing(inside, ALL_KINDS, reader), *_made_in_values(graph, inside, reader)]
    calling = _numbers_of(symbols, partial(_inside, graph))
    calls = [(edge, calling[edge.source]) for edge in edges if edge.kind in CALL_KINDS]
    links = _links(graph, symbols, calls, limit, incoming=False)
    unresolved = unresolved_callees(graph, inside, edges, reader)
    unfollowed = reader.unfollowed()
    notes = note_on(unresolved, "", has_known=bool(links.links))
    if unread := on_unread(graph, nodes[0]):
        notes, unresolved = unread, Unresolved("callee", (), 0, ())
    elif not links.links and unresolved is None and unfollowed is None:
        notes = on_no_callees(graph, nodes, inside)
    said = (*notes, *note_on_unfollowed(unfollowed, of_callees=True))
    return _with_notes(links, text, symbols, said, unresolved, unfollowed)


def callees_of(graph: Graph, nodes: Sequence[int], reader: Reader | None = None) -> Links:
    """Return what any of some definitions calls directly, without a word on what is not known; all without a reader."""
    return _links(graph, [nodes], [(edge, 0) for edge in calls_from(graph, nodes, reader)], 0, incoming=False)


def calls_from(graph: Graph, nodes: Sequence[int], reader: Reader | None = None) -> list[Edge]:
    """Return the calls in some definitions and in what they contain, in reading order; of a file, those at its top."""
    return graph.outgoing(_inside(graph, nodes), CALL_KINDS, reader)


def _made_in_values(graph: Graph, nodes: Iterable[int], reader: Reader | None = None) -> Iterator[Edge]:
    """Yield the calls at the top level of a file that stand in values, such as in nameless functions of a route."""
    for node in nodes:
        definition = graph.code.definition(node) if place_of(node) >= 0 else None
        if definition is None or definition.parent >= 0 or definition.kind not in VALUE_KINDS:
            continue
        span = definition.span
        for edge in graph.outgoing([node_of(file_of(node), -1)], CALL_KINDS | {USE}, reader):
            if span.start_line <= edge.line <= span.end_line:
                yield edge._replace(source=node)


def _inside(graph: Graph, nodes: Sequence[int]) -> Sequence[int]:
    return nodes if any(place_of(node) < 0 for node in nodes) else graph.within(nodes)


def subclasses(graph: Graph, text: str, limit: int = 0) -> Links:
    """Return what derives from a type or implements it, however indirectly, or overrides a method; nearest first.

    Raises:
        UnknownSymbolError, AmbiguousError: as `find_namesakes`.
    """
    return graph.answers.give(("subclasses", text, limit), lambda: _find_subclasses(graph, text, limit))


def _find_subclasses(graph: Graph, text: str, limit: int) -> Links:
    reader = graph.reader()
    symbols = find_namesakes(graph.code, graph.connection, text, TYPE_KINDS)
    nodes = _all_of(symbols)
    found = [(edge, number) for number, own in enumerate(symbols) for edge in implementers_of(graph, own, reader)]
    edges = [edge for edge, _ in found]
    links = _links(graph, symbols, found, limit, incoming=True)
    unresolved = unresolved_subtypes(graph, nodes, edges, reader)
    unfollowed = reader.unfollowed()
    notes = note_on(unresolved, f"subclass of {_short(links)}", has_known=bool(edges))
    if not edges and unresolved is None and unfollowed is None:
        notes = on_no_subclasses(graph, graph.code.main_of(nodes), _names_of(graph, nodes))
    if not edges:
        notes = (*on_unread(graph, nodes[0]), *notes)
    notes = (*notes, *note_on_unfollowed(unfollowed))
    if unfollowed is not None and not edges and unresolved is None:
        notes = (*notes, *on_nothing_in_time(_names_of(graph, nodes)))
    return _with_notes(links, text, symbols, notes, unresolved, unfollowed)


def _links(
    graph: Graph, symbols: Sequence[Sequence[int]], edges: Iterable[tuple[Edge, int]], limit: int, *, incoming: bool
) -> Links:
    """Return the links of some symbols, each from an edge with the number of its symbol, by these numbers."""
    links: dict[tuple[int, int, int], Link] = {}
    for edge, number in edges:
        other = edge.source if incoming else edge.target
        namesake = number if len(symbols) > 1 else None
        links.setdefault((number, other, edge.line), _link(graph, edge, other, namesake))
    by_symbol = sorted(links.values(), key=lambda link: link.namesake or 0)
    shown = by_symbol[: limit or None]
    names = tuple(symbol_of(graph.code, graph.code.main_of(nodes)) for nodes in symbols)
    namesakes = names if len(symbols) > 1 else None
    return Links(names[0], tuple(shown), len(links) - len(shown), graph.notes, namesakes=namesakes)


def _link(graph: Graph, edge: Edge, node: int, namesake: int | None = None) -> Link:
    path = graph.code.paths[file_of(edge.source)]
    how = cast("Way", edge.how.name.lower())
    return Link(symbol_of(graph.code, node), KINDS[edge.kind], how, path, edge.line, namesake)


def call_path(graph: Graph, source: str, target: str) -> CallPath:
    """Return the shortest path of calls between two symbols; without steps if there is none.

    Constructing a type calls its constructor, and calling a type's method reaches the type. If no calls lead there by
    themselves, a method that is called may also run one that overrides it. Of a name that several symbols have, the
    path may begin or end at any of them.

    Raises:
        UnknownSymbolError, AmbiguousError: as `find_namesakes`.
    """
    starts, ends = (find_namesakes(graph.code, graph.connection, text) for text in (source, target))
    came, reached = _walk(graph, starts, ends)
    reader = graph.reader()
    if reached is None:
        by_override, reached = _walk(graph, starts, ends, lambda node: _overrides(graph, node, reader))
        came = came if reached is None else by_override
    notes = (*graph.notes, *dict.fromkeys((*on_namesakes(source, starts), *on_namesakes(target, ends))))
    names = [tuple(_shown(graph, nodes) for nodes in symbols) for symbols in (starts, ends)]
    sources, targets = (named if len(named) > 1 else None for named in names)
    if reached is not None:
        steps, first = _steps(graph, came, reached)
        own, other = _holder_of(graph, starts, first), _holder_of(graph, ends, reached)
        return CallPath(own, other, tuple(steps), notes, sources=sources, targets=targets)
    own, other = (named[0] for named in names)
    unresolved = unresolved_calls(graph, _all_of(ends), calls_to(graph, _all_of(ends)))
    said = note_on(unresolved, f"call of {other.name or other.path}", has_known=True)
    inside = _inside(graph, _all_of(starts))
    known = graph.outgoing(inside, ALL_KINDS)
    ways_out = note_on(unresolved_callees(graph, inside, known, graph.reader(is_patient=True)), "", has_known=False)
    count, verb = pluralize(len(came), "definition"), "was" if len(came) == 1 else "were"
    words = f"{count} that {own.name or own.path} reaches by calls {verb} looked at; see what calls the other end"
    tried = Hint(words, "callers", symbol=f"{other.path}:{other.line}" if len(ends) == 1 else target)
    cut = note_on_unfollowed(reader.unfollowed())
    return CallPath(own, other, (), (*notes, tried, *said, *ways_out, *cut), unresolved, sources, targets)


def _holder_of(graph: Graph, symbols: Sequence[Sequence[int]], node: int) -> Symbol:
    """Return the first of some symbols that is a node or contains it."""
    return _shown(graph, next((nodes for nodes in symbols if node in _whole(graph, nodes)), symbols[0]))


def _shown(graph: Graph, nodes: Sequence[int]) -> Symbol:
    return symbol_of(graph.code, graph.code.main_of(nodes))


def _walk(
    graph: Graph,
    starts: Sequence[Sequence[int]],
    ends: Sequence[Sequence[int]],
    besides: Callable[[int], Iterable[Edge]] = lambda _: (),
) -> tuple[dict[int, Edge | None], int | None]:
    """Return how definitions are reached by calls, the nearest first, up to one that is sought; None if none is.

    Args:
        graph: the graph.
        starts: the symbols to begin at.
        ends: those that are sought.
        besides: gives further edges from a definition.
    """
    goal = set(_whole(graph, _all_of(ends)))
    came: dict[int, Edge | None] = dict.fromkeys(_whole(graph, _all_of(starts)))
    queue = deque(came)
    reached = next((node for node in came if node in goal), None)
    while queue and reached is None and len(came) < _MAX_VISITED:
        current = queue.popleft()
        known = graph.outgoing([current], CALL_KINDS | {USE})
        for edge in (*known, *_made_in_values(graph, [current]), *besides(current)):
            for node in _run_by_call(graph, edge.target):
                if node not in came:
                    came[node] = edge
                    queue.append(node)
                    reached = node if node in goal and reached is None else reached
    return came, reached


def _overrides(graph: Graph, node: int, reader: Reader) -> Iterator[Edge]:
    """Yield an edge from a method to each that overrides it, which a call of it may run."""
    for edge in overriding(graph, [node], reader):
        definition = graph.code.definition(node)
        yield Edge(node, edge.source, IMPLEMENT, edge.how, definition.span.start_line, definition.name)


def _whole(graph: Graph, nodes: Sequence[int]) -> list[int]:
    """Return some symbols, and of types and files what they contain."""
    wide = [
        node for node in nodes if place_of(node) < 0 or graph.code.definition(node).kind in TYPE_KINDS | NAMESPACE_KINDS
    ]
    return list(dict.fromkeys([*nodes, *(graph.within(wide) if wide else ())]))


def _run_by_call(graph: Graph, node: int) -> list[int]:
    """Return what runs when a definition is called: of a type, its constructors."""
    source, definition = graph.code.file(file_of(node)), graph.code.definition(node)
    if definition.kind not in TYPE_KINDS:
        return graph.code.group(node)
    members = source.members.get(definition.qualified_name, {})
    makers = [
        place
        for name in (source.rules.constructor, definition.name, "constructor")
        for place in members.get(name, ())
        if place != place_of(node)
    ]
    return [node, *(node_of(source.number, place) for place in dict.fromkeys(makers))]


def _steps(graph: Graph, came: dict[int, Edge | None], node: int) -> tuple[list[Link], int]:
    """Return the steps of a path that ends at a definition, and where it begins."""
    steps: list[Link] = []
    current = node
    while (edge := came[current]) is not None:
        steps.append(_link(graph, edge, current))
        # A constructor was reached by way of its type, an inner definition as part of what was asked for.
        current = edge.source
    first = symbol_of(graph.code, current)
    steps.append(Link(first, "start", "exact", first.path, first.line))
    return steps[::-1], current


def importers(graph: Graph, text: str) -> Importers:
    """Return the files that import a file, given by its path, as a Python module's name, or by a symbol in it.

    Raises:
        UnknownSymbolError: if there is no such file.
    """
    return graph.answers.give(("importers", text), lambda: importers_within(graph, text, graph.reader()))


def importers_within(graph: Graph, text: str, reader: Reader) -> Importers:
    """Return what `importers` does in the time of a question, which the reader tells."""
    number = find_file(graph.code, text)
    if number is None and _may_be_module(graph.code, text):
        place = graph.code.modules.resolve(text, "", "python")
        number = place if isinstance(place, int) else None
    if number is not None:
        return _importers_of(graph, number, reader)
    symbols = _symbols_named(graph, text)
    numbers = list(dict.fromkeys(file_of(nodes[0]) for nodes in symbols))
    first, *others = (_importers_of(graph, number, reader) for number in numbers)
    found = _of_several(graph, first, others) if others else first
    return replace(found, notes=(*on_namesakes(text, symbols), *found.notes))


def _of_several(graph: Graph, first: Importers, others: Sequence[Importers]) -> Importers:
    """Return what imports any of several files, each importer once, and what is not known of one of them."""
    all_files = (first, *others)
    importers = {importer.path: importer for each in reversed(all_files) for importer in reversed(each.importers)}
    ordered = tuple(sorted(importers.values(), key=lambda importer: importer.path))
    doubtful = [each for each in all_files if each.unresolved is not None or each.unfollowed is not None]
    unsure = doubtful or (() if ordered else all_files)
    said = dict.fromkeys((*graph.notes, *(note for each in unsure for note in each.notes)))
    unresolved = next((each.unresolved for each in all_files if each.unresolved is not None), None)
    unfollowed = next((each.unfollowed for each in all_files if each.unfollowed is not None), None)
    return Importers(first.path, ordered, tuple(said), unresolved, unfollowed)


def _importers_of(graph: Graph, number: int, reader: Reader) -> Importers:
    path = graph.code.paths[number]
    importers: dict[str, Importer] = {}
    possible = may_import(graph, number)
    for edge in _imports_of(graph, number, possible, reader):
        importer = Importer(
            graph.code.paths[edge.source],
            edge.line,
            bool(edge.flags & ImportFlag.TYPE_ONLY),
            bool(edge.flags & ImportFlag.DEFERRED),
        )
        importers.setdefault(importer.path, importer)
    files = sorted(possible.files)
    unresolved = unresolved_imports(graph, number, possible.names, files, possible.says, reader)
    users = users_of(graph, number, importers, reader)
    unfollowed = reader.unfollowed()
    notes = note_on(unresolved, f"import of {path}", has_known=bool(importers))
    if not importers and unresolved is None and unfollowed is None and not users:
        notes = on_no_importers(graph, number, list(filter(possible.says, files)))
        if not resolves_imports(graph.code.languages[number]):
            unresolved = Unresolved("import", (), 0, ())
    if users:
        notes = (*on_users(path, users, has_known=bool(importers)), *notes)
        unresolved = unresolved or Unresolved("import", (), 0, ())
    said = (*graph.notes, *notes, *note_on_unfollowed(unfollowed))
    return Importers(path, tuple(importers.values()), said, unresolved, unfollowed)


def _may_be_module(code: Code, text: str) -> bool:
    """Tell from the names of files whether a text may be the name of a Python module; looking it up takes longer."""
    name = text.strip().rpartition(".")[2]
    endings = (f"/{name}.py", f"/{name}.pyi", f"/{name}/__init__.py", f"/{name}/__init__.pyi")
    return any(f"/{path}".endswith(endings) for path in code.paths)


def _imports_of(graph: Graph, number: int, possible: MayImport, reader: Reader) -> list[ImportEdge]:
    """Return the imports of a file in some others, in their order, as far as there is time to read these."""
    known = graph.connections.known
    open_files = possible.files if known is None else possible.files & known.stale
    others = set(known.network.importers(number)) - open_files if known is not None else ()
    found = {other: graph.connections.imports(other) for other in others}
    for other in reader.read(open_files, possible.says, number, possible.is_likely):
        if (imports := reader.resolve(other, partial(graph.connections.imports, other, possible.names))) is not None:
            found[other] = imports
    return [edge for other in sorted(found) for edge in found[other] if edge.target == number]


def _symbols_named(graph: Graph, text: str) -> list[list[int]]:
    try:
        return find_namesakes(graph.code, graph.connection, text)
    except UnknownSymbolError as error:
        raise UnknownSymbolError(f"no file, module or symbol is called {text!r} here", error.hint) from error
