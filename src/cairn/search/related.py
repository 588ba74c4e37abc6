"""Answers from the symbol graph: queries that ask for a relation to a symbol, and the neighbours of hits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from cairn import waiting
from cairn.answers import CodeHit, Neighbour
from cairn.errors import UnknownSymbolError
from cairn.graph import questions
from cairn.graph.entities import How
from cairn.graph.fields import find_fields
from cairn.graph.graph import Graph
from cairn.graph.impact import choose_tests
from cairn.graph.implementations import implementers_of, unresolved_subtypes
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.overriding import calls_above
from cairn.graph.reach import CONFIDENCE
from cairn.graph.reader import Reader, note_on_unfollowed
from cairn.graph.references import references_of, sought_at
from cairn.graph.resolve import Edge
from cairn.graph.rules import TYPE_KINDS
from cairn.graph.surroundings import neighbours
from cairn.graph.symbols import find_symbols, only_likely, symbol_of
from cairn.graph.unresolved import note_on, unresolved_calls
from cairn.graph.values import Symbol, SymbolReference, Unfollowed
from cairn.hints import Hint
from cairn.search.confidence import confidence_word
from cairn.search.exact import enclosing
from cairn.search.filters import filter_files
from cairn.search.hits import FileText, Focus, Verdict, focus_on, make_hit
from cairn.search.library import read_files
from cairn.search.relations import Relation, RelationQuestion
from cairn.source.roles import FOREIGN, Role
from cairn.source.text import estimate_tokens
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import ChunkRow
from cairn.types import Chunk, Span

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest
    from cairn.search.library import Library

MAX_NEIGHBOURS = 3  # of each sort, for one hit
_MAX_LISTED = 5
_OF_BASE = 0.9  # times as likely as a call of the method itself: a call of what it overrides may run another
_TEST_CHANCE, _PERHAPS = 0.9, 0.5  # for a test that reaches the symbol by calls, and for what is only likely

# For each relation: what the answer contains, and the sentence for an empty one.
_SENTENCES: dict[Relation, tuple[str, str]] = {
    "callers": ("calls of {}", "Nothing calls {}"),
    "callees": ("what {} calls", "Nothing of this project is called by {}"),
    "references": ("references to {}", "Nothing refers to {}"),
    "writes": ("assignments of {}", "Nothing assigns {}"),
    "implementers": ("what derives from {}", "Nothing derives from {}"),
    "importers": ("imports of {}", "Nothing imports {}"),
    "tests": ("tests for {}", "No test concerns {}"),
}


class RelatedPlace(NamedTuple):
    """A part of the answer: a definition or (`line` above 0) one line in it, and the chance that it is right."""

    node: int
    chance: float
    line: int = 0


class Related(NamedTuple):
    """The hits for a question, how many the limit left out, and notes; without hits, the notes say that.

    `mode`: how they were found, `hybrid` if they still have to be. `is_said`: lines say the name, and it is not known
    what they mean by it.
    """

    hits: list[CodeHit]
    more: int
    notes: list[str]
    mode: Literal["graph", "literal", "hybrid"] = "graph"
    is_said: bool = False


class GraphAnswers:
    """Answers the questions of a search from the symbol graph."""

    def __init__(self, library: Library) -> None:
        assert library.open_graph is not None
        self._library = library
        self._graph = library.open_graph()

    def answer(self, question: RelationQuestion, request: SearchRequest) -> Related | None:
        """Return the answer to a question for a relation, None when nothing has the name in it."""
        return answer_question(self._library, self._graph, question, request)

    def neighbours_of(self, hit: CodeHit) -> tuple[Neighbour, ...]:
        """Return a few callers and callees of the definition that a hit shows."""
        return neighbours_of(self._graph, hit)


def answer_question(
    library: Library, graph: Graph, question: RelationQuestion, request: SearchRequest
) -> Related | None:
    """Return the answer to a question for a relation, None when nothing has the name in it."""
    symbols, target = [], question.symbol
    for text in dict.fromkeys((question.symbol, question.symbol.rstrip("?"))):  # some names end in a question mark
        if symbols := find_symbols(graph.code, text):
            target = text
            break
    reader = graph.reader()
    if question.relation in ("references", "writes"):
        return _answer_with_references(library, graph, question, request, symbols, reader)
    if question.relation == "implementers":
        symbols = only_likely(graph.code, symbols, TYPE_KINDS)
    nodes = [node for symbol in symbols for node in symbol]
    all_places, unknown = _find(graph, question.relation, target, nodes, reader)
    if not symbols and not all_places:
        return None
    described = [symbol_of(graph.code, graph.code.main_of(symbol)) for symbol in symbols]
    description = _describe(described, target) if symbols else target
    places = _own_first(graph, _within_filters(library, request, graph, all_places))
    contents, nothing = _SENTENCES[question.relation]
    if not places:
        if unknown and not all_places:
            return Related([], 0, [*unknown, *graph.notes], "hybrid", is_said=True)
        where = " within the filters" if all_places else ""
        note = f"{nothing.format(description)}{where}, as far as can be resolved."
        return Related([], 0, [note, *unknown, *graph.notes], "hybrid")
    shown = places[: request.limit or None]
    words = f"Understood as a question for {contents.format(description)}; to take it as prose"
    note = Hint(words, "search", query=None, mode="hybrid")
    return Related(_hits(library, graph, shown, request), len(places) - len(shown), [note, *unknown, *graph.notes])


def _answer_with_references(
    library: Library,
    graph: Graph,
    question: RelationQuestion,
    request: SearchRequest,
    symbols: Sequence[list[int]],
    reader: Reader,
) -> Related | None:
    """Return the lines that refer to a symbol, or those that assign it."""
    own = [nodes for nodes in symbols if any(place_of(node) >= 0 for node in nodes)]
    sought = [sought_at(graph, nodes) for nodes in own]
    if not sought and question.is_shaped:
        sought = find_fields(graph, question.symbol)
    if not sought or (len(sought) > 1 and not question.is_shaped):  # "where is the state changed" is prose
        return None
    references, unresolved = references_of(graph, sought, reader)
    if question.relation == "writes":
        references = [reference for reference in references if reference.kind == "write"]
    all_places = [_place_of_reference(graph, reference) for reference in references]
    places = _own_first(graph, _within_filters(library, request, graph, all_places))
    label = _describe([each.symbol for each in sought], question.symbol)
    contents, nothing = _SENTENCES[question.relation]
    notes = [
        note
        for each in unresolved[:1]
        for note in note_on(each, f"reference to {question.symbol}", has_known=bool(references))
    ]
    unread = note_on_unfollowed(reader.unfollowed())
    if not places:
        where = " within the filters" if all_places else ""
        said = f"{nothing.format(label)}{where}, as far as can be resolved."
        is_said = bool(notes) and not all_places
        return Related([], 0, [*([] if is_said else [said]), *notes, *unread, *graph.notes], "hybrid", is_said)
    shown = places[: request.limit or None]
    words = f"Understood as a question for {contents.format(label)}; to take it as prose"
    said_of_it = [Hint(words, "search", query=None, mode="hybrid"), *notes, *unread, *graph.notes]
    return Related(_hits(library, graph, shown, request), len(places) - len(shown), said_of_it)


def _place_of_reference(graph: Graph, reference: SymbolReference) -> RelatedPlace:
    source = graph.code.file(graph.code.numbers[reference.path])
    chance = CONFIDENCE[How[reference.how.upper()]]
    return RelatedPlace(node_of(source.number, source.at_line(reference.line)), chance, reference.line)


def _describe(symbols: Sequence[Symbol], target: str) -> str:
    """Return the symbols of a question in words; several when they share the name."""
    labels = [_label(symbol) for symbol in symbols[:_MAX_LISTED]]
    if len(symbols) == 1:
        return labels[0]
    more = f" and {len(symbols) - len(labels)} more" if len(symbols) > len(labels) else ""
    return f"any of {len(symbols)} symbols called {target} ({', '.join(labels)}{more})"


def _label(symbol: Symbol) -> str:
    return f"{symbol.kind} {symbol.name} ({symbol.path}:{symbol.line})" if symbol.name else symbol.path


# -- relations ---------------------------------------------------------------------------------------------------------


class _InRelation(NamedTuple):
    """What is in a relation to some definitions, and what to say of lines and files that may belong to it as well."""

    places: list[RelatedPlace]
    notes: tuple[Hint | str, ...]


def _find(graph: Graph, relation: Relation, target: str, nodes: Sequence[int], reader: Reader) -> _InRelation:
    """Return what is in a relation to some definitions, each once, in the order of the graph's own answers."""
    if relation == "importers":
        return _importing(graph, target, nodes, reader)
    unfollowed = None
    if relation == "callees":
        calls = questions.calls_from(graph, nodes, reader)
        places, notes = [RelatedPlace(edge.target, _chance(edge)) for edge in calls], tuple[Hint, ...]()
    elif relation == "implementers":
        places, notes = _deriving(graph, nodes, reader)
    else:
        places, notes, unfollowed = _calling(graph, relation, nodes, reader)
    each_once = {(place.node, place.line): place for place in reversed(places)}
    unread = note_on_unfollowed(unfollowed or reader.unfollowed(), of_callees=relation == "callees")
    return _InRelation(list(each_once.values())[::-1], (*notes, *unread))


def _deriving(graph: Graph, nodes: Sequence[int], reader: Reader) -> tuple[list[RelatedPlace], tuple[Hint, ...]]:
    edges = implementers_of(graph, nodes, reader)
    unresolved = unresolved_subtypes(graph, nodes, edges, reader)
    names = ", ".join(unresolved.names) if unresolved is not None else ""
    notes = note_on(unresolved, f"subclass of {names}", has_known=bool(edges))
    return [RelatedPlace(edge.source, _chance(edge)) for edge in edges], notes


def _calling(
    graph: Graph, relation: Relation, nodes: Sequence[int], reader: Reader
) -> tuple[list[RelatedPlace], tuple[Hint, ...], Unfollowed | None]:
    """Return the callers of some definitions, or the tests that reach them; of what these override as well.

    With them comes what to say of lines that could not be resolved, and what there was no time to find of the tests.
    """
    if not nodes:
        return [], (), None
    calls = questions.calls_to(graph, nodes, reader)
    above = calls_above(graph, nodes, partial(questions.calls_to, graph), reader)
    calls_of_bases = [edge for _, edges in above for edge in edges]  # each of them may run one of the methods
    if relation == "tests":
        places, unfollowed = _testing(graph, nodes)
    else:
        places, unfollowed = [RelatedPlace(edge.source, _chance(edge), edge.line) for edge in calls], None
        places += [RelatedPlace(edge.source, _OF_BASE * _chance(edge), edge.line) for edge in calls_of_bases]
    among = graph.tests.all if relation == "tests" else None
    unresolved = unresolved_calls(graph, nodes, [*calls, *calls_of_bases], among, reader=reader)
    names = ", ".join(unresolved.names) if unresolved is not None else ""
    notes = note_on(unresolved, f"{'test' if relation == 'tests' else 'call'} of {names}", has_known=bool(places))
    return places, notes, unfollowed


def _chance(edge: Edge) -> float:
    return CONFIDENCE[edge.how]


def _testing(graph: Graph, nodes: Sequence[int]) -> tuple[list[RelatedPlace], Unfollowed | None]:
    """Return the tests that reach some definitions, then the first lines of test files that probably concern them."""
    certain: list[RelatedPlace] = []
    likely: list[RelatedPlace] = []
    chosen = choose_tests(graph, nodes)
    for test_file in chosen.tests:
        source = graph.code.file(graph.code.numbers[test_file.path])
        names = set(test_file.tests)
        inside = [place for place, test in enumerate(source.definitions) if test.qualified_name in names]
        certain += [RelatedPlace(node_of(source.number, place), _TEST_CHANCE) for place in inside]
        if not inside:
            likely.append(RelatedPlace(node_of(source.number, -1), min(_PERHAPS, test_file.score / 2), 1))
    return certain + likely, chosen.unfollowed


def _importing(graph: Graph, target: str, nodes: Sequence[int], reader: Reader) -> _InRelation:
    """Return the imports of a module or file, or of the files of some definitions: first those that name them."""
    unknown: dict[str, None] = {}
    paths = [graph.code.paths[number] for number in sorted({file_of(node) for node in nodes})]
    line_of_file: dict[int, int] = {}
    for path in paths or [target]:
        try:
            found = questions.importers_within(graph, path, reader)
        except UnknownSymbolError:
            return _InRelation([], ())
        if found.unresolved is not None or found.unfollowed is not None:
            unknown |= dict.fromkeys(note for note in found.notes if note not in graph.notes)
        for importer in found.importers:
            line_of_file.setdefault(graph.code.numbers[importer.path], importer.line)
    names = {graph.code.definition(node).name for node in nodes if place_of(node) >= 0}
    places = []
    for number, line in sorted(line_of_file.items()):
        imports = graph.code.file(number).facts.imports
        naming = [statement.line for statement in imports if statement.name in names]
        chance = 1.0 if naming or not names else _PERHAPS
        places.append(RelatedPlace(node_of(number, -1), chance, naming[0] if naming else line))
    return _InRelation(sorted(places, key=lambda place: -place.chance), tuple(unknown))


def _own_first(graph: Graph, places: list[RelatedPlace]) -> list[RelatedPlace]:
    """Return some places in their order, but those in tests, examples and documents later, those of others last."""
    roles = graph.code.snapshot.files.roles

    def rank(place: RelatedPlace) -> int:
        role = Role(int(roles[file_of(place.node)]))
        return 2 if role & FOREIGN else int(bool(role & (Role.TEST | Role.EXAMPLE | Role.DOCS)))

    return sorted(places, key=rank)


def _within_filters(
    library: Library, request: SearchRequest, graph: Graph, places: Iterable[RelatedPlace]
) -> list[RelatedPlace]:
    chosen = filter_files(library.snapshot.files, request)
    files = None if chosen is None else set(chosen.tolist())
    kinds = request.kinds
    return [
        place
        for place in places
        if (files is None or file_of(place.node) in files)
        and (not kinds or (place_of(place.node) >= 0 and graph.code.definition(place.node).kind in kinds))
    ]


# -- hits --------------------------------------------------------------------------------------------------------------


def _hits(library: Library, graph: Graph, places: Sequence[RelatedPlace], request: SearchRequest) -> list[CodeHit]:
    files = {file_of(place.node) for place in places}
    texts = read_files(library, files)
    ranges = {
        number: chunk_db.chunks_of_blob(library.connection, int(library.snapshot.files.blob_ids[number]))
        for number in files
    }
    chunks = {place: enclosing(ranges[file_of(place.node)], _line(graph, place)) for place in places}
    rows = chunk_db.read_chunks(library.connection, sorted({chunk for chunk in chunks.values() if chunk is not None}))
    return [
        _hit(library, graph, place, rows.get(chunks[place] or 0), texts[file_of(place.node)], request)
        for place in places
    ]


def _line(graph: Graph, place: RelatedPlace) -> int:
    return place.line or graph.code.definition(place.node).span.start_line


def _hit(
    library: Library, graph: Graph, place: RelatedPlace, row: ChunkRow | None, text: FileText, request: SearchRequest
) -> CodeHit:
    waiting.check()
    number, line = file_of(place.node), _line(graph, place)
    source = graph.code.file(number)
    definition = source.definitions[place_of(place.node)] if place_of(place.node) >= 0 else None
    if place.line:
        start = _offset(text, line)
        span = Span(line, line, start, start + len(b"".join(text.lines(line, line))))
    else:
        span = graph.code.definition(place.node).span
    part = None
    if row is not None and definition is not None and not source.stale:
        part = focus_on(row, frozenset(), place_of(place.node)).place
    focus = Focus.on_text("module", span) if definition is None else Focus.on(definition, part, span)
    verdict = Verdict(place.chance, place.chance, confidence_word(place.chance))
    shown = row if row is not None and not source.stale else _row_without_chunk(span)
    hit = make_hit(library.snapshot, shown, focus, number, text, verdict, request.context)
    hit = hit._replace(tokens=estimate_tokens(span.end_byte - span.start_byte))
    # The index has no chunk of a changed file to fetch, but the line can be fetched.
    return hit if shown is row else hit._replace(id=f"{source.path}#{line}")


def _offset(text: FileText, line: int) -> int:
    """Return where a line begins, in bytes."""
    return sum(len(above) + 1 for above in text.lines(1, line - 1)) if line > 1 else 0


def _row_without_chunk(span: Span) -> ChunkRow:
    return ChunkRow(0, 0, Chunk("text", -1, 0, (0, 0), "", span, ()), (), None)


# -- neighbours --------------------------------------------------------------------------------------------------------


def neighbours_of(graph: Graph, hit: CodeHit) -> tuple[Neighbour, ...]:
    """Return a few callers and callees of the definition that a hit shows, or of the one around its first line."""
    if (number := graph.code.numbers.get(hit.path)) is None:
        return ()
    source = graph.code.file(number)
    namesakes = [
        place
        for place, definition in enumerate(source.definitions)
        if (definition.name, definition.kind) == (hit.name, hit.kind)
    ]
    # A hit may be a part of a long definition, or the comment above it, and has its name.
    place = min(
        namesakes,
        key=lambda place: _distance(source.definitions[place].span, hit.start_line),
        default=source.at_line(hit.start_line),
    )
    return neighbours(graph, node_of(number, place), MAX_NEIGHBOURS) if place >= 0 else ()


def _distance(span: Span, line: int) -> tuple[int, int]:
    """Return how far a span is from a line, and then how long it is."""
    return max(span.start_line - line, line - span.end_line, 0), span.end_line - span.start_line
