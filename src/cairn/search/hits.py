"""Turns ranked rows and matching lines into hits: which part of a chunk to show, its lines on disk, its preview."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import islice
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from cairn.answers import CodeHit
from cairn.index.snapshot import Snapshot
from cairn.index.views import Stamp, View
from cairn.kernels.files import first_lines
from cairn.search.filters import Filtered, filter_files
from cairn.search.ids import format_hit_id
from cairn.search.query import MINOR_KINDS
from cairn.source.content import normalize
from cairn.source.roles import foreign_word
from cairn.source.terms import terms_of_word
from cairn.source.text import estimate_tokens, on_one_line, pluralize, raw_words, shown_text
from cairn.storage.index.chunk_db import ChunkRow
from cairn.types import Confidence, Definition, Span

PREVIEW_LINES = 8
PREVIEW_CHARS = 160  # of one line
MAX_LINE_BYTES = 4 * PREVIEW_CHARS
MAX_CACHED_BYTES = 16_000_000  # of files, in one reader
_NO_ANSWERS = MINOR_KINDS | {"namespace"}  # what these repeat or hold answers a question, not they themselves
NOTED_HITS, SHOWN_COPIES = 3, 3
_CLOSING_BYTES = 40  # a part of no more ends something long: `});`, `#endif` or `}  // namespace shop`


class Focus(NamedTuple):
    """The part of a chunk that a hit shows: a definition that begins in it, or (`place` None) all of it."""

    kind: str
    name: str
    qualified_name: str
    signature: str
    span: Span
    place: int | None = None

    @classmethod
    def on(cls, definition: Definition, place: int | None = None, span: Span | None = None) -> Focus:
        """Show a definition, or the part of it in a span."""
        return cls(
            definition.kind,
            definition.name,
            definition.qualified_name,
            definition.signature,
            span or definition.span,
            place,
        )

    @classmethod
    def on_text(cls, kind: str, span: Span) -> Focus:
        """Show text that is not a definition."""
        return cls(kind, "", "", "", span)


class Verdict(NamedTuple):
    """How good a hit is: its score, the calibrated chance that it is relevant, and the word for that."""

    score: float
    relevance: float
    confidence: Confidence
    explain: dict[str, float] | None = None


class FileText(NamedTuple):
    """A file as it is on disk now. `stale` means that it differs from what was indexed, so byte offsets are void."""

    data: bytes
    stale: bool

    def lines(self, first: int, last: int) -> list[bytes]:
        """Return the lines `first` to `last`, 1-based and inclusive; those past the end are left out."""
        return self.data.split(b"\n", last)[first - 1 : last]

    def head(self, span: Span, count: int) -> list[bytes]:
        """Return at most `count` lines from the start of a span, by its offset if the file is as it was indexed."""
        last = min(span.end_line, span.start_line + count - 1)
        if self.stale or span.start_byte >= len(self.data):
            return self.lines(span.start_line, last)
        start = self.data.rfind(b"\n", 0, span.start_byte) + 1
        n_lines = last - span.start_line + 1
        return self.data[start : start + n_lines * MAX_LINE_BYTES].split(b"\n", n_lines)[:n_lines]

    def shown_head(self, span: Span, count: int) -> str | None:
        """Return the same lines as they are shown, None where that needs a closer look."""
        first, last, start, _ = span
        n_lines = last - first + 1
        if self.stale or start >= len(self.data) or n_lines < 1:
            return None
        return first_lines(self.data, start, n_lines if n_lines < count else count, MAX_LINE_BYTES, PREVIEW_CHARS)

    def whole(self, span: Span, *, moved: bool) -> bytes:
        """Return all lines of a span, by its offsets unless they may have `moved`."""
        if moved:
            return b"\n".join(self.lines(span.start_line, span.end_line))
        start = self.data.rfind(b"\n", 0, span.start_byte) + 1
        end = self.data.find(b"\n", max(start, span.end_byte - 1))
        return self.data[start : len(self.data) if end < 0 else end]


MISSING = FileText(b"", True)


class FileReader:
    """Reads the files of a view and caches the last ones; threads may share it."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._lock = Lock()  # guards the cache
        self._cache: OrderedDict[str, tuple[Stamp, bytes]] = OrderedDict()
        self._cached_bytes = 0

    def read(self, path: str, stamp: Stamp | None) -> FileText:
        """Return a file; `stamp` is the (size, time) it was indexed with."""
        try:
            now = self.view.stamp(path)
            with self._lock:
                if (cached := self._cache.get(path)) is not None and cached[0] == now:
                    self._cache.move_to_end(path)
                    return FileText(cached[1], now != stamp)
            data = normalize(self.view.read(path))
        except OSError:
            return MISSING
        with self._lock:
            self._add(path, now, data)
        return FileText(data, now != stamp)

    def _add(self, path: str, stamp: Stamp, data: bytes) -> None:
        self._cached_bytes += len(data) - len(self._cache.pop(path, (stamp, b""))[1])
        self._cache[path] = (stamp, data)
        while self._cached_bytes > MAX_CACHED_BYTES and len(self._cache) > 1:
            self._cached_bytes -= len(self._cache.popitem(last=False)[1][1])


def focus_on(row: ChunkRow, terms: frozenset[str], definition: int | None) -> Focus:
    """Choose what to show of a chunk: the given definition, else the one that the query names in full, else all.

    Where several small definitions share a chunk, "all" is the one of them that the query is nearest to, or that whose
    words it has. A chunk that only closes a definition stands for that.
    """
    first = row.chunk.definitions[0]
    if definition is not None and 0 <= definition - first < len(row.definitions):
        return _on_definition(row, definition - first)
    owner_place = _inside_namespace(row, row.chunk.owner - first)
    if 0 <= owner_place < len(row.definitions):
        if len(row.definitions) == 1:
            return Focus.on(row.definitions[0])
        initials = _initials(terms)
        like = [place for place, own in enumerate(row.definitions) if _may_begin(own.name, initials)]
        named = [
            place
            for place in like
            if row.definitions[place].kind not in _NO_ANSWERS and _is_named_in(row.definitions[place], terms)
        ]
        place = owner_place if owner_place in named else named[0] if named else _nearest(row, owner_place, terms)
        return _on_definition(row, _said_in_full(row, place, terms, like))
    if row.owner is not None:
        return Focus.on(row.owner, span=None if only_closes(row) else row.chunk.span)
    return Focus.on_text(row.chunk.kind, row.chunk.span)


def _inside_namespace(row: ChunkRow, place: int) -> int:
    """Return the place of a definition or, where that is a namespace, of the first one in it that does something."""
    definitions = row.definitions
    if not 0 <= place < len(definitions) or definitions[place].kind != "namespace":
        return place
    return next(
        (inner for inner in range(place + 1, len(definitions)) if definitions[inner].kind not in _NO_ANSWERS), place
    )


def only_closes(row: ChunkRow) -> bool:
    """Tell whether a chunk is no more than the end of its owner, which says nothing by itself."""
    span = row.chunk.span
    return row.owner is not None and not row.definitions and span.end_byte - span.start_byte <= _CLOSING_BYTES


def _nearest(row: ChunkRow, owner_place: int, terms: frozenset[str]) -> int:
    """Return the place of the owner, or of a definition behind it of whose name, or else head, the query says more."""
    end = row.definitions[owner_place].span.end_byte
    behind = [
        place
        for place, definition in enumerate(row.definitions)
        if definition.kind not in MINOR_KINDS and definition.span.start_byte >= end
    ]

    if not terms or not behind:
        return owner_place
    places = [owner_place, *behind]
    said = [len(terms & _terms_of_name(row.definitions[place].name)) for place in places]
    most = max(said)
    among = [place for place, count in zip(places, said, strict=True) if count == most]
    if len(among) == 1:
        return among[0]
    return max(among, key=lambda place: len(terms & _terms_of_name(row.definitions[place].signature)))


def _said_in_full(row: ChunkRow, place: int, terms: frozenset[str], like: Sequence[int]) -> int:
    """Return the place of the definition all of whose words the query says, if these are more than of the given one.

    Of a field or the like one word says too little.

    Args:
        row: the chunk.
        place: of the given one.
        terms: of the query.
        like: the places of the definitions whose names may begin with one of the terms.
    """
    if not like:
        return place
    most = len(terms & _words_of_name(row.definitions[place].name))
    for other in like:
        definition = row.definitions[other]
        own = _words_of_name(definition.name)
        if len(own) > most and own <= terms and (len(own) > 1 or definition.kind not in MINOR_KINDS):
            place, most = other, len(own)
    return place


def _on_definition(row: ChunkRow, place: int) -> Focus:
    return Focus.on(row.definitions[place], place if len(row.definitions) > 1 else None)


def _is_named_in(definition: Definition, terms: frozenset[str]) -> bool:
    name = definition.name
    if name.isascii() and name.isidentifier() and not _is_one_word(name) and name.lower().replace("_", "") not in terms:
        return False  # one term of such a name is all of it
    own = _terms_of_name(name)
    return bool(own) and own <= terms


def _is_one_word(identifier: str) -> bool:
    core = identifier.strip("_")
    return core.isalpha() and (core[1:].islower() or core.isupper())


def _may_begin(name: str, initials: Set[str]) -> bool:
    """Tell whether a name may begin with one of the terms that have these initials: a stem begins as its word does."""
    first = name[:1].lower()[:1]
    return first in initials or not first.isalnum()


@lru_cache(maxsize=16)  # each hit asks
def _initials(terms: frozenset[str]) -> frozenset[str]:
    return frozenset([term[:1] for term in terms])


@lru_cache(maxsize=4_096)
def _terms_of_name(name: str) -> frozenset[str]:
    return frozenset([term for raw in raw_words(name) for term in terms_of_word(raw)[1]])


@lru_cache(maxsize=4_096)
def _words_of_name(name: str) -> frozenset[str]:
    """Return the stems of a name's words."""
    return frozenset(
        [stem for raw in raw_words(name) for words, terms in (terms_of_word(raw),) for stem in terms[: len(words)]]
    )


def make_hit(
    snapshot: Snapshot, row: ChunkRow, focus: Focus, file: int, text: FileText, verdict: Verdict, context: int
) -> CodeHit:
    """Make a hit. With `context`, its preview is that many lines around its first line instead of its first lines."""
    path = snapshot.files.paths[file]
    return CodeHit(
        id=format_hit_id(row.key, path, focus.place),
        kind=focus.kind,
        name=focus.name,
        qualified_name=focus.qualified_name,
        path=path,
        start_line=focus.span.start_line,
        end_line=focus.span.end_line,
        language=snapshot.files.language_names[snapshot.files.languages[file]],
        signature=focus.signature,
        tokens=estimate_tokens(focus.span.end_byte - focus.span.start_byte),
        score=_rounded(verdict.score, 10_000),
        relevance=_rounded(verdict.relevance, 1_000),
        confidence=verdict.confidence,
        preview=preview(text, focus.span, context),
        stale=text.stale,
        explain=verdict.explain,
        origin=foreign_word(int(snapshot.files.roles[file])),
    )


def _rounded(value: float, steps: int) -> float:
    """Return the nearest multiple of a part of 1; `round` takes three times as long, as it looks at every digit."""
    return math.floor(value * steps + 0.5) / steps


def preview(text: FileText, span: Span, context: int = 0) -> str:
    """Return the first lines of a span, or `context` lines around the first, each cut to a readable width."""
    if context:
        lines = text.lines(max(1, span.start_line - context), span.start_line + context)
    elif (shown := text.shown_head(span, PREVIEW_LINES)) is not None:
        return shown
    else:
        lines = text.head(span, PREVIEW_LINES)
    block = shown_text(b"\n".join([line[:MAX_LINE_BYTES] for line in lines]))
    return "\n".join([line.rstrip()[:PREVIEW_CHARS] for line in block.split("\n")])


_copies: WeakKeyDictionary[Snapshot, frozenset[int]] = WeakKeyDictionary()


def _copies_in(snapshot: Snapshot) -> frozenset[int]:
    """Return the numbers of the files that have the content of another file."""
    if (known := _copies.get(snapshot)) is None:
        _, content, counts = np.unique(snapshot.files.blob_ids, return_inverse=True, return_counts=True)
        known = _copies[snapshot] = frozenset((counts[content] > 1).nonzero()[0].tolist())
    return known


def notes_on_copies(
    snapshot: Snapshot, request: Filtered, ranked: Iterable[int], hits: Sequence[CodeHit]
) -> Iterator[str]:
    """Say where else the files of the first hits stand, for a ranking lists each content once.

    Args:
        snapshot: what was ranked.
        request: filters the files.
        ranked: the numbers of those that were ranked, best first.
        hits: what is shown of them.
    """
    files, copies = snapshot.files, _copies_in(snapshot)
    shown = {hit.path for hit in hits[:NOTED_HITS]}
    for file in dict.fromkeys(islice(ranked, NOTED_HITS)):
        if file not in copies or (path := files.paths[file]) not in shown:
            continue
        alike = np.flatnonzero(files.blob_ids == files.blob_ids[file])
        chosen = filter_files(files, request)
        alike = alike if chosen is None else np.intersect1d(alike, chosen)
        if others := [files.paths[number] for number in alike if number != file]:
            rest = len(others) - SHOWN_COPIES
            more = f" and {pluralize(rest, 'other file')}" if rest > 0 else ""
            named = ", ".join(map(on_one_line, others[:SHOWN_COPIES]))
            yield f"{on_one_line(path)} has the same content as {named}{more}, and is listed once."
