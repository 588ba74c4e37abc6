"""Puts the lines that hold what was pasted, and the places that a query names, among the ranked hits of its answer."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cairn.answers import CodeHit
from cairn.hints import Hint
from cairn.loading import load
from cairn.search.confidence import GUESSED, HIGH, confidence_word
from cairn.search.diagnosed import diagnosed_path, makes_diagnosis
from cairn.search.exact import LineMatch
from cairn.search.exact_answer import hits_of_lines
from cairn.search.file_finder import has_known_ending
from cairn.search.library import Library
from cairn.search.message_keys import with_users_of_keys
from cairn.search.named import means_name
from cairn.search.pasted import PastedPlace, Places, find_frames, find_pasted
from cairn.search.pasted_text import Pasted, asks, read_pasted
from cairn.search.query import Query, looks_named
from cairn.source.terms import terms_of_word
from cairn.source.text import is_plain

if TYPE_CHECKING:
    from cairn.protocol.requests import SearchRequest
    from cairn.search.option_lines import DeclaredOption
    from cairn.search.request_text import RequestLine

MAX_PASTED = 10  # lines that hold what was pasted
# Of what a question only quotes: how many lines, and how many ranked hits come before them.
MAX_QUOTED, BEFORE_QUOTED = 3, 2
# Few queries name an option or a request, and what finds these takes a tenth of a command to import.
_FIND_OPTIONS = "cairn.search.option_lines:find_options"
_READ_REQUESTS, _FIND_ROUTES = "cairn.search.request_text:read_requests", "cairn.search.routed:find_routes"
_KEY = re.compile(r"[a-z][\w-]*(?:\.[a-z][\w-]*)+")  # of a setting or a text, in the scope of others
_NAMED_OPTION = re.compile(
    r"(?i)(?:where (?:is|are) |what (?:is|does) |how (?:is|does|do i (?:add|set|use)) |show |find )?(?:the |a )?[`\"']?"
    r"([a-z][\w-]+)[`\"']? (?:command[- ]line )?(?:option|flag|switch)"
    r"(?: (?:defined|declared|parsed|read|handled|set|do|work|for|used))?\??"
)
_ONE_DASH = re.compile(r"-([a-zA-Z][\w-]{2,60})")
_SURELY_DECLARED = 0.8  # how surely a line declares an option whose dashes nobody typed
_OF_MESSAGE = 0.8  # how much of a message with an option a line has at least


def with_pasted(
    library: Library, query: Query, request: SearchRequest, ranked: list[CodeHit], notes: list[str]
) -> list[CodeHit]:
    """Return the hits with the lines that hold what was pasted, and a note on what they hold.

    They come first, but what a question quotes is seldom all that it is about: its lines come among the ranked hits.
    """
    limit = min(request.limit or MAX_PASTED, MAX_PASTED)
    named = _hits_of_places(library, find_frames(library, query.text, request, limit), request)
    if named:
        notes.append(_note_on_places(library, query, named[0].path))
    elif "--" in query.text and (options := load(_FIND_OPTIONS)(library, query.text, request)):
        return _with_options(library, query, request, options, ranked, notes)
    elif "/" in query.text and (requests := load(_READ_REQUESTS)(query.text)):
        named, is_one = _hits_of_routes(library, query, requests, request, notes)
        ranked = [_at_most(hit, GUESSED) for hit in ranked] if is_one else ranked
    pasted = _pasted_in(query) if len(named) < limit and not _is_place(query.text) else []
    found = find_pasted(library, pasted, query.wants, request, limit - len(named))
    if query.named and query.named.scope and ranked and ranked[0].name.lower() == query.named.last.lower():
        name = query.asked.name if query.asked else query.text
        found = found._replace(places=[one for one in found.places if _holds_key(one, name)])
    is_diagnosis = bool(named and diagnosed_path(query.text))
    if is_diagnosis:
        found = found._replace(places=[one for one in found.places if _is_made_at(library, one, query.text)])
    is_quoted = bool(pasted) and all(one.is_quoted or _is_called(ranked, one.text) for one in pasted)
    lines = _hits_of_places(library, found.places[:MAX_QUOTED] if is_quoted else found.places, request, is_quoted)
    known = {(hit.path, hit.start_line) for hit in named}
    if lines and not (lines := [hit for hit in lines if (hit.path, hit.start_line) not in known]):
        found = found._replace(places=[])
    notes.extend(_notes_on_lines(found, pasted, "" if is_quoted else "then" if named else "first"))
    lines = with_users_of_keys(library, query, request, lines, notes)
    ranked = _without(ranked, [*named, *lines])
    if is_quoted:
        hits = [*named, *ranked[:BEFORE_QUOTED], *lines, *ranked[BEFORE_QUOTED:]]
    else:
        hits = [*lines, *named] if is_diagnosis else [*named, *lines]
        most = hits[-1].relevance if hits else GUESSED if any(one.is_loose for one in pasted) else 1.0
        hits += [_at_most(hit, most) for hit in ranked]
    return hits[: request.limit or None]


def _is_called(hits: Sequence[CodeHit], text: str) -> bool:
    """Tell whether the best hit has the words of a text for its name, as `UnknownError` for "unknown error"."""
    return bool(hits) and list(terms_of_word(hits[0].name)[0]) == text.lower().split()


def with_named_option(
    library: Library, query: Query, request: SearchRequest, ranked: list[CodeHit], notes: list[str]
) -> list[CodeHit]:
    """Return the hits behind the lines that declare an option which a query asks for without its dashes, if any do.

    So it does with "the colour option", "the colour flag" and, as programs in Go have them, `-colour`.
    """
    named = _NAMED_OPTION.fullmatch(query.text) or _ONE_DASH.fullmatch(query.text)
    if named is None or not (options := load(_FIND_OPTIONS)(library, f"--{named[1]}", request)):
        return []
    sure = [one for one in options if one.share >= _SURELY_DECLARED]
    return _with_options(library, query, request, sure, ranked, notes) if sure else []


def with_route_of_path(
    library: Library, query: Query, request: SearchRequest, ranked: list[CodeHit], notes: list[str]
) -> list[CodeHit]:
    """Return the hits behind the route that a path such as `/auth/login` surely means, though a file is called so."""
    is_path = query.path.startswith("/") and not has_known_ending(query.path)
    if not is_path or not (requests := load(_READ_REQUESTS)(query.text)):
        return ranked
    said: list[str] = []
    routes, _ = _hits_of_routes(library, query, requests, request, said)
    if not routes or routes[0].relevance < HIGH:
        return ranked
    notes[:] = [*said, *notes]
    return [*routes, *_without(ranked, routes)][: request.limit or None]


def _without(hits: Sequence[CodeHit], shown: Sequence[CodeHit]) -> list[CodeHit]:
    ids = {hit.id for hit in shown}
    return [hit for hit in hits if hit.id not in ids]


def _hits_of_routes(
    library: Library, query: Query, requests: Sequence[RequestLine], request: SearchRequest, notes: list[str]
) -> tuple[list[CodeHit], bool]:
    """Return the lines that declare the route of a request, and whether the text is sure to be one."""
    is_one = bool(requests[0].method) or query.path.startswith("/")
    if routes := load(_FIND_ROUTES)(library, requests, request):
        fits = "for other methods" if routes[0].is_other else "which the request fits"
        declared = f"the route {routes[0].template!r}" if routes[0].template else "a route"  # where its group ends
        notes.append(f"What comes first declares {declared}, {fits}.")
    elif is_one:
        asked = f"{requests[0].method} /{'/'.join(requests[0].segments)}".lstrip()
        words = f"No route that fits {asked} was found in the files that say most of its path"
        notes.append(f"{words}; routes that only a framework knows are not read.")
    hits = _hits_with_shares(library, [(one.line, one.share) for one in routes], request)
    return hits, bool(routes) or is_one


def _with_options(
    library: Library,
    query: Query,
    request: SearchRequest,
    options: Sequence[DeclaredOption],
    ranked: list[CodeHit],
    notes: list[str],
) -> list[CodeHit]:
    """Return the hits with the lines that declare options of the command line which a query names.

    They come first if the query asks for something, else behind what it is probably about. Lines that merely have the
    option come behind them, but for a message that names one.
    """
    declared = _hits_with_shares(library, [(one.line, one.share) for one in options], request)
    found = find_pasted(library, _pasted_in(query), query.wants, request, MAX_QUOTED)
    lines = _hits_of_places(library, found.places, request)
    is_message = not asks(query.text) and any(one.share >= _OF_MESSAGE for one in found.places[:1])
    held, lines = (lines[:1], lines[1:]) if is_message else ([], lines)
    places = {(hit.path, hit.start_line) for hit in (*held, *declared)}
    lines = [_at_most(hit, GUESSED) for hit in lines if (hit.path, hit.start_line) not in places]
    shown = {hit.id for hit in (*held, *declared, *lines)}
    ranked = [_at_most(hit, GUESSED) for hit in ranked if hit.id not in shown]
    has_dashes = "--" in query.text
    is_first = asks(query.text) or not has_dashes
    n_before = 0 if held or is_first else BEFORE_QUOTED
    if declared:  # and of a kind that is asked for
        option = f"--{options[0].name}" if has_dashes else f"the option {options[0].name!r}"
        notes.append(f"Lines that declare {option} come {'first' if is_first else 'among the hits'}.")
    return [*held, *ranked[:n_before], *declared, *lines, *ranked[n_before:]][: request.limit or None]


def _holds_key(place: PastedPlace, name: str) -> bool:
    """Tell whether a line holds a dotted name as a key, in quotes or before its value, not in code."""
    line, key = place.line.text.decode("utf-8", "replace"), re.escape(name)
    return re.search(rf"[\"'`][\w.:@${{#-]*(?<!\w){key}(?!\w)|^\s*{key}\s*[=:]", line) is not None


def _is_made_at(library: Library, place: PastedPlace, message: str) -> bool:
    """Tell whether a place makes what a text says of the place that it begins with; then it comes before that."""
    return makes_diagnosis(place, library.snapshot.files.paths[place.line.file], message)


def _pasted_in(query: Query) -> list[Pasted]:
    """Return what of a query is looked for as it stands; a name also, for members of an enum are no definitions."""
    pasted = read_pasted(query.text)
    if query.named and not query.named.scope and _is_no_word_of_prose(query.named.last) and means_name(query):
        return [*pasted, Pasted(query.named.last)]
    if query.asked and query.asked.is_sure and _KEY.fullmatch(query.asked.name):
        return [*pasted, Pasted(query.asked.name)]
    return pasted


def _hits_of_places(
    library: Library, places: Sequence[PastedPlace], request: SearchRequest, is_quoted: bool = False
) -> list[CodeHit]:
    """Return the lines as hits, as sure as they are. One that holds what a question quotes is no sure answer to it."""
    hits = hits_of_lines(library, [place.line for place in places], request)
    chances = [min(place.share, GUESSED) if is_quoted else place.share for place in places]
    return [
        hit._replace(
            relevance=round(chance, 3),
            confidence=confidence_word(chance),
            match="exact" if place.share >= 1 else "edited",
            similarity=round(place.share, 2),
        )
        for hit, place, chance in zip(hits, places, chances, strict=True)
        if not request.kinds or hit.kind in request.kinds
    ]


def _hits_with_shares(
    library: Library, lines: Sequence[tuple[LineMatch, float]], request: SearchRequest
) -> list[CodeHit]:
    """Return lines as hits, each as sure as is given."""
    hits = zip(hits_of_lines(library, [line for line, _ in lines], request), lines, strict=True)
    return [
        hit._replace(relevance=round(share, 3), confidence=confidence_word(share))
        for hit, (_, share) in hits
        if not request.kinds or hit.kind in request.kinds
    ]


def _notes_on_lines(found: Places, pasted: Sequence[Pasted], where: str) -> list[str]:
    """Return what is to be said of the lines; `where` says where they come, empty for among the ranked hits."""
    notes: list[str] = []
    if found.places:
        part = found.places[0].part
        words = f"What comes {where} holds {part!r}" if where else f"Lines that hold {part!r} come among the hits"
        words += "" if found.is_whole else ", a part of what was asked for"
        notes.append(Hint(f"{words}; to list every line that does", "search", query=part, mode="literal"))
    if found.is_cut:
        words = "The time to look for the text itself was up; to look everywhere"
        notes.append(Hint(words, "search", query=pasted[0].text, mode="literal"))
    return notes


def _note_on_places(library: Library, query: Query, shown: str) -> str:
    """Return what is to be said of the places that a text names; `shown` is the file of the first."""
    if _is_place(query.text):
        frames, root = load("cairn.source.frames:read_frames")(query.text), library.reader.view.name
        asked = frames[0].path.removeprefix("./")
        if not f"/{shown}".endswith(f"/{asked}") and os.path.realpath(asked) != os.path.realpath(f"{root}/{shown}"):
            return f"No file {asked} is indexed; what comes first is in {shown}, which ends like it."
    return "What comes first are the places that the text names, the deepest call first."


def _is_place(text: str) -> bool:
    """Tell whether all of a text is the place of a line."""
    return not is_plain(text) and bool(load("cairn.source.frames:is_place")(text))


def _is_no_word_of_prose(word: str) -> bool:
    return looks_named(word) or (word.isupper() and len(word) > 2)


def _at_most(hit: CodeHit, most: float) -> CodeHit:
    """Return a hit with no more confidence than the lines above it that hold what was pasted."""
    if hit.relevance <= most:
        return hit
    return hit._replace(relevance=most, confidence=confidence_word(most))
