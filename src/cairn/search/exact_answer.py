"""Answers an exact query: the lines, or the pieces of code, that match it, as hits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.answers import CodeHit
from cairn.errors import QueryError
from cairn.hints import Hint
from cairn.index.snapshot import Snapshot
from cairn.index.words import MAX_BODY_BYTES
from cairn.kernels.grouping import distinct
from cairn.search.exact import BUDGET_SECONDS, Finder, LineMatch, Scan, enclosing, literal_finder, regex_finder
from cairn.search.filters import Filtered, filter_files
from cairn.search.hits import Focus, Verdict, make_hit
from cairn.search.library import Library, read_files
from cairn.search.mend import Mender
from cairn.search.query import Query
from cairn.source.content import normalize
from cairn.source.languages import BY_NAME
from cairn.source.roles import FOREIGN, Role
from cairn.source.terms import term_hash, terms_of
from cairn.source.text import MAX_WORD_CHARS, estimate_tokens, pluralize, raw_words, split_identifier
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import ChunkRow
from cairn.types import Chunk, Definition, Span

if TYPE_CHECKING:
    from cairn.index.views import View
    from cairn.protocol.requests import SearchRequest

Ints = npt.NDArray[np.int64]
# A word of a text between characters of ASCII that are part of none. A set of all others takes milliseconds to compile.
_MARK = r"[\x00-/:-@\[-^`{-\x7f]"
_OF_PATTERNS = re.compile(r"[.^$*+?{}\[\]\\|()]")
_WHOLE_WORD = re.compile(rf"(?<={_MARK})[A-Za-z0-9_]+(?={_MARK})")


_WHOLE = r"(?:^|[^\w-])NAME(?:[^\w-]|$)"  # dots are between names


class Effort(NamedTuple):
    """How much an exact search may do.

    Attributes:
        seconds: how long it may look at files.
        words: it looks only at files with a line that holds all of these, as far as the index knows.
        is_by_index: whether a text is looked for only in files that can hold it by what the index knows.
    """

    seconds: float = BUDGET_SECONDS
    words: tuple[str, ...] = ()
    is_by_index: bool = False


NO_LIMIT = Effort()


class _Lines(NamedTuple):
    """What an exact search found: matches, how many more there are, and notes.

    `searched` is how many files were looked at when the time was up, None if all were.
    """

    matches: Sequence[LineMatch]
    more: int
    notes: list[str]
    searched: int | None


def find_exactly(
    library: Library, query: Query, request: SearchRequest, effort: Effort
) -> tuple[list[CodeHit], int, list[str], int | None]:
    """Return hits for matching lines, how many more there are, notes, and `searched` as in `_Lines`."""
    if query.mode != "structural":
        found = _matching_lines(library, query, request, effort)
    else:
        try:
            found = _matching_structure(library, query, request, effort.seconds)
        except QueryError as error:
            if request.mode != "auto":
                raise
            return [], 0, [error.hint.after(f"Not searched as a structural pattern: {error}")], None
    hits, more = hits_of_lines(library, found.matches, request), found.more
    if kinds := request.kinds:  # which definition a line stands in is known once it is a hit
        hits = [hit for hit in hits if hit.kind in kinds]
        limit = request.limit or len(hits)
        hits, more = hits[:limit], max(0, len(hits) - limit)
    return hits, more, found.notes, found.searched


def lines_saying(
    library: Library, query: Query, request: SearchRequest, name: str, effort: Effort, shape: str = _WHOLE
) -> tuple[list[CodeHit], int]:
    """Return hits for the lines that say a name, and how many more there are, as far as the index knows.

    Args:
        shape: the regular expression of such a line, with `NAME` for the name; as a whole by default.
    """
    saying = query._replace(mode="regex", pattern=shape.replace("NAME", re.escape(name)))
    words = tuple(dict.fromkeys(raw_words(name)))
    hits, more, *_ = find_exactly(library, saying, request, effort._replace(words=words))
    return hits, more


def in_other_case(library: Library, query: Query, request: SearchRequest, effort: Effort) -> tuple[list[CodeHit], int]:
    """Return hits for lines that hold a text in another case, and how many more there are.

    As far as the index knows: a file is looked into if one of its lines may have the words of the text.
    """
    words = _whole_words(f" {query.pattern} ")
    if not words or not any(map(str.isalpha, query.pattern)):
        return [], 0
    either = query._replace(mode="regex", pattern=either_case(query.pattern))
    hits, more, *_ = find_exactly(library, either, request, effort._replace(words=words))
    return hits, more


def either_case(text: str) -> str:
    """Return the regular expression that a text in any case matches."""
    return "(?i)" + _OF_PATTERNS.sub(r"\\\g<0>", text)


def _matching_lines(library: Library, query: Query, request: SearchRequest, effort: Effort) -> _Lines:
    find = _finder(query, is_sure=request.mode != "auto")
    files = _files_in_order(library.snapshot, query, request, _files_worth(library, query, effort))
    seeks_mark = "\ufeff" in query.pattern
    scan = Scan(library.reader.view.read, files, find, effort.seconds, seeks_mark=seeks_mark)
    matches, more = _literal_first(scan, query.pattern, _most(request))
    return _Lines(
        matches, more, *_notes_on_scan(len(scan.unreadable), scan.searched if scan.is_cut else None, len(files))
    )


def _finder(query: Query, *, is_sure: bool) -> Finder:
    """Return what finds a pattern: what may be a regular expression matches itself as well, valid or not.

    Raises:
        QueryError: if it is sure to be a regular expression, and invalid.
    """
    if query.mode == "literal":
        return literal_finder(query.pattern)
    if is_sure:
        return regex_finder(query.pattern)
    try:
        return regex_finder(query.pattern, or_itself=True)
    except QueryError:
        return literal_finder(query.pattern)


def _literal_first(found: Iterable[LineMatch], pattern: str, most: int | None) -> tuple[list[LineMatch], int]:
    """Return the matches to be kept, those that hold the pattern itself first, and how many more there are.

    The others are counted, not kept: a pattern may match every line there is.
    """
    itself = pattern.encode("utf-8", "surrogatepass")
    literal, others, count = list[LineMatch](), list[LineMatch](), 0
    for match in found:
        count += 1
        kept = literal if itself in match.text else others
        if most is None or len(kept) < most:
            kept.append(match)
    matches = [*literal, *others][:most]
    return matches, count - len(matches)


def _most(request: SearchRequest) -> int | None:
    """Return how many matches are to be kept, None for all: which of them a filter for kinds keeps shows later."""
    return None if request.kinds else request.limit or None


def _matching_structure(library: Library, query: Query, request: SearchRequest, scan_seconds: float) -> _Lines:
    from cairn.search.structural import TreeEffort, files_to_search, search_structure  # noqa: PLC0415 - start-up time

    names, numbers = library.snapshot.files.language_names, library.snapshot.files.languages
    in_order = _files_in_order(library.snapshot, query, request)
    files = files_to_search([(file, path, names[numbers[file]]) for file, path in in_order], request.languages)
    effort = TreeEffort(scan_seconds, library.helpers)
    found = search_structure(library.reader.view.read, files, query.pattern, effort)
    most = _most(request)
    kept = found.matches[:most]
    searched = found.searched if found.searched < found.eligible else None
    notes, searched = _notes_on_scan(found.unreadable, searched, found.eligible)
    if found.failed:
        notes.append(f"{pluralize(found.failed, 'file was', 'files were')} not looked at: too much for ast-grep.")
        searched = found.searched - found.failed
    return _Lines(kept, len(found.matches) - len(kept), notes, searched)


def _notes_on_scan(unreadable: int, searched: int | None, eligible: int) -> tuple[list[str], int | None]:
    """Return the notes on what was not looked at, and `searched` as it is."""
    notes = _unreadable_note(unreadable)
    if searched is not None:
        words = f"The time was up after {searched:,} of {pluralize(eligible, 'file')}; narrow it"
        notes.append(Hint(words, "search", query=None, globs=None, languages=None))
    return notes, searched


def _unreadable_note(count: int) -> list[str]:
    return [Hint(f"{count} indexed files cannot be read now; update the index", "index")] if count else []


def _files_in_order(
    snapshot: Snapshot, query: Query, request: Filtered, worth: Ints | None = None
) -> list[tuple[int, str]]:
    """Return (file, path) of the files in scope: code and what the query asks for, texts and data, then the others.

    Args:
        worth: the files that are worth a look, all by default.
    """
    chosen = filter_files(snapshot.files, request)
    if worth is not None:
        chosen = worth if chosen is None else np.intersect1d(chosen, worth)
    numbers = range(len(snapshot.files.paths)) if chosen is None else chosen.tolist()
    roles = snapshot.files.roles
    names = snapshot.files.language_names
    of_code = np.array([name in BY_NAME and BY_NAME[name].group == "code" for name in names], dtype=np.bool_)
    is_first = of_code[snapshot.files.languages] & ((roles & int(Role.CONFIG)) == 0)
    places = np.where(is_first | ((roles & int(query.wants)) > 0), 0, 1)
    for place, later in enumerate((Role.TEST | Role.EXAMPLE | Role.DOCS, FOREIGN | Role.TRANSLATION), start=2):
        places[(roles & int(later & ~query.wants)) > 0] = place
    ordered = sorted(numbers, key=lambda number: (places[number], number))
    return [(number, snapshot.files.paths[number]) for number in ordered]


def _files_worth(library: Library, query: Query, effort: Effort) -> Ints | None:
    """Return the numbers of the files that an effort allows to look at, None for all."""
    if effort.words:
        return _files_holding(library.snapshot, effort.words)
    if effort.is_by_index and query.mode == "literal" and (words := _whole_words(query.pattern)):
        return np.union1d(_files_holding(library.snapshot, words), _files_cut(library))
    return None


def _whole_words(text: str) -> tuple[str, ...]:
    """Return words that stand as whole words, in one line, in every file that holds a text, and that the index has."""
    words = dict.fromkeys(_WHOLE_WORD.findall(max(text.split("\n"), key=len)))
    return tuple(word for word in words if len(word) <= MAX_WORD_CHARS and word.strip("_"))


def _files_cut(library: Library) -> Ints:
    """Return the numbers of the files of which the index may lack words: it has the beginning of a long line only."""
    if library.shown.cut is None:
        files = library.snapshot.files
        blobs = chunk_db.blobs_with_long_chunks(library.connection, MAX_BODY_BYTES)
        numbers = np.flatnonzero(np.isin(files.blob_ids, blobs))
        cut = list[int]()
        for number in numbers.tolist():
            waiting.check()
            if _has_long_line(library.reader.view, files.paths[number]):
                cut.append(number)
        library.shown.cut = np.array(cut, dtype=np.int64)
    return library.shown.cut


def _has_long_line(view: View, path: str) -> bool:
    """Tell whether a file may have a chunk of more than `MAX_BODY_BYTES`: without a line half as long it has none."""
    try:
        data = normalize(view.read(path))
    except OSError:
        return True  # who looks into it says that it cannot be read
    step = MAX_BODY_BYTES // 4  # a line of two steps spans one that has no line feed
    return any(data.find(b"\n", start, start + step) < 0 for start in range(0, len(data) - step, step))


def _files_holding(snapshot: Snapshot, words: Sequence[str]) -> Ints:
    """Return the numbers of the files with a line that may hold all of some words, or others of the same stem.

    A line is in one chunk, so some chunk of the file has all these words, as far as the index knows.
    """
    rows, *others = sorted((_rows_holding(snapshot, word) for word in words), key=len)
    for other in others:
        rows = rows[np.isin(rows, other)]
    blobs = snapshot.blob_ids[distinct(snapshot.blob_of_row[rows])]
    return np.flatnonzero(np.isin(snapshot.files.blob_ids, blobs))


def _rows_holding(snapshot: Snapshot, word: str) -> Ints:
    hashed = term_hash(terms_of(word, split_identifier(word))[-1])
    return snapshot.term_rows([hashed]).rows


def hits_of_lines(library: Library, matches: Sequence[LineMatch], request: SearchRequest) -> list[CodeHit]:
    """Return the hits that some matches are."""
    if not matches:
        return []
    snapshot, connection = library.snapshot, library.connection
    files = {match.file for match in matches}
    texts = read_files(library, files)
    mender = Mender(connection)
    # Of files that changed since, the chunks as they are now; by file and then by id.
    fresh = {file: mender.rows(snapshot.files.paths[file], texts[file]) for file in files if texts[file].stale}
    ranges: dict[int, list[tuple[int, int, int]]] = {}
    for file in files:
        if (now := fresh.get(file)) is not None:
            ranges[file] = [(row.id, *row.chunk.lines[0]) for row in now]
            texts[file] = texts[file]._replace(stale=False)
        else:
            ranges[file] = library.shown.chunks_of_blob(connection, int(snapshot.files.blob_ids[file]))
    chunk_ids = [enclosing(ranges[match.file], match.start_line) for match in matches]
    indexed = {
        one for one, match in zip(chunk_ids, matches, strict=True) if one is not None and fresh.get(match.file) is None
    }
    rows = library.shown.read_chunks(connection, sorted(indexed))
    hits = []
    for match, chunk_id in zip(matches, chunk_ids, strict=True):
        waiting.check()
        now = fresh.get(match.file)
        row = None if chunk_id is None else rows.get(chunk_id) if now is None else now[chunk_id]
        if row is None:
            row = _unknown_row(match)
        focus = _focus_on_line(row, match)
        verdict = Verdict(1.0, 1.0, "high")
        hit = make_hit(snapshot, row, focus, match.file, texts[match.file], verdict, request.context)
        hits.append(hit._replace(tokens=estimate_tokens(len(match.text)), captures=match.captures))
    return hits


def _focus_on_line(row: ChunkRow, match: LineMatch) -> Focus:
    """Show the matching lines, named after the innermost definition around them, or the first that begins in them."""
    span = Span(match.start_line, match.end_line, match.start_byte, match.start_byte + len(match.text))
    around = [
        (place, one)
        for place, one in enumerate(row.definitions)
        if one.span.start_line <= match.start_line <= one.span.end_line
    ]
    begun = [
        (place, one)
        for place, one in enumerate(row.definitions)
        if match.start_line < one.span.start_line <= match.end_line
    ]
    if around or begun:
        place, inner = around[-1] if around else begun[0]
        return Focus.on(inner, place if len(row.definitions) > 1 else None, span)
    owner: Definition | None = row.owner
    if owner is not None and owner.span.start_line <= match.start_line <= owner.span.end_line:
        return Focus.on(owner, span=span)
    return Focus.on_text(row.chunk.kind if row.owner is None else "module", span)


def _unknown_row(match: LineMatch) -> ChunkRow:
    """Stand in for the chunk of a line that was added since the file was indexed."""
    span = Span(match.start_line, match.end_line, 0, 0)
    return ChunkRow(0, 0, Chunk("text", -1, 0, (0, 0), "", span, ()), (), None)
