"""Lists what refers to a symbol: calls, reads, writes, uses as a type, imports and subclasses, and what is not known.

The files that mention the name are parsed again for this: what the index keeps of them are calls, bases and imports.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from cairn import waiting
from cairn.errors import UnknownSymbolError
from cairn.graph.denote import Denoting, No, ReferenceTarget
from cairn.graph.empty import on_no_references, on_unread
from cairn.graph.entities import How
from cairn.graph.fields import Sought, find_field, find_occurrences
from cairn.graph.graph import CALL_KINDS, Graph
from cairn.graph.heads import find_heads, scope_borders
from cairn.graph.linkage import are_apart
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.reader import Reader, note_on_unfollowed
from cairn.graph.referrers import Referrers
from cairn.graph.resolve import CALL, CONSTRUCT, DECORATE, IMPLEMENT, INHERIT, USE, Edge
from cairn.graph.rules import FUNCTION_KINDS, NAMESPACE_KINDS, TYPE_KINDS
from cairn.graph.sightings import is_only_template
from cairn.graph.source_file import SourceFile
from cairn.graph.symbols import find_namesakes, on_namesakes, symbol_of, with_counterparts
from cairn.graph.tally import LineTally, files_for
from cairn.graph.unresolved import note_on, on_nothing_in_time, unresolved_calls
from cairn.graph.values import ReferenceKind, References, SymbolReference, Unresolved, Way
from cairn.hints import Hint
from cairn.source.languages import BY_NAME
from cairn.source.text import shown_text

if TYPE_CHECKING:
    from cairn.source.occurrences import Occurrence  # start-up time: it is for helpers

KINDS: tuple[ReferenceKind, ...] = ("call", "construct", "read", "write", "type", "import", "base", "decorate")
_WITH_SYMBOLS = frozenset({"elixir", "ruby"})  # which name functions, as in `if: :late?`
_ENOUGH_FILES = 400  # read; those beyond are counted
_MAX_TEXT_CHARS = 200
_KIND_OF_EDGE: dict[int, ReferenceKind] = {
    CALL: "call", CONSTRUCT: "construct", DECORATE: "decorate", INHERIT: "base", IMPLEMENT: "base", USE: "read",
}  # fmt: skip


def references(graph: Graph, text: str, limit: int = 0, kinds: Collection[str] = ()) -> References:
    """Return what refers to a symbol, by kind, file and line.

    Args:
        graph: the graph.
        text: the symbol, or a field as `TYPE.FIELD`, or by its name if no other type has one of that.
        limit: how many at most, 0 for all; each kind gets its share.
        kinds: only these, all by default.

    Raises:
        UnknownSymbolError, AmbiguousError: as `find_namesakes`.
    """
    key = ("references", text, limit, tuple(kinds))
    return graph.answers.give(key, lambda: _find_references(graph, text, limit, kinds))


def _find_references(graph: Graph, text: str, limit: int, kinds: Collection[str]) -> References:
    sought, symbols = _find_sought(graph, text)
    reader = graph.reader()
    found, tally, n_unread = look_for(graph, sought, reader)
    unfollowed = reader.unfollowed()
    chosen = [reference for reference in found if not kinds or reference.kind in kinds]
    chosen.sort(key=lambda reference: (KINDS.index(reference.kind), reference.path, reference.line))
    counts: Counter[str] = Counter(reference.kind for reference in chosen)
    shown = _share(chosen, limit)
    unresolved = tally.result() or (_said_elsewhere(graph, sought, reader) if not found else None)
    unread = on_unread(graph, min(sought.target.nodes)) if not chosen else ()
    what = f"reference to {sought.target.name}"
    notes = (
        *graph.notes,
        *on_namesakes(text, symbols),
        *sought.on_namesakes(text),
        *_on_names(graph, chosen),
        *unread,
        *note_on(unresolved, what, has_known=bool(chosen)),
        *_on_unread(n_unread, sought.target.name),
        *(() if chosen or unresolved or unfollowed else on_no_references(graph, {sought.target.name})),
        *note_on_unfollowed(unfollowed),
        *(on_nothing_in_time({sought.target.name}) if unfollowed and not chosen and not unresolved else ()),
    )
    n_omitted = len(chosen) - len(shown)
    namesakes = tuple(sought_at(graph, nodes).symbol for nodes in symbols) if len(symbols) > 1 else sought.namesakes
    return References(
        sought.symbol, tuple(shown), dict(counts), n_omitted, notes, unresolved, unfollowed, namesakes or None
    )


def _said_elsewhere(graph: Graph, sought: Sought, reader: Reader | None = None) -> Unresolved | None:
    """Return the lines that may refer to what nothing is known to refer to, None if there are none.

    That is lines that say the name of what is no code, such as a block of Terraform, calls that may mean a function,
    as its callers have them, in languages with symbols any line that says its name, and lines of templates.
    """
    nodes = sorted(sought.target.nodes)
    language = BY_NAME[graph.code.languages[file_of(nodes[0])]]
    if sought.target.is_field and language.group == "code":
        return None
    if language.group != "code" or graph.code.definition(nodes[0]).kind in FUNCTION_KINDS:
        unresolved = unresolved_calls(graph, nodes, (), reader=reader)
        is_any = language.group != "code" or language.name in _WITH_SYMBOLS
        if unresolved is not None and (is_any or unresolved.form == "call"):
            return unresolved
    paths, languages = graph.code.paths, graph.code.languages
    said = files_for(graph, [sought.target.name])
    templates = {number for number in said if is_only_template(paths[number], languages[number])}
    unresolved = unresolved_calls(graph, nodes, (), templates, reader=reader) if templates else None
    return replace(unresolved, form="name") if unresolved is not None else None


def references_of(
    graph: Graph, sought: Sequence[Sought], reader: Reader
) -> tuple[list[SymbolReference], list[Unresolved]]:
    """Return what refers to any of several symbols, each place once, and the lines that may refer to each."""
    found: dict[tuple[str, int, str], SymbolReference] = {}
    unresolved: list[Unresolved] = []
    for each in sought:
        references, tally, _ = look_for(graph, each, reader)
        for reference in references:
            found.setdefault((reference.path, reference.line, reference.kind), reference)
        unresolved += filter(None, [tally.result() or (_said_elsewhere(graph, each) if not references else None)])
    order = sorted(found.values(), key=lambda reference: (KINDS.index(reference.kind), reference.path, reference.line))
    return order, unresolved


def look_for(
    graph: Graph, sought: Sought, reader: Reader | None = None
) -> tuple[list[SymbolReference], LineTally, int]:
    """Return what `_ReferenceSearch` finds, remembered until a file changes."""
    reader = reader or graph.reader(is_patient=True)
    key = ("references", sought.target)

    def go_on() -> tuple[list[SymbolReference], LineTally, int]:
        begun = cast("_ReferenceSearch | None", graph.unfinished.take(key))
        search = begun or _ReferenceSearch(graph, sought)
        found = search.run(reader)
        if reader.unfollowed() is not None:
            graph.unfinished.keep(key, search)
        return found

    return graph.answers.remember(key, go_on, lambda _found: reader.unfollowed() is None)


def _share(found: Sequence[SymbolReference], limit: int) -> list[SymbolReference]:
    """Return as many references as there may be, and of each kind as even a share as possible."""
    if not limit or len(found) <= limit:
        return list(found)
    by_kind: Counter[str] = Counter(reference.kind for reference in found)
    rooms: Counter[str] = Counter()
    while (left := limit - rooms.total()) > 0:
        open_kinds = [kind for kind, count in by_kind.items() if rooms[kind] < count]
        for kind in open_kinds[:left]:
            rooms[kind] += 1
    shown = []
    for reference in found:
        if rooms[reference.kind]:
            rooms[reference.kind] -= 1
            shown.append(reference)
    return shown


def _on_names(graph: Graph, found: Sequence[SymbolReference]) -> tuple[Hint, ...]:
    """Return a note on the languages in which a name alone says what a reference means."""
    named = [reference for reference in found if reference.how == "name"]
    if not named:
        return ()
    numbers = {graph.code.numbers[reference.path] for reference in named}
    languages = ", ".join(sorted({graph.code.languages[number] for number in numbers}))
    count = f"{len(named):,} of these" if len(named) > 1 else "One of these"
    return (Hint(f"{count} ({languages}) by name only: it is the only definition of that name, marked `name`"),)


def _on_unread(n_unread: int, name: str) -> tuple[Hint, ...]:
    if not n_unread:
        return ()
    words = f"{n_unread:,} more files mention {name} and were not read; search them"
    return (Hint(words, "search", query=name, mode="literal"),)


# -- what is asked about -----------------------------------------------------------------------------------------------


def _find_sought(graph: Graph, text: str) -> tuple[Sought, list[list[int]]]:
    """Return what a text names, and the symbols that this is; a field is none."""
    try:
        symbols = find_namesakes(graph.code, graph.connection, text)
    except UnknownSymbolError:
        if (field := find_field(graph, text.strip())) is not None:
            return field, []
        raise
    whole = sought_at(graph, [node for nodes in symbols for node in nodes])
    return whole._replace(symbol=sought_at(graph, symbols[0]).symbol), symbols


def sought_at(graph: Graph, nodes: Sequence[int]) -> Sought:
    """Return what to look for of a symbol.

    Raises:
        UnknownSymbolError: if it is a file.
    """
    whole = [node for node in nodes if symbol_of(graph.code, node).kind not in ("extension", "impl")]
    symbol = symbol_of(graph.code, graph.code.main_of(whole or nodes))
    own = [node for node in with_counterparts(graph.code, nodes) if place_of(node) >= 0]
    if not own:
        raise UnknownSymbolError(
            f"{symbol.path} is a file; its importers refer to it", Hint("ask who does", "importers", target=symbol.path)
        )
    name = graph.code.definition(own[0]).name
    owners = frozenset(owner for node in own for owner in _owners_of(graph, node))
    return Sought(symbol, ReferenceTarget(frozenset(own), name, owners))


def _owners_of(graph: Graph, node: int) -> Iterator[int]:
    source = graph.code.file(file_of(node))
    parent = source.definitions[place_of(node)].parent
    if source.rules.family == "c" and source.definitions[place_of(node)].kind == "macro":
        return  # it belongs to the whole file, also inside a structure
    if parent >= 0 and source.definitions[parent].kind in TYPE_KINDS | NAMESPACE_KINDS:
        yield from graph.code.group(node_of(source.number, parent))
    elif parent < 0 and "." in (qualified := source.definitions[place_of(node)].qualified_name):
        owner = qualified.rpartition(".")[0].rpartition(".")[2]
        for other in graph.code.nodes_named(owner):
            around = graph.code.file(file_of(other))
            is_kin = around.rules.family == source.rules.family
            is_type = graph.code.definition(other).kind in TYPE_KINDS
            if is_kin and is_type and not are_apart(source, place_of(node), around, place_of(other)):
                yield other


# -- the search --------------------------------------------------------------------------------------------------------


class _FileLook(NamedTuple):
    """What is in a file, found with some names and edges."""

    aliases: Collection[str]
    edges: Sequence[Edge]
    found: dict[tuple[str, int, ReferenceKind], SymbolReference]
    unknown: dict[tuple[str, int], None]


class _ReferenceSearch:
    """Goes through the files that mention a name; `run` as often as there is time."""

    def __init__(self, graph: Graph, sought: Sought) -> None:
        self._graph = graph
        self._sought = sought
        self._target = sought.target
        self._denoting = Denoting(graph, sought.target)
        self._found: dict[tuple[str, int, ReferenceKind], SymbolReference] = {}
        self._unknown: dict[tuple[str, int], None] = {}
        self._looked_into: dict[int, _FileLook] = {}

    def run(self, reader: Reader) -> tuple[list[SymbolReference], LineTally, int]:
        """Return the references, the lines that may be some, and how many files were not read."""
        graph = self._graph
        names = self._names()
        referrers = graph.referrers(reader)
        by_file: dict[int, list[Edge]] = {}
        for edge in self._edges(referrers):
            by_file.setdefault(file_of(edge.source), []).append(edge)
        aliases = referrers.names - names
        self._found, self._unknown = {}, {}
        looked_at: set[int] = set()
        n_files = 0
        mentions = graph.code.mentions
        files = {*files_for(graph, names.union(aliases)), *by_file}

        def says(number: int) -> bool:
            is_said = number in by_file or mentions.mentions(number, names)
            return is_said or any(mentions.says(number, alias) for alias in aliases)

        for number in reader.look_at(sorted(files), says):
            waiting.check()
            n_files += 1
            if n_files <= _ENOUGH_FILES:
                look = partial(self._look_again, number, names, aliases, by_file.get(number, ()))
                if reader.look_up(look):
                    looked_at.add(number)
        for number in sorted(by_file.keys() - looked_at):
            for edge in by_file[number]:
                self._add(graph.code.file(number), _KIND_OF_EDGE[edge.kind], edge.how, edge.line, place_of(edge.source))
        tally = LineTally("reference", names)
        known = {(path, line) for path, line, _ in self._found}
        for path, line in self._unknown:
            if (path, line) not in known:
                tally.add(path, line, is_confirmed=True)
        tally.is_least = reader.lines_left
        return list(self._found.values()), tally, max(0, n_files - _ENOUGH_FILES)

    def _names(self) -> frozenset[str]:
        """Return the name, of a constructor that of its type, which calls of it say."""
        names = {self._target.name}
        for node in self._target.nodes:
            wanted, _ = self._graph.call_targets([node])
            names |= {self._graph.code.definition(other).name for other in wanted if other not in self._target.nodes}
        return frozenset(names)

    def _look_again(self, number: int, names: frozenset[str], aliases: Collection[str], edges: Sequence[Edge]) -> bool:
        """Add what is in a file, which is looked into unless it was before, for as many names and edges."""
        if not edges and not any(self._graph.code.mentions.says(number, name) for name in names.union(aliases)):
            return True
        look = self._looked_into.get(number)
        if look is None or (look.aliases, look.edges) != (aliases, edges):
            before = self._found, self._unknown
            self._found, self._unknown = {}, {}
            try:
                self._look_into(self._graph.code.file(number), names, aliases, edges)
                look = self._looked_into[number] = _FileLook(aliases, edges, self._found, self._unknown)
            finally:
                self._found, self._unknown = before
        self._found |= look.found
        self._unknown |= look.unknown
        return True

    def _edges(self, referrers: Referrers) -> list[Edge]:
        """Return what the graph knows to refer to the target."""
        if self._target.is_field:
            return []
        wanted, _ = self._graph.call_targets(sorted(self._target.nodes))
        edges = referrers.incoming(wanted, frozenset(_KIND_OF_EDGE))
        return [edge for edge in edges if edge.target in self._target.nodes or edge.kind in CALL_KINDS]

    def _look_into(
        self, source: SourceFile, names: frozenset[str], aliases: Collection[str], edges: Sequence[Edge]
    ) -> None:
        own_words = source.rules.types | source.rules.this | source.rules.parents
        makers = {source.rules.maker, source.rules.constructor, "", *(word.partition("(")[0] for word in own_words)}
        edges = [edge for edge in edges if edge.kind != USE or edge.called not in makers]
        aliases = {*aliases, *_aliases(source, names)} | ({edge.called.partition("(")[0] for edge in edges} - makers)
        occurrences = find_occurrences(self._graph, source, names | aliases)
        if not occurrences and not edges:
            return
        data = self._graph.code.checkout.read(source.number) or b""
        lines = data.split(b"\n")
        edge_at = {edge.line: edge for edge in edges}
        called = {occurrence.line for occurrence in occurrences if occurrence.role in ("call", "construct")}
        heads = find_heads(source, data, names, occurrences, self._sought.symbol)
        borders, scopes = scope_borders(source)
        said: set[int] = set()
        for occurrence in occurrences:
            line = occurrence.line
            if occurrence.start_byte in heads:
                said.add(line)
            if occurrence.is_local or occurrence.role == "declaration" or occurrence.start_byte in heads:
                continue
            scope = scopes[bisect_right(borders, occurrence.start_byte) - 1]
            edge = edge_at.get(line)
            if edge is not None and not _may_be(occurrence, edge, is_called=line in called):
                edge = None
            verdict = edge.how if edge is not None else self._denoting.verdict(source, scope, occurrence)
            if isinstance(verdict, How):
                said.add(line)
                self._add(source, _kind_of(occurrence, edge), verdict, line, scope, lines)
            elif verdict is No.UNKNOWN and occurrence.name.lstrip("$") in names:
                self._unknown[source.path, line] = None
        for edge in edges:
            if edge.line not in said:
                self._add(source, _KIND_OF_EDGE[edge.kind], edge.how, edge.line, place_of(edge.source), lines)

    def _add(
        self, source: SourceFile, kind: ReferenceKind, how: How, line: int, scope: int, lines: Sequence[bytes] = ()
    ) -> None:
        key = (source.path, line, kind)
        if key not in self._found:
            symbol = symbol_of(self._graph.code, node_of(source.number, scope))
            text = shown_text(lines[line - 1]).strip() if line <= len(lines) else ""
            way = cast("Way", how.name.lower())
            self._found[key] = SymbolReference(kind, way, source.path, line, symbol, text[:_MAX_TEXT_CHARS])


def _aliases(source: SourceFile, names: Collection[str]) -> set[str]:
    """Return what a file calls something that it imports under another name."""
    return {
        imported.alias
        for imported in source.facts.imports
        if imported.alias and imported.name in names and imported.alias not in names
    }


def _may_be(occurrence: Occurrence, edge: Edge, *, is_called: bool) -> bool:
    """Tell whether an edge on the line of a name may be about this very place."""
    if occurrence.role in ("write", "import") or occurrence.is_key:
        return False
    if edge.kind in CALL_KINDS and is_called:
        return occurrence.role in ("call", "construct", "decorate")
    return True


def _kind_of(occurrence: Occurrence, edge: Edge | None) -> ReferenceKind:
    """Return what a reference does, going by the graph where the text does not say."""
    role = cast("ReferenceKind", occurrence.role)
    if edge is None or role in ("write", "import"):
        return role
    known = _KIND_OF_EDGE[edge.kind]
    if known == "call" and role == "read" and occurrence.name != edge.called:
        known = "construct"  # `Type.new`
    if role in ("call", "read", "construct") and known in ("call", "construct", "base", "decorate"):
        return known
    return role
