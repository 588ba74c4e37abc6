"""Answers a query end to end: by ranking, or line by line for an exact one."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cairn import waiting
from cairn.answers import Answer, CodeHit
from cairn.hints import Hint
from cairn.index.views import View
from cairn.loading import load
from cairn.search.confidence import GUESSED, confidence_word, is_hopeless, relevances
from cairn.search.exact import regex_error
from cairn.search.exact_answer import NO_LIMIT, Effort, either_case, find_exactly, hits_of_lines, in_other_case
from cairn.search.file_finder import finder_of, module_parts, parts_of_path
from cairn.search.filters import filter_files
from cairn.search.hits import Verdict, focus_on, make_hit, notes_on_copies
from cairn.search.library import Library, coverage_of, read_files
from cairn.search.mend import Mender
from cairn.search.message_keys import with_users_of_keys
from cairn.search.misspelt import NamesMeant, names_meant, notes_on_names_meant
from cairn.search.name_lines import is_heading, lines_instead, with_fields, with_lines_that_set
from cairn.search.named import MAX_NAMESAKES, may_be_named, means_name, owner_of
from cairn.search.pasted_answer import with_named_option, with_pasted, with_route_of_path
from cairn.search.query import (
    EXACT_MODES,
    SCOPE_MARK,
    Query,
    asks_for_commits,
    is_of_stop_words,
    surely_named_among,
    understand,
)
from cairn.search.rank import Ranked, Ranking
from cairn.search.rank_files import rank_files
from cairn.search.setting_lines import is_script, with_settings
from cairn.search.tasks import with_tasks
from cairn.source.terms import known_hash, terms_of_word
from cairn.source.text import pluralize
from cairn.storage.index import chunk_db
from cairn.types import Span

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest
    from cairn.search.long_answer import LongText
    from cairn.search.related import GraphAnswers, Related

_VERBS = {"literal": "holds", "regex": "matches", "structural": "matches"}
_CAPITALS = re.compile(r"[A-Z][A-Z\d]*(?:_[A-Z\d]+)+")
CHECK_EVERY = 16  # hits between two looks whether somebody still waits
LOOK_BEHIND = 5  # rows ranked beyond the limit
_MAX_DEFINING = 3  # definitions of the name that a misspelt one means, which come first


def respond(library: Library, query: Query, request: SearchRequest, *, effort: Effort = NO_LIMIT) -> Answer:
    """Answer a request whose query is understood. An exact search whose mode was inferred falls back to ranking.

    Args:
        query: that of the request.
        effort: of an exact search.
    """
    library = library.for_question(query.text)
    guessed = request.mode == "auto"
    started = time.perf_counter()
    notes: list[str] = []
    more = 0
    hits: list[CodeHit] = []
    searched: int | None = None
    related = _answer_relation(library, query, request, effort)
    if guessed and query.asked is not None and query.mode == "literal" and _is_defined(library, query, request):
        query = query._replace(mode="symbol")
    if related is not None:
        hits, more, notes = related.hits, related.more, related.notes
        query = query._replace(mode=related.mode)
    elif query.mode in EXACT_MODES:
        query, refused = _runnable(query, request)
        hits, more, notes, searched = _matches(library, query, request, effort)
        notes = [*refused, *notes]
    if query.mode not in (*EXACT_MODES, "graph") or (guessed and not hits):
        query, hits, on_ranking = _rank(library, query, request, effort, searched)
        notes += on_ranking
    if guessed:
        hits = with_settings(library, query, request, with_tasks(library, query, request, hits, notes), notes)
    if request.expand and library.open_graph is None:
        notes.append("Callers and callees are known of what is checked out only.")
    elif request.expand and hits:
        hits = _add_neighbours(library, hits)
    snapshot = library.snapshot
    return Answer(
        query=query.text,
        mode=query.mode,
        branch=snapshot.branch,
        generation=snapshot.generation,
        code=tuple(hits),
        coverage=coverage_of(snapshot),
        took_ms=round((time.perf_counter() - started) * 1000, 2),
        total_tokens_available=sum(hit.tokens for hit in hits),
        omitted=more,
        notes=tuple(notes),
        view=library.reader.view.name,
        revision=snapshot.revision,
        searched=searched,
    )


def _rank(
    library: Library, query: Query, request: SearchRequest, effort: Effort, searched: int | None
) -> tuple[Query, list[CodeHit], list[str]]:
    """Return what answers a request that no exact search does, with notes.

    Args:
        library, query, request, effort: as for `respond`.
        searched: how many files an exact search without a match looked at, None for all.
    """
    guessed = request.mode == "auto"
    notes: list[str] = []
    unmatched = ""
    if guessed and query.mode in EXACT_MODES:
        where = "" if searched is None else f" of the {pluralize(searched, 'file')} looked at"
        unmatched = f"No line{where} {_VERBS[query.mode]} {_shown(query.pattern)} exactly"
        query = query._replace(mode="hybrid")
    hits = _rank_hits(library, query, request, notes)
    if guessed and query.item is None:
        hits = _with_lines(library, query, request, hits, notes)
    if guessed and not hits and effort is NO_LIMIT and not means_name(query):
        notes.extend(notes_on_names_meant(query, names_meant(library, query, request)))
    if unmatched and not any(str(note).startswith("What comes first") for note in notes):
        notes.insert(0, f"{unmatched}; these are related." if hits else f"{unmatched}.")
    return query, hits, notes


def _runnable(query: Query, request: SearchRequest) -> tuple[Query, list[str]]:
    """Return a query that can be run: a guessed regular expression that cannot is looked for as text, with a note."""
    if request.mode != "auto" or query.mode != "regex" or (error := regex_error(query.pattern)) is None:
        return query, []
    return query._replace(mode="literal"), [f"Not searched as a regular expression: {error}"]


def _matches(
    library: Library, query: Query, request: SearchRequest, effort: Effort
) -> tuple[list[CodeHit], int, list[str], int | None]:
    """Return what an exact search finds, as `find_exactly` does; for a guessed text also what else may be meant."""
    guessed = request.mode == "auto"
    is_quoted = query.pattern != query.text  # then all lines count, also those that the index does not know yet
    is_by_index = guessed and effort is NO_LIMIT and not is_quoted
    hits, more, notes, searched = find_exactly(library, query, request, effort._replace(is_by_index=is_by_index))
    if query.mode == "literal" and not hits and searched is None:
        hits, more = _in_other_case(library, query, request, effort, notes)
    if query.mode == "literal" and guessed:
        hits = with_users_of_keys(library, query, request, hits, notes)
    return hits, more, notes, searched


def _in_other_case(
    library: Library, query: Query, request: SearchRequest, effort: Effort, notes: list[str]
) -> tuple[list[CodeHit], int]:
    """Return hits for lines that hold a text in another case, and how many more there are.

    They are no answer to who asks for exactly this text: then a note counts them.
    """
    hits, more = in_other_case(library, query, request, effort)
    if not hits:
        return [], 0
    if request.mode == "auto":
        notes.append(f"No line holds {_shown(query.pattern)} exactly; these hold it in another case.")
        return [hit._replace(relevance=GUESSED, confidence=confidence_word(GUESSED)) for hit in hits], more
    words = f"In another case, {pluralize(len(hits) + more, 'line')} {'holds' if len(hits) + more == 1 else 'hold'} it"
    notes.append(Hint(words, "search", query=either_case(query.pattern), mode="regex"))
    return [], 0


def _shown(pattern: str) -> str:
    """Return a pattern in quotes, on one line."""
    return repr(pattern).replace("\\\\", "\\")


def with_outdated_note(answer: Answer, view: View) -> Answer:
    """Tell the reader of an answer if it is from another branch or commit than `view`, which is there now."""
    if view.revision != answer.revision:
        note = Hint(f"{view.branch} has moved since it was indexed; update it", "index", branch=view.branch)
    elif view.branch != answer.branch:
        note = Hint(f"The index is of {answer.branch}, but {view.branch} is checked out; update it", "index")
    else:
        return answer
    return replace(answer, notes=(*answer.notes, note))


# -- the symbol graph --------------------------------------------------------------------------------------------------


def _answer_relation(library: Library, query: Query, request: SearchRequest, effort: Effort) -> Related | None:
    """Return the answer to a question for a relation: from the graph, or else the lines that say the name."""
    if query.relation is None or library.open_graph is None:
        return None
    related = _graph_answers(library).answer(query.relation, request)
    if related is not None and related.hits:
        return with_lines_that_set(library, query, request, related, effort)
    return lines_instead(library, query, request, related, effort)


def _add_neighbours(library: Library, hits: Sequence[CodeHit]) -> list[CodeHit]:
    graph = _graph_answers(library)
    return [hit._replace(neighbours=graph.neighbours_of(hit)) for hit in hits]


def _graph_answers(library: Library) -> GraphAnswers:
    from cairn.search.related import GraphAnswers  # noqa: PLC0415 - start-up time: few queries ask for it

    return GraphAnswers(library)


# -- ranked ------------------------------------------------------------------------------------------------------------


def _rank_hits(
    library: Library, query: Query, request: SearchRequest, notes: list[str], *, is_meant: bool = False
) -> list[CodeHit]:
    """Return the hits of the ranking, with those of the name that a misspelt one means unless this is already that."""
    if query.item is None:
        query = library.tuning.expand(query)
    limit = request.limit or library.snapshot.n_rows
    item = query.item and load("cairn.search.long_answer:LongText")(library, query, query.item, request)
    # Confidence looks at what comes behind a hit, so it must not depend on where the list is cut.
    ranking = rank_files(library, query, request, limit + LOOK_BEHIND, item and item.gather, notes)
    if item and item.note:
        notes.append(item.note)
    notes.extend(_notes_on_named(library, query, request, ranking))
    is_empty = is_hopeless(ranking, library.tuning.bars.answers) and not (item and item.lines)
    if is_empty and not _is_called_best(library, query, ranking):
        ranking = ranking._replace(rows=_rows_with_names(library, query, ranking))
    hits = _hits_of_ranking(library, query, request, ranking, item)
    if ranking.lacks == "name" and not is_meant:
        meant = names_meant(library, query, request)
        notes.extend(notes_on_names_meant(query, meant))
        hits = _with_meant(library, request, meant, hits)
    notes.extend(notes_on_copies(library.snapshot, request, (row.file for row in ranking.rows), hits))
    return hits


def _is_called_best(library: Library, query: Query, ranking: Ranking) -> bool:
    """Tell whether the best row defines a name of the query that has nothing but stop words.

    Only the name itself speaks for it, so it seems to have little to do with the query.
    """
    names = [name.last for name in query.symbols if is_of_stop_words(name.last)]
    if not names or not ranking.rows:
        return False
    best = library.snapshot.chunk_ids([ranking.rows[0].row])[0]
    called = (chunk_db.definitions_called(library.connection, name, MAX_NAMESAKES) for name in names)
    return any(one.chunk_id == best for definitions in called for one in definitions)


def _rows_with_names(library: Library, query: Query, ranking: Ranking) -> list[Ranked]:
    """Return those of the rows that hold a name of code in the query, whatever the language of the words around it."""
    text = f"{query.item.subject}\n{query.item.prose}" if query.item else query.text
    terms = {
        term for name in surely_named_among(text) for term in terms_of_word(name)[1][-1:]
    }  # a blank, `___`, has none
    holding = set(library.snapshot.term_rows([known_hash(term) for term in sorted(terms)]).rows.tolist())
    return [ranked for ranked in ranking.rows if ranked.row in holding]


def _with_lines(
    library: Library, query: Query, request: SearchRequest, hits: list[CodeHit], notes: list[str]
) -> list[CodeHit]:
    """Return the hits with the lines that a query means, by what it names or quotes; notes say where else to ask."""
    if asks_for_commits(query.text):
        notes.append(Hint("This is the code as it is now; for what commits say", "history", query=query.text))
    if declared := with_named_option(library, query, request, hits, notes):
        return declared
    if not _is_named(query, hits):
        return with_pasted(library, query, request, hits, notes)
    hits = with_fields(library, query, request, hits) if is_heading(query, hits[0]) else hits
    return with_route_of_path(library, query, request, hits, notes)


def _hits_of_ranking(
    library: Library, query: Query, request: SearchRequest, ranking: Ranking, item: LongText | None
) -> list[CodeHit]:
    """Return the hits for the best rows, and the lines that a long text leads to among them."""
    snapshot, connection = library.snapshot, library.connection
    best = ranking.rows[: request.limit or None]
    replaced = item.files_at_lines if item else frozenset[int]()
    chosen = [pair for pair in zip(best, relevances(ranking, len(best)), strict=True) if pair[0].file not in replaced]
    chosen = item.code_first(chosen) if item else chosen
    shown, chances = [one for one, _ in chosen], [chance for _, chance in chosen]
    ids = snapshot.chunk_ids([ranked.row for ranked in shown])
    rows = library.shown.read_chunks(connection, ids)
    texts = read_files(library, {ranked.file for ranked in shown})
    mender = Mender(connection)
    terms = frozenset([term.text for term in query.terms])
    hits: list[CodeHit] = []
    seen: set[tuple[int, Span]] = set()
    for place, (one, chunk_id) in enumerate(zip(shown, ids, strict=True)):
        if not place % CHECK_EVERY:
            waiting.check()
        if (row := rows.get(chunk_id)) is None:
            continue
        focus, text = focus_on(row, terms, one.definition), texts[one.file]
        if text.stale:
            focus, text = mender.refresh(snapshot.files.paths[one.file], text, row, focus)
        if (where := (one.file, focus.span)) in seen:
            continue
        seen.add(where)
        parts = _parts_shown(ranking, one) if request.explain else None
        verdict = Verdict(one.score, chances[place], confidence_word(chances[place]), parts)
        hit = make_hit(snapshot, row, focus, one.file, text, verdict, request.context)
        hits.append(hit._replace(part=item.part_of(one.row, one.file)) if item else hit)
    if not item:
        return hits
    return item.arrange(hits, hits_of_lines(library, item.lines, request))[: request.limit or None]


def _notes_on_named(library: Library, query: Query, request: SearchRequest, ranking: Ranking) -> list[str]:
    """Return what is to be said of the rows that come first because the query names them, and of what none defines."""
    snapshot, notes = library.snapshot, list[str]()
    is_filtered = bool(request.kinds or request.languages or request.globs)  # then it may be in what was left out
    if ranking.lacks == "scope" and query.named and means_name(query) and not is_filtered:
        place = query.asked.place if query.asked and query.asked.place else query.named.scope
        notes.append(f"No {query.named.last!r} is defined in {place}; these are elsewhere.")
    if ranking.lacks == "file":
        notes.append(f"No file {query.path} is indexed{'; what comes first is like it' if ranking.n_named else ''}.")
    if ranking.n_named and (not ranking.is_sure or (query.kinds and not means_name(query))):
        name = query.asked.name if query.asked else query.text
        words = f"The definitions of {name!r} come first; to take it as prose"
        notes.append(Hint(words, "search", query=None, mode="hybrid"))
    if ranking.n_named and query.path and (inside := finder_of(snapshot).in_folder(query.path)):
        notes.append(f"What comes first is in the folder {query.path}, which has {pluralize(len(inside), 'file')}.")
    return notes


def _with_meant(library: Library, request: SearchRequest, meant: NamesMeant, hits: Sequence[CodeHit]) -> list[CodeHit]:
    """Put the definitions of the name that a misspelt one means first, if one is so much like it."""
    surely = meant.surely
    found = [hit for name in surely for hit in _rank_hits(library, understand(name), request, [], is_meant=True)]
    found = [hit for hit in found if hit.name in surely][:_MAX_DEFINING]
    first = [hit._replace(relevance=GUESSED, confidence=confidence_word(GUESSED)) for hit in found]
    shown = {hit.id for hit in first}
    return [*first, *(hit for hit in hits if hit.id not in shown)][: request.limit or None]


def _is_defined(library: Library, query: Query, request: SearchRequest) -> bool:
    """Tell whether a definition in scope has the name that the query is."""
    files = filter_files(library.snapshot.files, request)
    scope = library.snapshot.file_of_row if files is None else library.snapshot.restrict(files)[1]
    found = [] if query.named is None else chunk_db.find_definitions(library.connection, query.named.last)
    ids = [one.chunk_id for one in found if query.named and one.name == query.named.last]
    rows = library.snapshot.rows_of_chunks(np.array(ids, dtype=np.int64))
    return bool((scope[rows[rows >= 0]] >= 0).any())


def _is_named(query: Query, hits: Sequence[CodeHit]) -> bool:
    """Tell whether what comes first is what the query as a whole names."""
    if not hits:
        return False
    if query.named is not None and hits[0].name.lower() == query.named.last.lower():
        if _CAPITALS.fullmatch(query.named.last) and (hits[0].name != query.named.last or is_script(hits[0])):
            return False  # a member of an enum, a macro or a variable of the environment
        return may_be_named(hits[0].path, hits[0].qualified_name, query.named)
    if query.named is not None and hits[0].kind == "enum" and hits[0].name == owner_of(query.named).last:
        return True
    last = (parts_of_path(query.path) or [""])[-1]
    stem = hits[0].path.rpartition("/")[2].rpartition(".")[0]
    if stem and stem in (last, query.named.last if query.named else ""):
        return True
    if last and hits[0].path.startswith("/".join(parts_of_path(query.path)) + "/"):
        return True
    return bool(last) and (hits[0].path.endswith(last) or module_parts(hits[0].path)[-1] == SCOPE_MARK.split(last)[-1])


def _parts_shown(ranking: Ranking, one: Ranked) -> dict[str, float]:
    """Return the parts of a row's score that are not nearly nothing, the largest first."""
    parts = sorted(ranking.explain(one).items(), key=lambda item: -abs(item[1]))
    return {name: round(value, 4) for name, value in parts if round(value, 4)}
