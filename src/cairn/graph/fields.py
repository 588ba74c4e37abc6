"""Finds fields without a definition of their own, such as those of a struct or what a method assigns to `self`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

from cairn.errors import AmbiguousError, UnknownSymbolError, UnparsableError
from cairn.graph.denote import ReferenceTarget
from cairn.graph.graph import Graph
from cairn.graph.nodes import file_of, place_of
from cairn.graph.rules import TYPE_KINDS, VALUE_KINDS
from cairn.graph.source_file import SourceFile
from cairn.graph.symbols import find_if_known, find_namesakes, find_symbols
from cairn.graph.values import Symbol
from cairn.hints import Hint
from cairn.index.isolation import run_isolated
from cairn.source.languages import BY_NAME

if TYPE_CHECKING:
    from cairn.source.occurrences import Occurrence  # start-up time: it is for helpers

_PROMOTED = rb"\b(?:public|private|protected|readonly)\b"  # compiled at its first use: start-up time
_LAST_NAME = r"^(?:(?P<file>[^:#]*[^:#.]\.\w+)[:#])?(?P<owner>.+?)(?:\.|::|(?<=\w)#|->)(?P<name>#?[@$\w]+)$"
_MOST_READ = 30  # files that seem to declare a field of a name that is asked for without its type
_MOST_LISTED = 5


class Sought(NamedTuple):
    """What references are looked for to: as the reader sees it, and as names are compared with it.

    `namesakes` are the fields that this is, if several types have one of the name.
    """

    symbol: Symbol
    target: ReferenceTarget
    namesakes: tuple[Symbol, ...] = ()

    def on_namesakes(self, text: str) -> tuple[Hint, ...]:
        """Return what to say of an answer that is about the fields of several types."""
        if not self.namesakes:
            return ()
        shown = ", ".join(f"{field.name} ({field.path}:{field.line})" for field in self.namesakes[:_MOST_LISTED])
        more = f" and {len(self.namesakes) - _MOST_LISTED} more" if len(self.namesakes) > _MOST_LISTED else ""
        words = f"This is about {len(self.namesakes):,} fields called {text.strip()}: {shown}{more}"
        return (Hint(f"{words}; name one as PATH:TYPE.FIELD to ask about it alone"),)


def find_callables(graph: Graph, text: str) -> list[list[int]]:
    """Return the symbols that a text names, for questions about calls.

    Raises:
        UnknownSymbolError, AmbiguousError: as `find_namesakes`; for a field the first says that it is one.
    """
    try:
        return find_namesakes(graph.code, graph.connection, text)
    except UnknownSymbolError as error:
        try:
            fields = find_fields(graph, text.strip())
        except AmbiguousError:  # several types have the name before the dot, and none has a method of the last name
            raise error from None
        if not fields:
            raise
        symbol = fields[0].symbol
        words = f"{symbol.name} ({symbol.path}:{symbol.line}) is a field, which is no part of calls by itself"
        raise UnknownSymbolError(words, Hint("see what reads and writes it", "references", symbol=text)) from None


def find_field(graph: Graph, text: str) -> Sought | None:
    """Return the field that a text names, as `TYPE.FIELD` or `FIELD`; those of several types as one, None for none.

    Raises:
        AmbiguousError: as `find_fields`.
    """
    found = find_fields(graph, text)
    if len(found) < 2:
        return found[0] if found else None
    types = frozenset(node for field in found for node in field.target.nodes)
    target = ReferenceTarget(types, found[0].target.name, types, is_field=True)
    return Sought(found[0].symbol, target, tuple(field.symbol for field in found))


def find_fields(graph: Graph, text: str) -> list[Sought]:
    """Return the fields that a text may name: `TYPE.FIELD` or a bare name, of all types that have it.

    Raises:
        AmbiguousError: if more types have the name before the dot than one answer can be about.
    """
    if (match := re.match(_LAST_NAME, text)) is None:
        return list(_iter_called(graph, text)) if text.isidentifier() else []
    owner = f"{match['file']}:{match['owner']}" if match["file"] else match["owner"]
    owners = find_if_known(graph.code, owner, TYPE_KINDS)
    fields = (_field_in(graph, nodes, match["name"].lstrip("@$")) for nodes in owners)
    return [field for field in fields if field is not None]


def _iter_called(graph: Graph, name: str) -> Iterator[Sought]:
    """Yield the fields of a name, of those files that seem to declare one."""
    declared = re.compile(rb"(?m)^[^\n=(.]*(?:\b(?:self|this)\.|@|\$)?\b%s\b" % re.escape(name).encode())
    code = graph.code
    likely = (
        number
        for number in sorted(code.mentions.may_mention(name), key=lambda number: (bool(code.tests[number]), number))
        if declared.search(code.checkout.read(number) or b"")
    )
    for number in islice(likely, _MOST_READ):
        source = code.file(number)
        said_at = [occurrence.start_byte for occurrence in find_occurrences(graph, source, {name})]
        for owner in sorted({_type_around(source, byte) for byte in said_at} - {""}):
            symbols = find_symbols(code, f"{source.path}:{owner}")
            if (field := _field_in(graph, [node for nodes in symbols for node in nodes], name)) is not None:
                yield field


def _type_around(source: SourceFile, byte: int) -> str:
    """Return the qualified name of the innermost type around a byte, empty for none."""
    found = ""
    for definition in source.definitions:
        if definition.kind in TYPE_KINDS and definition.span.start_byte <= byte < definition.span.end_byte:
            found = definition.qualified_name
    return found


def _field_in(graph: Graph, nodes: Sequence[int], name: str) -> Sought | None:
    """Return the field of a name that the first of some types, or of the types of some variables, has."""
    nodes = [*nodes, *(held for node in nodes if (held := _type_held_by(graph, node)) >= 0)]
    types = [node for node in nodes if place_of(node) >= 0 and graph.code.definition(node).kind in TYPE_KINDS]
    for node in types:
        line = _line_of_field(graph, node, name)
        if line:
            qualified = f"{graph.code.definition(node).qualified_name}.{name}"
            path = graph.code.paths[file_of(node)]
            symbol = Symbol(path, line, line, "field", qualified, graph.code.file(file_of(node)).stale)
            return Sought(symbol, ReferenceTarget(frozenset(types), name, frozenset(types), is_field=True))
    return None


def _type_held_by(graph: Graph, node: int) -> int:
    """Return the type of what a variable holds, -1 if that is not known."""
    if place_of(node) < 0 or graph.code.definition(node).kind not in VALUE_KINDS:
        return -1
    entity = graph.resolver.meaning.declarations.entity(node)
    return entity.node if entity.tag == "instance" else -1


def _line_of_field(graph: Graph, node: int, name: str) -> int:
    """Return the first line in a type that declares or assigns a field, 0 if there is none."""
    source, definition = graph.code.file(file_of(node)), graph.code.definition(node)
    span = definition.span
    data = graph.code.checkout.read(source.number) or b""
    for occurrence in find_occurrences(graph, source, {name}):
        declares = occurrence.role == "declaration" and not occurrence.is_local and not occurrence.head
        declares = declares or (occurrence.is_local and _is_promoted(data, occurrence))
        assigns = occurrence.role == "write" and occurrence.head in {*source.rules.this, "@"}
        if (declares or assigns) and span.start_byte <= occurrence.start_byte < span.end_byte:
            return occurrence.line
    return 0


def _is_promoted(data: bytes, occurrence: Occurrence) -> bool:
    """Tell whether a parameter is an attribute as well, as constructors of PHP and TypeScript have them."""
    begin = max(data.rfind(mark, 0, occurrence.start_byte) for mark in (b"(", b",", b"\n"))
    return re.search(_PROMOTED, data[begin + 1 : occurrence.start_byte]) is not None


def find_occurrences(graph: Graph, source: SourceFile, names: Collection[str]) -> list[Occurrence]:
    """Return where a file says some names; none for one that is not code or cannot be parsed."""
    data = graph.code.checkout.read(source.number)
    language = BY_NAME[source.language]
    if data is None or language.group != "code" or not language.support.grammar:
        return []
    if not any(name.encode("utf-8", "surrogateescape") in data for name in names):
        return []
    job = "cairn.source.occurrences:find_occurrences"
    try:
        return cast("list[Occurrence]", run_isolated(job, data, source.language, sorted(names), scope="occurrences"))
    except UnparsableError:
        return []
