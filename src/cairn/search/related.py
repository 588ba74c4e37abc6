"""Answers what the symbol graph knows: queries that ask for a relation to a symbol, and the neighbours of hits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cairn import waiting
from cairn.answers import CodeHit, Neighbour
from cairn.errors import UnknownSymbolError
from cairn.graph import questions
from cairn.graph.graph import Graph
from cairn.graph.impact import choose_tests
from cairn.graph.nodes import file_of, node_of, place_of
from cairn.graph.reach import CONFIDENCE
from cairn.graph.resolve import Edge
from cairn.graph.surroundings import neighbours
from cairn.graph.symbols import find_symbols, symbol_of
from cairn.graph.values import Symbol
from cairn.search.confidence import confidence_word
from cairn.search.exact import enclosing
from cairn.search.filters import filter_files
from cairn.search.hits import FileText, Focus, Verdict, focus_on, make_hit
from cairn.search.library import read_files
from cairn.search.relations import Relation, RelationQuestion
from cairn.source.text import estimate_tokens
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import ChunkRow
from cairn.types import Chunk, Span

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest
    from cairn.search.library import Library

MAX_NEIGHBOURS = 3  # of each sort, for one hit
_MAX_LISTED = 5
_TEST_CHANCE, _PERHAPS = 0.9, 0.5  # of a test that reaches the symbol by calls, and of what is only likely

# What is found, as {sentence for it, sentence for nothing}.
_SAID: dict[Relation, tuple[str, str]] = {
    "callers": ("calls of {}", "Nothing calls {}"),
    "callees": ("what {} calls", "Nothing of this project is called by {}"),
    "implementers": ("what derives from {}", "Nothing derives from {}"),
    "importers": ("imports of {}", "Nothing imports {}"),
    "tests": ("tests for {}", "No test concerns {}"),
}


class RelatedPlace(NamedTuple):
    """A part of the answer: a definition, or (`line` above 0) one line in it; and the chance that it is right."""

    node: int
    chance: float
    line: int = 0


class Related(NamedTuple):
    """The hits for a question, how many were left out beyond the limit, and notes; no hits when there is nothing."""

    hits: list[CodeHit]
    more: int
    notes: list[str]


class GraphAnswers:
    """The symbol graph of what is open, asked for a search."""

    def __init__(self, library: Library) -> None:
        assert library.open_graph is not None
        self._library = library
        self._graph = library.open_graph()

    def answer(self, asked: RelationQuestion, request: SearchRequest) -> Related | None:
        """Return the answer to a question for a relation, None when nothing is called as it says."""
        return answer_question(self._library, self._graph, asked, request)

    def neighbours_of(self, hit: CodeHit) -> tuple[Neighbour, ...]:
        """Return a few callers and callees of the definition that a hit shows."""
        return neighbours_of(self._graph, hit)


def answer_question(library: Library, graph: Graph, asked: RelationQuestion, request: SearchRequest) -> Related | None:
    """Return the answer to a question for a relation, None when nothing is called as it says."""
    symbols, target = [], asked.symbol
    for text in dict.fromkeys((asked.symbol, asked.symbol.rstrip("?"))):  # some names end in a question mark
        if symbols := find_symbols(graph.code, text):
            target = text
            break
    nodes = [node for one in symbols for node in one]
    found = _importing(graph, target, nodes) if asked.relation == "importers" else _places(graph, asked.relation, nodes)
    if not symbols and not found:
        return None
    told = _describe(graph, symbols, target) if symbols else target
    places = _within_filters(library, request, graph, found)
    said, nothing = _SAID[asked.relation]
    if not places:
        where = " within the filters" if found else ""
        note = f"{nothing.format(told)}{where}, as far as can be resolved; these are related."
        return Related([], 0, [note, *graph.notes])
    shown = places[: request.limit or None]
    note = f"Understood as a question for {said.format(told)}; --mode hybrid takes it as prose."
    return Related(_hits(library, graph, shown, request), len(places) - len(shown), [note, *graph.notes])


def _describe(graph: Graph, symbols: Sequence[Sequence[int]], target: str) -> str:
    """Return the symbols asked for in words; several when the name does not tell them apart."""
    named = [_label(symbol_of(graph.code, graph.code.main_of(one))) for one in symbols[:_MAX_LISTED]]
    if len(symbols) == 1:
        return named[0]
    more = f" and {len(symbols) - len(named)} more" if len(symbols) > len(named) else ""
    return f"any of {len(symbols)} symbols called {target} ({', '.join(named)}{more})"


def _label(symbol: Symbol) -> str:
    return f"{symbol.kind} {symbol.name} ({symbol.path}:{symbol.line})" if symbol.name else symbol.path


# -- relations ---------------------------------------------------------------------------------------------------------


def _places(graph: Graph, relation: Relation, nodes: Sequence[int]) -> list[RelatedPlace]:
    """Return what stands in a relation to some definitions, in the order of the graph's own answers, each once."""
    if relation == "tests":
        found = _testing(graph, nodes)
    elif relation == "callers":
        found = [RelatedPlace(one.source, _chance(one), one.line) for one in questions.calls_to(graph, nodes)]
    elif relation == "callees":
        found = [RelatedPlace(one.target, _chance(one)) for one in questions.calls_from(graph, nodes)]
    else:
        found = [RelatedPlace(one.source, _chance(one)) for one in questions.implementers_of(graph, nodes)]
    return list({(one.node, one.line): one for one in reversed(found)}.values())[::-1]


def _chance(edge: Edge) -> float:
    return CONFIDENCE[edge.how]


def _testing(graph: Graph, nodes: Sequence[int]) -> list[RelatedPlace]:
    """Return the tests that reach some definitions, then the first lines of files that are likely to concern them."""
    certain: list[RelatedPlace] = []
    likely: list[RelatedPlace] = []
    for one in choose_tests(graph, nodes).tests:
        source = graph.code.file(graph.code.numbers[one.path])
        names = set(one.tests)
        inside = [place for place, other in enumerate(source.definitions) if other.qualified_name in names]
        certain += [RelatedPlace(node_of(source.number, place), _TEST_CHANCE) for place in inside]
        if not inside:
            likely.append(RelatedPlace(node_of(source.number, -1), min(_PERHAPS, one.score / 2), 1))
    return certain + likely


def _importing(graph: Graph, target: str, nodes: Sequence[int]) -> list[RelatedPlace]:
    """Return the imports of a module or file, or of the files of some definitions: those that say their names first."""
    paths = [graph.code.paths[number] for number in sorted({file_of(node) for node in nodes})]
    found: dict[int, int] = {}
    for path in paths or [target]:
        try:
            importers = questions.importers(graph, path).importers
        except UnknownSymbolError:
            return []
        for one in importers:
            found.setdefault(graph.code.numbers[one.path], one.line)
    names = {graph.code.definition(node).name for node in nodes if place_of(node) >= 0}
    places = []
    for number, line in sorted(found.items()):
        saying = [one.line for one in graph.code.file(number).facts.imports if one.name in names]
        sure = saying or not names
        places.append(RelatedPlace(node_of(number, -1), 1.0 if sure else _PERHAPS, saying[0] if saying else line))
    return sorted(places, key=lambda one: -one.chance)


def _within_filters(
    library: Library, request: SearchRequest, graph: Graph, places: Iterable[RelatedPlace]
) -> list[RelatedPlace]:
    chosen = filter_files(library.snapshot.files, request)
    files = None if chosen is None else set(chosen.tolist())
    kinds = request.kinds
    return [
        one
        for one in places
        if (files is None or file_of(one.node) in files)
        and (not kinds or (place_of(one.node) >= 0 and graph.code.definition(one.node).kind in kinds))
    ]


# -- hits --------------------------------------------------------------------------------------------------------------


def _hits(library: Library, graph: Graph, places: Sequence[RelatedPlace], request: SearchRequest) -> list[CodeHit]:
    files = {file_of(one.node) for one in places}
    texts = read_files(library, files)
    ranges = {
        number: chunk_db.chunks_of_blob(library.connection, int(library.snapshot.files.blob_ids[number]))
        for number in files
    }
    chunks = {one: enclosing(ranges[file_of(one.node)], _line(graph, one)) for one in places}
    rows = chunk_db.read_chunks(library.connection, sorted({one for one in chunks.values() if one is not None}))
    return [_hit(library, graph, one, rows.get(chunks[one] or 0), texts[file_of(one.node)], request) for one in places]


def _line(graph: Graph, place: RelatedPlace) -> int:
    return place.line or graph.code.definition(place.node).span.start_line


def _hit(
    library: Library, graph: Graph, place: RelatedPlace, row: ChunkRow | None, text: FileText, request: SearchRequest
) -> CodeHit:
    waiting.check()
    number, line = file_of(place.node), _line(graph, place)
    source = graph.code.file(number)
    one = source.definitions[place_of(place.node)] if place_of(place.node) >= 0 else None
    if place.line:
        start = _offset(text, line)
        span = Span(line, line, start, start + len(b"".join(text.lines(line, line))))
    else:
        span = graph.code.definition(place.node).span
    part = None
    if row is not None and one is not None and not source.stale:
        part = focus_on(row, frozenset(), place_of(place.node)).place
    focus = Focus.on_text("module", span) if one is None else Focus.on(one, part, span)
    verdict = Verdict(place.chance, place.chance, confidence_word(place.chance))
    known = row if row is not None and not source.stale else _unknown(span)
    hit = make_hit(library.snapshot, known, focus, number, text, verdict, request.context)
    hit = replace(hit, tokens=estimate_tokens(span.end_byte - span.start_byte))
    # A file that changed has no chunk in the index to be fetched, but the line can be.
    return hit if known is row else replace(hit, id=f"{source.path}#{line}")


def _offset(text: FileText, line: int) -> int:
    """Return where a line begins, in bytes."""
    return sum(len(one) + 1 for one in text.lines(1, line - 1)) if line > 1 else 0


def _unknown(span: Span) -> ChunkRow:
    return ChunkRow(0, 0, Chunk("text", -1, 0, (0, 0), "", span, ()), (), None)


# -- neighbours --------------------------------------------------------------------------------------------------------


def neighbours_of(graph: Graph, hit: CodeHit) -> tuple[Neighbour, ...]:
    """Return a few callers and callees of the definition that a hit shows, or of the one around its first line."""
    if (number := graph.code.numbers.get(hit.path)) is None:
        return ()
    source = graph.code.file(number)
    called = [at for at, one in enumerate(source.definitions) if (one.name, one.kind) == (hit.name, hit.kind)]
    # A part of a long definition, or the comment above it, is a hit that bears its name.
    place = min(
        called,
        key=lambda at: _distance(source.definitions[at].span, hit.start_line),
        default=source.at_line(hit.start_line),
    )
    return neighbours(graph, node_of(number, place), MAX_NEIGHBOURS) if place >= 0 else ()


def _distance(span: Span, line: int) -> tuple[int, int]:
    """Return how far a span is from a line, and then how long it is."""
    return max(span.start_line - line, line - span.end_line, 0), span.end_line - span.start_line
