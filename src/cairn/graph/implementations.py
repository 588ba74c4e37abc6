"""Finds what derives from a type or implements it, and what overrides a method; in Go, by what a type's methods are."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from cairn import waiting
from cairn.graph.entities import How
from cairn.graph.graph import Graph
from cairn.graph.namesakes import MAX_NAMESAKES
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.reader import FOR_USERS, Reader
from cairn.graph.resolve import IMPLEMENT, INHERIT, USE, Edge
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.graph.sightings import lines_like_heads, names_pattern
from cairn.graph.signatures import split_parameters
from cairn.graph.tally import LineTally, files_for
from cairn.graph.values import Unresolved
from cairn.source.expressions import called_name

SAYS_ALL = frozenset({"csharp", "java", "kotlin"})  # where a type says which interfaces it implements
_BASE_KINDS = (INHERIT, IMPLEMENT)
_MOST_CANDIDATES = 2_000  # methods of the name that the fewest types have; `String` says nothing
_QUALIFIER = r"\b\w+\.(?=\w)"


def implementers_of(graph: Graph, nodes: Sequence[int], reader: Reader | None = None) -> list[Edge]:
    """Return what derives from some types, however indirectly, or overrides some methods; nearest first.

    Each is the source of an edge that says where and how surely it refers to the type. A type of Go refers to no
    interface: such an edge has the line of the type. All are found without a reader.
    """
    reader = reader or graph.reader(is_patient=True)
    edges: dict[int, Edge] = {}
    below: dict[int, dict[int, Edge]] = {}
    for node in nodes:
        if place_of(node) < 0:
            continue
        definition = graph.code.definition(node)
        is_type = definition.kind in TYPE_KINDS
        owner = node if is_type else _owner_of(graph, node)
        if owner >= 0 and owner not in below:
            below[owner] = _subtypes(graph, owner, reader)
        if is_type:
            edges |= {sub: edge for sub, edge in below[owner].items() if sub not in edges}
        elif owner >= 0:
            for sub, edge in below[owner].items():
                for own in _members(graph, sub, definition.name):
                    edges.setdefault(own, edge._replace(source=own))
    return list(edges.values())


def _owner_of(graph: Graph, node: int) -> int:
    """Return the type that a method is in, -1 for none."""
    source = graph.code.file(file_of(node))
    parent = source.definitions[place_of(node)].parent
    return node_of(source.number, parent) if parent >= 0 else -1


def names_of_types_above(graph: Graph, nodes: Iterable[int]) -> set[str]:
    """Return the names of the types above those in which some definitions are.

    In a language of `SAYS_ALL`, they may also be inherited for an interface that only a type below says it implements.
    """
    owners = {owner for node in nodes if place_of(node) >= 0 and (owner := _owner_of(graph, node)) >= 0}
    owners = {owner for owner in owners if graph.code.definition(owner).kind in TYPE_KINDS}
    saying_all = [owner for owner in owners if graph.code.languages[file_of(owner)] in SAYS_ALL]
    owners.update(edge.source for edge in implementers_of(graph, saying_all))
    above: set[str] = set()
    tried: set[str] = set()
    front = {graph.code.definition(owner).name for owner in owners}
    while front and len(above) < MAX_NAMESAKES:
        name = front.pop()
        tried.add(name)
        for node in graph.code.nodes_named(name)[:MAX_NAMESAKES]:
            source = graph.code.file(file_of(node))
            bases = {called_name(text) for text in source.bases.get(place_of(node), ())}
            above |= bases
            front |= bases - tried
    return above


def _members(graph: Graph, node: int, name: str) -> list[int]:
    """Return the members of a type that stand in its file, by name; in Go also those beside it."""
    source, definition = graph.code.file(file_of(node)), graph.code.definition(node)
    places = source.members.get(definition.qualified_name, {}).get(name, ())
    if places or source.language != "go":
        return [node_of(source.number, place) for place in places]
    member = graph.resolver.meaning.inheritance.member(node, name)
    return [member.node] if member is not None and member.tag == "function" else []


def _subtypes(graph: Graph, node: int, reader: Reader) -> dict[int, Edge]:
    """Return {type: the edge by which it derives} of all types below one, the nearest first."""
    subtypes: dict[int, Edge] = {}
    front = [*graph.code.group(node), *_extending(graph, node)]
    while front:
        if not reader.lasts(FOR_USERS):
            reader.leave(graph.code.definition(base).name for base in front)
            break
        said = graph.incoming(front, _BASE_KINDS, reader)
        unsaid = reader.attempt(FOR_USERS, partial(_all_unsaid, graph, front))
        if unsaid is None:
            reader.leave(graph.code.definition(base).name for base in front)
        edges = [*said, *(unsaid or ())]
        front = []
        for edge in edges:
            if edge.source not in subtypes and edge.source != node and place_of(edge.source) >= 0:
                subtypes[edge.source] = edge
                front.append(edge.source)
    return subtypes


def _extending(graph: Graph, node: int) -> list[int]:
    """Return the module of Ruby whose methods for classes are in a module: what includes it has these as well."""
    source, definition = graph.code.file(file_of(node)), graph.code.definition(node)
    is_part = definition.name == source.rules.class_part and definition.parent >= 0
    return graph.code.group(node_of(source.number, definition.parent)) if is_part else []


# -- what implements an interface of Go --------------------------------------------------------------------------------


class _Method(NamedTuple):
    name: str
    node: int


def _all_unsaid(graph: Graph, nodes: Sequence[int]) -> list[Edge]:
    return [edge for node in nodes for edge in _unsaid(graph, node)]


def _unsaid(graph: Graph, node: int) -> Iterator[Edge]:
    """Yield an edge for each type of Go that has the methods of an interface, which no type says that it implements."""
    source = graph.code.file(file_of(node))
    if not _is_interface_of_go(graph, node):
        return
    methods = _methods_of(graph, node)
    if not methods:
        return
    namesakes = {method.name: graph.code.nodes_named(method.name) for method in methods}
    rarest = min(methods, key=lambda method: len(namesakes[method.name]))
    tried: set[int] = set()
    for candidate in namesakes[rarest.name][:_MOST_CANDIDATES]:
        waiting.check()
        for owner in _receivers(graph, candidate):
            if owner not in tried:
                tried.add(owner)
                if all(_fits(graph, owner, method) for method in methods):
                    line = graph.code.definition(owner).span.start_line
                    called = source.definitions[place_of(node)].name
                    yield Edge(owner, node, IMPLEMENT, How.RECEIVER, line, called)


def _methods_of(graph: Graph, interface: int) -> list[_Method]:
    """Return the methods of an interface, with those of the interfaces it embeds; none if it embeds an unknown one."""
    methods: dict[str, int] = {}
    inheritance = graph.resolver.meaning.inheritance
    for node in inheritance.lineage(interface):
        if inheritance.has_unknown_base(node):
            return []
        source, definition = graph.code.file(file_of(node)), graph.code.definition(node)
        for name, places in source.members.get(definition.qualified_name, {}).items():
            if source.definitions[places[0]].kind in FUNCTION_KINDS:
                methods.setdefault(name, node_of(source.number, places[0]))
    return [_Method(name, node) for name, node in methods.items()]


def _receivers(graph: Graph, method: int) -> Iterator[int]:
    """Yield the type of Go that a method is for, which may stand in another file of its folder."""
    source = graph.code.file(file_of(method))
    definition = source.definitions[place_of(method)]
    if source.language != "go" or definition.kind != "method":
        return
    folder = posixpath.dirname(source.path)
    for node in graph.code.nodes_named(definition.qualified_name.rpartition(".")[0]):
        other = graph.code.file(file_of(node))
        kind = other.definitions[place_of(node)].kind
        if other.language == "go" and posixpath.dirname(other.path) == folder and kind in TYPE_KINDS - {"interface"}:
            yield node


def _fits(graph: Graph, owner: int, method: _Method) -> bool:
    """Tell whether a type has a method as an interface wants it."""
    member = graph.resolver.meaning.inheritance.member(owner, method.name)
    if member is None or member.tag != "function":
        return False
    wanted, found = (_shape(graph, node, method.name) for node in (method.node, member.node))
    return wanted == found


def _shape(graph: Graph, node: int, name: str) -> tuple[tuple[str, ...], ...]:
    """Return the types of a method's parameters and of its results as they are written, without their packages.

    Where a type parameter may stand for them, only how many there are.
    """
    definition = graph.code.definition(node)
    lists = split_parameters(definition.signature, name)
    owner = _owner_of(graph, node)
    is_generic = owner >= 0 and "[" in graph.code.definition(owner).signature.partition("{")[0]
    if is_generic or "[T" in definition.signature:
        return tuple(("",) * len(part) for part in lists)
    return tuple(tuple(re.sub(_QUALIFIER, "", text) for text in part) for part in lists)


def interfaces_of(graph: Graph, node: int) -> Iterator[int]:
    """Yield the methods of interfaces of Go that a method implements, which it does not say."""
    owners = list(_receivers(graph, node))
    for other in graph.code.nodes_named(graph.code.definition(node).name)[:_MOST_CANDIDATES] if owners else ():
        waiting.check()
        interface = _owner_of(graph, other)
        is_one = interface >= 0 and _is_interface_of_go(graph, interface)
        methods = _methods_of(graph, interface) if is_one else ()
        if methods and any(all(_fits(graph, owner, method) for method in methods) for owner in owners):
            yield other


def _is_interface_of_go(graph: Graph, node: int) -> bool:
    source = graph.code.file(file_of(node))
    return source.language == "go" and source.definitions[place_of(node)].kind == "interface"


# -- what is not known -------------------------------------------------------------------------------------------------


def unresolved_subtypes(
    graph: Graph, nodes: Sequence[int], known: Collection[Edge], reader: Reader | None = None
) -> Unresolved | None:
    """Return the lines that seem to name some types as a base, and that no edge explains; None if there are none.

    Args:
        graph: the graph.
        nodes: the types.
        known: the edges that are known to derive from them.
        reader: says how long there is time, and which files were not read; all are without one.
    """
    types = [node for node in nodes if place_of(node) >= 0 and graph.code.definition(node).kind in TYPE_KINDS]
    names = frozenset(graph.code.definition(node).name for node in types)
    if not names:
        return None
    tally = LineTally("base", names)
    lines_known: dict[int, set[int]] = {}
    for edge in known:
        lines_known.setdefault(file_of(edge.source), set()).add(edge.line)
    reader = reader or graph.reader(is_patient=True)
    for number in reader.look_at(files_for(graph, names), partial(graph.code.mentions.mentions, names=names)):
        waiting.check()
        data = graph.code.checkout.read(number)
        if data is None or not names_pattern(names).search(data):
            continue
        look = partial(_unexplained, graph, number, data, names, lines_known.get(number, ()))
        for line, is_confirmed in reader.look_up(look) or ():
            tally.add(graph.code.paths[number], line, is_confirmed=is_confirmed)
    tally.is_least = tally.is_least or reader.lines_left
    return tally.result()


def _unexplained(
    graph: Graph, number: int, data: bytes, names: frozenset[str], known: Collection[int]
) -> list[tuple[int, bool]]:
    """Return the lines of a file that seem to name some types as a base and that no edge explains; which are code."""
    source = graph.code.file(number)
    facts = source.facts
    confirmed = {
        line
        for kind, text, line in zip(facts.kinds, facts.expressions, facts.lines, strict=True)
        if kind in _BASE_KINDS and called_name(facts.texts[text]) in names
    }
    found = confirmed.union(lines_like_heads(data, names, source.language, confirmed))
    unknown = found.difference(known)
    edges = graph.connections.edges_on(number, unknown, names)
    explained = {edge.line for edge in edges if edge.kind != USE or source.language != "ruby"}  # `A < made_of(B)`
    return [(line, line in confirmed) for line in sorted(unknown - explained)]
