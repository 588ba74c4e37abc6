"""Finds text that was pasted into a query: where it stands verbatim, or where the code formats it.

A query that looks pasted (an error message, a flag, a key with dashes or dots) is looked for by its runs: words that
follow each other in the query and in the code with the same marks between them. Values that were filled in break a run,
as placeholders do in the code, so `Cannot connect to host example.com` meets `f"Cannot connect to host {host}"`.
Only the chunks that hold the rarest runs of words, as far as the index knows, are read.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.index.snapshot import Snapshot
from cairn.search.exact import LineMatch
from cairn.search.filters import Filtered, filter_files
from cairn.search.library import Library, read_files
from cairn.search.query import STOP_WORDS
from cairn.source.frames import file_among, read_frames
from cairn.source.roles import FOREIGN, Role
from cairn.source.terms import term_hash, terms_of
from cairn.source.text import split_identifier
from cairn.storage.index import chunk_db

BUDGET_SECONDS = 0.25
_MAX_WORDS = 32  # of a longer text the first count
_MAX_ROWS, _MAX_FILES = 24, 96  # that are read, for a part of the text and for all of it
_BATCH = 16  # files that are read at once
_MAX_COMPARED_ROWS = 4_000
_MAX_PLACES = 8  # of one run in a chunk
_MAX_PARTS = 3  # places that hold a part of the text only
_OTHER_LINE = 0.6
_NEAR_BYTES = 250  # between runs of one message
_LEAST_SHARE = 0.3  # of the best row's rarity, for a row to be compared
_MINOR = Role.TEST | Role.EXAMPLE | Role.DOCS | FOREIGN
_MINOR_FACTOR = 0.15
_LONG_RUNS = 2.0  # the power of a run's rarity that counts: one of four words is worth more than four of one

_LITTLE = 1.0  # what each further word adds to the rarity of a run, common as it may be
_VALUE = 0.3  # of a word that was probably filled in

_WORD = re.compile(r"\w+")
_ODD = re.compile(r"[^\w\s]")
_QUESTION = re.compile(r"(?i)^(how|where|what|which|who|why|when|does|do|is|are|can|show|find|list|explain|describe)\b")
# Parts of a question that are meant as they stand: quoted text, flags, keys with two dashes or more.
_PART = re.compile(
    r"\"([^\"]*[^\w\"][^\"]*)\"|`([^`]*[^\w`][^`]*)`|(?<!\w)'([^']*[^\w'][^']*)'(?!\w)|(?<!\S)(--\w\S*|\w+(?:-\w+){2,})"
)
# What prose seldom has: values, placeholders, a full stop at the end, what messages say about what went wrong.
_MARKS = re.compile(
    r"[\"`]|(?<!\w)'|'(?!\w)|%[sdrvq]|%\(|\$?\{|\(s\)|(?<!\S)--?\w|\d[.:]\d|[\[\]<>=$]|[.!]$|^-?ERR "
    r"|(?i:(error|exception|fatal|warning|failed|failure|panic|uncaught|invalid|unknown|unexpected)[\w ]{0,30}\)?: )"
)
_MESSAGE = re.compile(
    r"(?i)\b(can ?not|can't|could ?n[o']t|unable to|fail(ed|s) to|must (not )?be|(is|are|was|were|does|do|did) not"
    r"|not (found|allowed|supported|a valid)|no such|already (exists|in use|defined|registered|been)"
    r"|exceeded|denied|refused|(is|are) required)\b"
)


# What is probably a value: quoted, with a digit, a dot or a slash inside; the class of an exception before its message.
_VALUES = re.compile(
    r"\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|`[^`]*`|\[[^\]]*\]|\S*\d\S*|\S*\w[./\\:]+\w\S*"
    r"|^[*(]* ?\(?[\w.:\\]+\)?:? (?<=[:)] )"
)


class Pasted(NamedTuple):
    """A text that looks pasted. `is_loose` means that a part of it is enough, else all must stand in one place."""

    text: str
    is_loose: bool


class PastedPlace(NamedTuple):
    """A line that holds what was pasted: all of it (`share` 1.0), or `part` with this share of its rarity."""

    line: LineMatch
    part: str
    share: float


class Places(NamedTuple):
    """The lines, best first, and whether time ran out before all that were promising were read."""

    places: list[PastedPlace]
    is_cut: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether they hold the whole text."""
        return bool(self.places) and self.places[0].share >= 1.0


def read_pasted(text: str) -> list[Pasted]:
    """Return what of a query looks pasted: all of it, or the quoted and odd parts of a question."""
    first, *rest = [line.strip() for line in text.strip().splitlines() if line.strip()] or [""]
    if rest:  # of a trace, the message stands first or last
        return [pasted for line in (rest[-1], first) for pasted in read_pasted(line)]
    if " " not in first:
        is_token = _ODD.search(first) or "_" in first or (first.isupper() and len(first) > 2)
        return [Pasted(_unquoted(first), False)] if is_token and _WORD.search(first) else []
    if _QUESTION.match(first) or first.endswith("?"):
        parts = [next(filter(None, match.groups())) for match in _PART.finditer(first)]
        return [Pasted(part.rstrip("?.,;:!"), False) for part in parts]
    n_words = len(first.split())
    if _MARKS.search(first) or _MESSAGE.search(first):
        return [Pasted(_unquoted(first), n_words > 2)]
    return [Pasted(first, False)] if n_words > 3 else []


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'`"
    return text[1:-1] if is_quoted and text[0] not in text[1:-1] else text


def find_pasted(library: Library, pasted: Sequence[Pasted], wants: Role, filters: Filtered, limit: int) -> Places:
    """Return the lines that hold what was pasted, the first of `pasted` that stands anywhere.

    Args:
        wants: the roles of files that the query asks for.
        limit: how many lines there may be.
    """
    until = time.monotonic() + BUDGET_SECONDS
    for one in pasted:
        search = _Search(library, one, wants, filters, until)
        found = search.whole(limit)
        if one.is_loose and not found.is_cut and search.is_minor(found.places):
            parts = search.parts()  # a test repeats the message that the code makes
            if not found.places or (parts.places and not search.is_minor(parts.places)):
                found = parts
        if found.places or found.is_cut:
            return found
    return Places([])


def find_frames(library: Library, text: str, filters: Filtered, limit: int) -> list[LineMatch]:
    """Return the lines that a text names as `PATH:LINE` or in the frames of a traceback, the deepest call first.

    A path may be longer than in the project, as on another machine, or shorter, if only one file ends in it.
    """
    frames = read_frames(text)
    if not frames:
        return []
    files = library.snapshot.files
    numbers = {path: number for number, path in enumerate(files.paths)}
    chosen = filter_files(files, filters)
    inside = None if chosen is None else set(chosen.tolist())
    lines: list[LineMatch] = []
    for frame in frames:
        path = file_among(frame.path, numbers)
        if path is None or (inside is not None and numbers[path] not in inside):
            continue
        number = numbers[path]
        data = read_files(library, [number])[number].data
        found = data.split(b"\n", frame.line)[: frame.line]
        if len(found) == frame.line:
            start = sum(map(len, found[:-1])) + frame.line - 1
            lines.append(LineMatch(number, frame.line, frame.line, start, found[-1]))
        if len(lines) == limit:
            break
    return lines


class _Words(NamedTuple):
    """The words of a text: where they stand in it, which count, which of these are no values, how rare each is.

    Arrays have shape (n_words,).
    """

    spans: list[tuple[int, int]]
    counts: npt.NDArray[np.bool_]
    said: npt.NDArray[np.bool_]
    rarity: npt.NDArray[np.float64]


class _Run(NamedTuple):
    """Words of the text, `first` to `last`, that stand at an offset of some data."""

    offset: int
    first: int
    last: int


class _PastedPiece(NamedTuple):
    """Whole lines of a file: the number of the first, where it begins in the file, in bytes, and their text."""

    file: int
    first_line: int
    offset: int
    data: bytes

    def line_at(self, place: int) -> LineMatch:
        """Return the line around a place in the text."""
        line = self.first_line + self.data.count(b"\n", 0, place)
        start, end = self.data.rfind(b"\n", 0, place) + 1, self.data.find(b"\n", place)
        text = self.data[start : len(self.data) if end < 0 else end]
        return LineMatch(self.file, line, line, self.offset + start, text)


class _Search:
    """Looks for one text in the chunks that may hold it."""

    def __init__(self, library: Library, pasted: Pasted, wants: Role, filters: Filtered, until: float) -> None:
        self._library = library
        self._text = pasted.text
        self._until = until
        snapshot = library.snapshot
        found = list(_WORD.finditer(self._text))[:_MAX_WORDS]
        words = [match[0] for match in found]
        is_token = not any(map(str.isspace, self._text))
        counts = np.array([is_token or word.lower() not in STOP_WORDS for word in words], dtype=np.bool_)
        counts = counts if counts.any() else ~counts
        self._terms, self._rows, rarity = _occurrences(snapshot, words, counts, filters)
        said = counts.copy()
        values = [match.span() for match in _VALUES.finditer(self._text)]
        for number, match in enumerate(found if pasted.is_loose else ()):
            if any(start <= match.start() < end for start, end in values):
                rarity[number] *= _VALUE
                said[number] = False
        self._words = _Words([match.span() for match in found], counts, said, rarity)
        roles = snapshot.files.roles & int(_MINOR & ~wants)
        self._is_minor = roles > 0

    def whole(self, limit: int) -> Places:
        """Return lines that hold all of the text; those that are not part of a longer word, and code, come first."""
        n_wanted = int(self._words.counts.sum())
        if not n_wanted or not len(self._rows):
            return Places([])
        rows, counts = np.unique(self._rows, return_counts=True)
        files, counts = np.unique(self._library.snapshot.file_of_row[rows[counts == n_wanted]], return_counts=True)
        order = np.lexsort((files, -counts, self._is_minor[files]))
        files = files[order][:_MAX_FILES]
        places: list[tuple[bool, bool, int, PastedPlace]] = []
        needle = self._text.encode("utf-8", "surrogatepass")
        bounded = re.compile(rb"(?<!\w)" * self._text[:1].isalnum() + re.escape(needle))
        for piece in self._files(files.tolist()):
            data, position = piece.data, 0
            while (start := data.find(needle, position)) >= 0:
                is_inner = bounded.match(data, start) is None or data[start + len(needle) :][:1].isalnum()
                place = PastedPlace(piece.line_at(start), self._text, 1.0)
                places.append((is_inner, bool(self._is_minor[piece.file]), len(places), place))
                position = data.find(b"\n", start) + 1 or len(data)
            if len(places) >= 4 * limit:
                break
        places.sort(key=lambda entry: entry[:3])
        return Places(_without_repeats([place for *_, place in places])[:limit], self._is_late())

    def parts(self) -> Places:
        """Return the lines that hold the longest and rarest runs of the text's words."""
        rows = self._rows_by_runs()
        found: list[tuple[float, PastedPlace]] = []
        for piece in self._pieces(rows):
            best = self._best_place(piece)
            if best is not None:
                found.append((best[0] * (_MINOR_FACTOR if self._is_minor[piece.file] else 1.0), best[1]))
        found.sort(key=lambda entry: -entry[0])
        best_score = found[0][0] if found else 0.0
        places = [place for score, place in found if score > 0.7 * best_score]
        return Places(_without_repeats(places)[:_MAX_PARTS], self._is_late())

    def is_minor(self, places: Sequence[PastedPlace]) -> bool:
        """Tell whether all of some places are in tests, examples or documentation."""
        return all(self._is_minor[place.line.file] for place in places)

    def _is_late(self) -> bool:
        return time.monotonic() > self._until

    def _ordered(self, rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return rows by score, code before tests and documentation, then by path."""
        files = self._library.snapshot.file_of_row[rows]
        factor = np.where(self._is_minor[files], _MINOR_FACTOR, 1.0)
        return rows[np.lexsort((rows, files, -factor, -(scores * factor)))]

    def _rows_by_runs(self) -> npt.NDArray[np.int64]:
        """Return the rows whose words may form the rarest runs, as far as the index knows, best first."""
        rarity = self._words.rarity
        total = np.bincount(self._rows, weights=rarity[self._terms], minlength=self._library.snapshot.n_rows)
        kept = np.flatnonzero(total > _LEAST_SHARE * total.max(initial=0.0))
        if len(kept) > _MAX_COMPARED_ROWS:
            kept = np.sort(kept[np.argpartition(-total[kept], _MAX_COMPARED_ROWS)[:_MAX_COMPARED_ROWS]])
        if not len(kept):
            return kept
        place = np.full(self._library.snapshot.n_rows, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        inside = place[self._rows] >= 0
        holds = np.zeros((len(rarity), len(kept)), dtype=np.bool_)
        holds[self._terms[inside], place[self._rows[inside]]] = True
        run, score = np.zeros(len(kept)), np.zeros(len(kept))
        for word in np.flatnonzero(self._words.counts):
            score += np.where(holds[word], 0.0, run**_LONG_RUNS)
            run = np.where(holds[word], run + rarity[word], 0.0)
        return self._ordered(kept, score + run**_LONG_RUNS)[:_MAX_ROWS]

    def _files(self, files: Sequence[int]) -> Iterator[_PastedPiece]:
        """Yield whole files, until time is up."""
        for batch in _batches(files, _BATCH):
            waiting.check()
            if self._is_late():
                return
            for file, text in read_files(self._library, batch).items():
                yield _PastedPiece(file, 1, 0, text.data)

    def _pieces(self, rows: npt.NDArray[np.int64]) -> list[_PastedPiece]:
        """Return the text of some rows, until time is up; the whole file if it changed since."""
        snapshot = self._library.snapshot
        ids = [snapshot.chunk_id(int(row)) for row in rows]
        chunks = chunk_db.read_chunks(self._library.connection, ids)
        chunks_of_files: dict[int, list[int]] = {}
        for row, chunk_id in zip(rows.tolist(), ids, strict=True):
            chunks_of_files.setdefault(int(snapshot.file_of_row[row]), []).append(chunk_id)
        pieces = []
        for file, own in chunks_of_files.items():
            waiting.check()
            if self._is_late():
                break
            text = read_files(self._library, [file])[file]
            if text.stale:
                pieces.append(_PastedPiece(file, 1, 0, text.data))
                continue
            for span in (chunks[chunk_id].chunk.span for chunk_id in own if chunk_id in chunks):
                start = text.data.rfind(b"\n", 0, span.start_byte) + 1
                pieces.append(_PastedPiece(file, span.start_line, start, text.whole(span, moved=False)))
        return pieces

    def _best_place(self, piece: _PastedPiece) -> tuple[float, PastedPlace] | None:
        """Return the place in a chunk where most of the text stands, with its score; None if that is too little."""
        runs = self._runs(piece.data)
        best: tuple[float, PastedPlace] | None = None
        for anchor in runs:
            near = _nearest_of_each(runs, anchor)
            score = sum(self._rarity(run) ** _LONG_RUNS * _nearness(piece.data, anchor, run) for run in near)
            if (best is not None and score <= best[0]) or not self._is_enough(near, anchor):
                continue
            share = sum(self._rarity(run) for run in near) / self._rarity(_Run(0, 0, len(self._words.spans) - 1))
            start, end = self._words.spans[anchor.first][0], self._words.spans[anchor.last][1]
            best = score, PastedPlace(piece.line_at(anchor.offset), self._text[start:end], min(share, 0.99))
        return best

    def _rarity(self, run: _Run) -> float:
        """Return how rare a run is; words that say little count when others are around them."""
        words = self._words
        total = float(words.rarity[run.first : run.last + 1].sum())
        return total + (_LITTLE * (run.last - run.first) if run.last > run.first else 0.0)

    def _is_enough(self, near: Sequence[_Run], longest: _Run) -> bool:
        counts = self._words.counts
        n_longest = int(counts[longest.first : longest.last + 1].sum())
        n_near = sum(int(counts[run.first : run.last + 1].sum()) for run in near)
        is_long = n_longest >= 2 or longest.last - longest.first >= 2
        n_said = int(self._words.said.sum())
        return (is_long and (n_near >= 3 or n_near >= 0.5 * n_said)) or n_near >= 4

    def _runs(self, data: bytes) -> list[_Run]:
        """Return the longest runs of the text that stand in some data, wherever they do."""
        runs, first, n_words = list[_Run](), 0, len(self._words.spans)
        while first < n_words:
            places, last = self._places(data, first, first), first
            while places and last + 1 < n_words and (further := self._places(data, first, last + 1)):
                places, last = further, last + 1
            if self._words.counts[first : last + 1].any():
                runs += [_Run(place, first, last) for place in places]
            first = last + 1
        return runs

    def _places(self, data: bytes, first: int, last: int) -> list[int]:
        """Return where a run of whole words stands, at most eight places."""
        start, end = self._words.spans[first][0], self._words.spans[last][1]
        needle = self._text[start:end].encode("utf-8", "surrogatepass")
        places, offset = list[int](), data.find(needle)
        while offset >= 0 and len(places) < _MAX_PLACES:
            if not _is_word(data[max(0, offset - 1) : offset]) and not _is_word(data[offset + len(needle) :][:1]):
                places.append(offset)
            offset = data.find(needle, offset + 1)
        return places


def _batches(files: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Yield a list in pieces of at most some size."""
    return (files[start : start + size] for start in range(0, len(files), size))


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_"


def _nearness(data: bytes, anchor: _Run, run: _Run) -> float:
    """Return how much a run counts beside another: less on a line of its own."""
    first, last = sorted((anchor.offset, run.offset))
    return _OTHER_LINE if b"\n" in data[first:last] else 1.0


def _nearest_of_each(runs: Sequence[_Run], anchor: _Run) -> list[_Run]:
    """Return of each run the place that is nearest to another one, if it is near."""
    nearest: dict[tuple[int, int], _Run] = {}
    for run in sorted(runs, key=lambda run: abs(run.offset - anchor.offset)):
        if abs(run.offset - anchor.offset) <= _NEAR_BYTES:
            nearest.setdefault((run.first, run.last), run)
    return list(nearest.values())


def _occurrences(
    snapshot: Snapshot, words: Sequence[str], counts: npt.NDArray[np.bool_], filters: Filtered
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return which of the words that count stand in which rows in scope, and how rare each word is."""
    hashes = [term_hash(terms_of(word, split_identifier(word))[-1]) if split_identifier(word) else 0 for word in words]
    known = [number for number in np.flatnonzero(counts).tolist() if hashes[number]]
    first_of: dict[int, int] = {}
    for number in known:
        first_of.setdefault(hashes[number], number)
        if first_of[hashes[number]] != number:
            counts[number] = False  # said before
    known = list(first_of.values())
    for number in np.flatnonzero(counts).tolist():
        counts[number] = bool(hashes[number])
    found = snapshot.term_rows([hashes[number] for number in known])
    frequency = np.bincount(found.terms, minlength=len(known))
    rarity = np.zeros(len(words))
    rarity[known] = np.log1p((snapshot.n_live - frequency + 0.5) / (frequency + 0.5)).clip(0.1)
    terms, rows = np.array(known, dtype=np.int64)[found.terms], found.rows.astype(np.int64)
    if (files := filter_files(snapshot.files, filters)) is not None:
        inside = np.isin(snapshot.file_of_row[rows], files)
        terms, rows = terms[inside], rows[inside]
    return terms, rows, rarity


def _without_repeats(places: Sequence[PastedPlace]) -> list[PastedPlace]:
    return list({(place.line.file, place.line.start_line): place for place in reversed(places)}.values())[::-1]
