"""Finds text that was pasted into a query: where it stands verbatim, or where the code formats it.

A query that looks pasted (an error message, a flag, a key with dashes or dots) is looked for by its runs: words that
follow each other in the query and in the code with the same marks between them. Values that were filled in break a run,
as placeholders do in the code, so `Cannot connect to host example.com` meets `f"Cannot connect to host {host}"`.
Only the chunks that hold the rarest runs of words, as far as the index knows, are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import compress, islice
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.kernels import loops
from cairn.kernels.grouping import group
from cairn.loading import load
from cairn.search.exact import LineMatch
from cairn.search.filters import Filtered
from cairn.search.hits import FileText
from cairn.search.library import Library, read_files
from cairn.search.pasted_rows import MAX_WORDS, MINOR, Deadline, occurrences_of, standing_of, stands_nowhere
from cairn.search.pasted_text import Pasted, is_of_language, read_message, without_prefix
from cairn.search.pasted_words import LONG_RUNS, PastedWords, WordRun
from cairn.search.query import STOP_WORDS
from cairn.source.roles import Role
from cairn.source.text import is_plain, places_of_word

# By the processor, so that answers stay the same on a busy machine; and by the clock, where a disk keeps one waiting.
BUDGET_SECONDS, PATIENCE_SECONDS = 0.25, 2.0
_MAX_ROWS, _MAX_FILES = 32, 96  # that are read, for a part of the text and for all of it
_MAX_ROWS_OF_FEW, _FEW_WORDS = 56, 4  # where the text says no more words, many chunks hold them
_MAX_MINOR_ROWS = 8  # of tests, examples and documentation among those of a part
_BATCH, _BATCH_OF_ROWS = 16, 8  # files, and rows that are looked at, that are read at once
_MAX_COMPARED_ROWS = 4_000
_MAX_PLACES = 8  # of one run in a chunk
_MAX_PARTS = 3  # places that hold a part of the text only
_KEPT_SHARE = 0.7  # of the weight of the best one, from which on others are shown
_ROUNDED_UP = 1 + 1e-9  # sums of the same numbers in another order may be this much larger
_LEAST_OF_WORD = 0.2  # of a text, for a place that has but one word of it
_OTHER_LINE = 0.6
_NEAR_BYTES = 250  # between runs of one message
_LEAST_SHARE = 0.3  # of the best row's rarity, for a row to be compared
_ENOUGH_WORDS, _ENOUGH_SHARE = 3, 0.25  # that stand in code, for tests and documents to be left out
# What a place counts by where it stands: a comment, outside of a string, before a placeholder, beside what is raised.
_IN_COMMENT, _NO_STRING, _BEFORE_VALUE, _RAISED = 0.4, 0.7, 1.2, 1.5

# Of a word that was probably filled in, where the text says little else and where it says enough.
_VALUE, _PLAIN_VALUE = 0.3, 0.1
_CLASS = 0.5  # of the class of an exception
_OWN_WORDS = 2

_Item = TypeVar("_Item")

_WORD = re.compile(r"\w+")
_KEY = re.compile(r"\w+(?:[.-]\w+)+")
_COMMENT_LINE = re.compile(rb"\s*(?:#(?!\{)|//|/?\*|--|;;|%)")
# A name without a definition of its own: a member of an enum, a key. What stands around it where it is declared.
_NAME, _MAX_BESIDE = re.compile(r"[A-Za-z_]\w+(?:\.\w+)*"), 200  # bytes on either side that may tell
_OPENS_DECLARATION = re.compile(
    rb"\s*(?:(?:pub(?:\([\w:]+\))?|public|private|protected|internal|static|readonly|const|final|export)\s+)*[\"'\[]?"
)
_HAS_VALUE = re.compile(rb"[\"'\]]?\??\s*(?::(?![:=])|=(?![=>~]))")
_ENDS_MEMBER = re.compile(rb"\s*(?:\([\w<>, ]*\))?,?\s*(?:(?://|#).*)?$")
_REGISTERS = re.compile(
    rb"(?i)(?:\.new|setting\w*|option\w*|defin\w*|declar\w*|register\w*|\badd\w*|default\w*|param\w*|flag\w*)\W{1,3}$"
)
_NEXT_ARGUMENT = re.compile(rb"[\"']\s*,")
_BEGINS_MESSAGE = re.compile(rb"[\"'`](?:\w{1,20}: |\[\w{1,20}\] )?$")  # or behind its level: `"Error: invalid value"`
_ENDS_MESSAGE = re.compile(rb"[\"'`:.,;!?(]| ?(?:[-%${#<\[\"'`(]|\\)")
_PLACEHOLDER = re.compile(rb"[\"'`(<\[ ]{0,3}(?:%[\w(.-]|\$?\{|#\{|\\\(|\"? ?[+.,] ?\w)")


class PastedPlace(NamedTuple):
    """A line that holds what was pasted: all of it (`share` 1.0), or `part` with this share of its rarity.

    `weight` says how long and rare the runs are that stand there, to compare places of several texts, and `n_words` how
    many words of the text, without values, they have.
    """

    line: LineMatch
    part: str
    share: float
    weight: float = 0.0
    n_words: int = 0


class Places(NamedTuple):
    """The lines, best first, and whether time ran out before all that were promising were read."""

    places: list[PastedPlace]
    is_cut: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether they hold the whole text."""
        return bool(self.places) and self.places[0].share >= 1.0


def find_pasted(library: Library, pasted: Sequence[Pasted], wants: Role, filters: Filtered, limit: int) -> Places:
    """Return the lines that hold what was pasted, the first of `pasted` that stands anywhere.

    Args:
        wants: the roles of files that the query asks for.
        limit: how many lines there may be.
    """
    until = Deadline.after(BUDGET_SECONDS, PATIENCE_SECONDS)
    for one in pasted:
        if not one.is_loose and stands_nowhere(library.snapshot, one.text):
            continue
        search = _Search(library, one, wants, filters, until)
        found = Places([]) if one.is_short else search.whole(limit)
        if not found.places and search.has_other_body:
            found = _Search(library, Pasted(search.body, True), wants, filters, until).whole(limit)
        if not found.is_cut and search.is_minor(found.places) and (as_message := search.as_message(limit)).places:
            found = as_message
        if one.is_loose and not found.is_cut and not is_of_language(one.text) and search.is_minor(found.places):
            parts = search.parts()  # a test repeats the message that the code makes
            if not found.places or (parts.places and not search.is_minor(parts.places)):
                found = parts
        if found.places or found.is_cut:
            return found
    return Places([])


def find_frames(library: Library, text: str, filters: Filtered, limit: int) -> list[PastedPlace]:
    """Return the lines that a text names by a path or a traceback; the `share` of each is how sure its line is."""
    if is_plain(text):
        return []
    found = load("cairn.search.framed:lines_in_text")(library, text, filters)
    return [PastedPlace(one.line, "", one.share) for one in islice(found, limit)]


class _LikelyChunk(NamedTuple):
    """A row that may hold enough of a text.

    Attributes:
        file: its number.
        chunk_id: of its chunk.
        held: a byte for each word of the text, 0 for one that does not stand there.
        is_minor: whether it is in a test, an example or documentation.
        most: the most that a place in it can weigh.
        order: where it comes among places of the same weight.
    """

    file: int
    chunk_id: int
    held: bytes
    is_minor: bool
    most: float
    order: tuple[int, int]


class _PastedPiece(NamedTuple):
    """Whole lines of a file: the number of the first, where it begins in the file, in bytes, and their text.

    `may_hold` has a byte for each word of the text, 0 for one that does not stand there; None if all may.
    """

    file: int
    first_line: int
    offset: int
    data: bytes
    may_hold: bytes | None = None

    def line_at(self, place: int) -> LineMatch:
        """Return the line around a place in the text."""
        line = self.first_line + self.data.count(b"\n", 0, place)
        start, end = self.data.rfind(b"\n", 0, place) + 1, self.data.find(b"\n", place)
        text = self.data[start : len(self.data) if end < 0 else end]
        return LineMatch(self.file, line, line, self.offset + start, text)


class _Search:
    """Looks for one text in the chunks that may hold it."""

    def __init__(self, library: Library, pasted: Pasted, wants: Role, filters: Filtered, until: Deadline) -> None:
        self._library = library
        self._text = without_prefix(pasted.text) if pasted.is_loose else pasted.text
        self._until = until
        snapshot = library.snapshot
        found = list(_WORD.finditer(self._text))[:MAX_WORDS]
        words = [match[0] for match in found]
        is_token = not any(map(str.isspace, self._text))
        counts = np.array([is_token or word.lower() not in STOP_WORDS for word in words], dtype=np.bool_)
        counts = counts if counts.any() else ~counts
        self._terms, self._rows, rarity = occurrences_of(snapshot, words, counts, filters)
        own = np.ones(len(words), dtype=np.bool_)
        said, self.body, raised = counts, self._text, list[str]()
        if pasted.is_loose:
            message = read_message(self._text)
            for number, match in enumerate(found):
                own[number] = not message.is_value(match.start())
            said = counts & own
            factor = _PLAIN_VALUE if said.sum() >= _OWN_WORDS else _VALUE
            rarity[~own] *= [_CLASS if match[0] in message.raised else factor for match in compress(found, ~own)]
            self.body, raised = message.body, message.raised
        self._is_loose, self._is_short = pasted.is_loose, pasted.is_short
        self._raised = [name.encode() for name in raised]
        self._bytes = self._text.encode("utf-8", "surrogatepass")
        spans = [match.span() for match in found]
        bounds = [place for span in spans for place in span]
        if not self._text.isascii():
            bounds = [len(self._text[:place].encode("utf-8", "surrogatepass")) for place in bounds]
        self._bounds, self._counts = np.array(bounds, dtype=np.int64), counts.tobytes()
        self._words = PastedWords(spans, counts.tolist(), rarity.tolist(), own.tolist())
        # A message may hold the words for tests or documents; that asks for none.
        standing = standing_of(snapshot, int(MINOR & ~(Role(0) if " " in self._text else wants)))
        self._is_minor, self._is_setting, self._is_translation, self._factors = standing

    @property
    def has_other_body(self) -> bool:
        """Whether a part of the text is a message by itself that may stand somewhere."""
        is_other = self.body != self._text.strip() and len(self.body.split()) >= _ENOUGH_WORDS
        return is_other and not stands_nowhere(self._library.snapshot, without_prefix(self.body))

    def whole(self, limit: int, *, any_case: bool = False) -> Places:
        """Return lines that hold all of the text; those that are not part of a longer word, and code, come first.

        A text that nobody has translated yet stands in the files of all languages: only that in English is shown.

        Args:
            limit: how many lines there may be.
            any_case: whether letters of ASCII may be written large or small.
        """
        n_wanted = sum(self._words.counts)
        if not n_wanted or not len(self._rows):
            return Places([])
        snapshot = self._library.snapshot
        rows = np.flatnonzero(np.bincount(self._rows, minlength=snapshot.n_rows) == n_wanted)
        if not len(rows):
            return Places([])
        files, _, which = group(snapshot.file_of_row[rows])
        is_key = _KEY.fullmatch(self._text) is not None  # which settings declare
        standing = (self._is_setting[files] & (not is_key), self._is_translation[files], self._is_minor[files])
        order = np.lexsort((files, -np.bincount(which), *standing))
        files = files[order][:_MAX_FILES]
        is_name = _NAME.fullmatch(self._text) is not None
        places: list[tuple[bool, bool, bool, bool, bool, int, PastedPlace]] = []
        n_of = {False: 0, True: 0}  # by whether they are part of a longer word
        needle = self._bytes.lower() if any_case else self._bytes
        is_bounded = self._text[:1].isalnum()
        for file, content in self._texts(files.tolist()):
            piece = _PastedPiece(file, 1, 0, content.data)
            data, position = content.data.lower() if any_case else content.data, 0
            while (start := data.find(needle, position)) >= 0:
                end = start + len(needle)
                is_inner = (is_bounded and _is_word(data[start - 1 : start])) or _is_word(data[end : end + 1])
                if not is_inner or n_of[True] < 4 * limit:
                    part = piece.data[start:end].decode("utf-8", "surrogatepass") if any_case else self._text
                    place = PastedPlace(piece.line_at(start), part, 1.0)
                    before = data[data.rfind(b"\n", 0, start) + 1 : start]
                    is_aside = bool(_COMMENT_LINE.match(before)) or (self._is_loose and not _opens_string(before))
                    is_minor, is_setting = bool(self._is_minor[file]), not is_key and bool(self._is_setting[file])
                    is_used = is_name and not _declares(before, needle, data[end : end + _MAX_BESIDE])
                    places.append((is_inner, is_minor, is_setting, is_aside, is_used, len(places), place))
                    n_of[is_inner] += 1
                position = data.find(b"\n", start) + 1 or len(data)
            if n_of[False] >= 4 * limit:
                break
        places.sort(key=lambda entry: entry[:6])
        found = [place for *_, place in places]
        untranslated = [place for place in found if not self._is_translation[place.line.file]]
        return Places(_without_repeats(untranslated or found)[:limit], self._is_late())

    def as_message(self, limit: int) -> Places:
        """Return lines in whose code the text, typed in any case, begins a message; few words are all of it."""
        if not self._is_short and not any(map(str.isspace, self._text)):
            return Places([])
        found = self.whole(limit, any_case=True)
        said = [place for place in found.places if _is_message(place, is_all=self._is_short)]
        return found._replace(places=said) if said and not self.is_minor(said) else Places([])

    def parts(self) -> Places:
        """Return the lines that hold the longest and rarest runs of the text's words."""
        found: list[tuple[float, tuple[int, int], PastedPlace]] = []
        says_enough, best_of_code = False, 0.0
        for candidate, piece in self._pieces(self._candidates()):
            if says_enough and (candidate.is_minor or candidate.most <= _KEPT_SHARE * best_of_code):
                break  # tests and documents are left out, and no further code comes near the best
            best = self._best_place(piece)
            if best is None or (best.share < _LEAST_OF_WORD and best.n_words < _OWN_WORDS):
                continue  # one common word of a sentence
            found.append((best.weight * float(self._factors[candidate.file]), candidate.order, best))
            if not candidate.is_minor:
                best_of_code = max(best_of_code, best.weight)
                says_enough = says_enough or (best.n_words >= _ENOUGH_WORDS and best.share >= _ENOUGH_SHARE)
        if says_enough:
            found = [one for one in found if not self._is_minor[one[2].line.file]]
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        places = [place for score, _, place in found if score > _KEPT_SHARE * found[0][0]]
        return Places(_without_repeats(places)[:_MAX_PARTS], self._is_late())

    def is_minor(self, places: Sequence[PastedPlace]) -> bool:
        """Tell whether all of some places are in tests, examples or documentation."""
        return all(self._is_minor[place.line.file] for place in places)

    def _is_late(self) -> bool:
        return self._until.is_over

    def _best_rows(
        self, rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float64], most: int
    ) -> npt.NDArray[np.int64]:
        """Return the rows of the highest scores, those of one score by path."""
        if len(rows) > most:
            are_high = scores >= np.partition(scores, -most)[-most]
            rows, scores = rows[are_high], scores[are_high]
        files = self._library.snapshot.file_of_row[rows]
        return rows[np.lexsort((rows, files, -scores))][:most]

    def _rows_by_runs(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return the rows whose words may form the rarest runs, as far as the index knows, best first.

        With them comes which words each of them may hold, of shape (n_rows, n_words).
        """
        words, rarity = self._words, np.array(self._words.rarity)
        total = np.bincount(self._rows, weights=rarity[self._terms], minlength=self._library.snapshot.n_rows)
        kept = np.flatnonzero(total > _LEAST_SHARE * total.max(initial=0.0))
        if len(kept) > _MAX_COMPARED_ROWS:
            kept = np.sort(kept[np.argpartition(-total[kept], _MAX_COMPARED_ROWS)[:_MAX_COMPARED_ROWS]])
        if not len(kept):
            return kept, np.zeros((0, len(rarity)), dtype=np.bool_)
        place = np.full(self._library.snapshot.n_rows, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        places = place[self._rows]
        inside = places >= 0
        holds = np.zeros((len(rarity), len(kept)), dtype=np.bool_)
        holds[self._terms[inside], places[inside]] = True
        run, score = np.zeros(len(kept)), np.zeros(len(kept))
        says_enough = words.says_enough
        for word in range(len(rarity)):
            if not words.counts[word] or (says_enough and not words.own[word]):
                continue
            is_held = holds[word].view(np.uint8)  # a product takes a quarter of the time of a choice
            score += run**LONG_RUNS * (1 - is_held)
            run = (run + rarity[word]) * is_held
        files = self._library.snapshot.file_of_row[kept]
        score = (score + run**LONG_RUNS) * self._factors[files]
        is_minor = self._is_minor[files]
        most = (_MAX_ROWS if words.n_said > _FEW_WORDS else _MAX_ROWS_OF_FEW) - _MAX_MINOR_ROWS
        of_code = self._best_rows(kept[~is_minor], score[~is_minor], most)
        chosen = np.concatenate([of_code, self._best_rows(kept[is_minor], score[is_minor], _MAX_MINOR_ROWS)])
        may_hold = holds[:, place[chosen]].T
        may_hold[:, ~np.array(words.counts)] = True  # not looked up: common words, and those that were said before
        return chosen, may_hold

    def _texts(self, files: Sequence[int]) -> Iterator[tuple[int, FileText]]:
        """Yield files with their numbers, until time is up."""
        for batch in _batches(files, _BATCH):
            waiting.check()
            if self._is_late():
                return
            yield from read_files(self._library, batch).items()

    def _candidates(self) -> list[_LikelyChunk]:
        """Return the rows that may hold enough, code first, and first those that may hold most."""
        rows, may_hold = self._rows_by_runs()
        files, ids = self._library.snapshot.file_of_row[rows].tolist(), self._library.snapshot.chunk_ids(rows)
        is_raised = bool(self._raised)
        most_worth = _BEFORE_VALUE * (_RAISED if is_raised else 1.0) * _ROUNDED_UP
        first_of: dict[int, int] = {}
        worth_of: dict[bytes, float] = {}  # many rows hold the same words
        found = []
        for order, (file, chunk_id, words) in enumerate(zip(files, ids, may_hold, strict=True)):
            first, held = first_of.setdefault(file, order), words.tobytes()
            if (most := worth_of.get(held)) is None:
                most = worth_of[held] = self._words.most_worth(held, is_raised=is_raised)
            if most:
                is_minor = bool(self._is_minor[file])
                found.append(_LikelyChunk(file, chunk_id, held, is_minor, most * most_worth, (first, order)))
        return sorted(found, key=lambda one: (one.is_minor, -one.most))

    def _pieces(self, candidates: Sequence[_LikelyChunk]) -> Iterator[tuple[_LikelyChunk, _PastedPiece]]:
        """Yield the text of some rows, until time is up; the whole file if it changed since."""
        spans = self._library.shown.read_spans(self._library.connection, [one.chunk_id for one in candidates])
        changed = set[int]()
        for batch in _batches(candidates, _BATCH_OF_ROWS):
            texts = dict(self._texts(list({one.file for one in batch})))
            for one in batch:
                text, span = texts.get(one.file), spans.get(one.chunk_id)
                if text is None or span is None or one.file in changed:
                    continue
                if text.stale:
                    changed.add(one.file)
                    yield one, _PastedPiece(one.file, 1, 0, text.data)
                    continue
                start = text.data.rfind(b"\n", 0, span.start_byte) + 1
                yield one, _PastedPiece(one.file, span.start_line, start, text.whole(span, moved=False), one.held)

    def _best_place(self, piece: _PastedPiece) -> PastedPlace | None:
        """Return the place in a chunk where most of the text stands; None if that is too little."""
        words, runs = self._words, self._runs(piece)
        may_be_raised = any(name in piece.data for name in self._raised)
        # In nine of ten chunks they would not be enough if they all stood together.
        each = {run[1:]: run for run in runs}
        if not words.is_enough(each.values(), each.values(), is_raised=may_be_raised):
            return None
        rarity = {which: words.rarity_of(run) for which, run in each.items()}
        best: PastedPlace | None = None
        for anchor in sorted(runs, key=lambda run: rarity[run[1:]], reverse=True):
            near = _nearest_of_each(runs, anchor)
            weight = sum(rarity[run[1:]] ** LONG_RUNS * _nearness(piece.data, anchor, run) for run in near)
            is_raised = may_be_raised and self._is_raised_at(piece.data, anchor)
            weight *= self._worth(piece.data, anchor) * (_RAISED if is_raised else 1.0)
            if (best is not None and weight <= best.weight) or not words.is_enough(near, [anchor], is_raised=is_raised):
                continue
            share = sum(rarity[run[1:]] for run in near) / words.rarity_of(WordRun(0, 0, len(words.spans) - 1))
            start, end = words.spans[anchor.first][0], words.spans[anchor.last][1]
            line, n_words = piece.line_at(anchor.offset), words.n_own(near)
            best = PastedPlace(line, self._text[start:end], min(share, 0.99), weight, n_words)
        return best

    def _worth(self, data: bytes, run: WordRun) -> float:
        """Return how much a place is like one that makes a message: in a string, before a value, where it is raised."""
        start = data.rfind(b"\n", 0, run.offset) + 1
        before = data[start : run.offset]
        worth = _IN_COMMENT if _COMMENT_LINE.match(before) else 1.0 if _opens_string(before) else _NO_STRING
        return worth * (_BEFORE_VALUE if _PLACEHOLDER.match(data, self._end(run)) else 1.0)

    def _is_raised_at(self, data: bytes, run: WordRun) -> bool:
        """Tell whether the exception that the text names stands near a place, but not where it is defined."""
        around = data[max(0, run.offset - _NEAR_BYTES) : self._end(run) + _NEAR_BYTES]
        return any(_is_mentioned(name, around) for name in self._raised)

    def _end(self, run: WordRun) -> int:
        """Return where a run ends in the data that it was found in."""
        start, end = self._words.spans[run.first][0], self._words.spans[run.last][1]
        return run.offset + len(self._text[start:end].encode("utf-8", "surrogatepass"))

    def _runs(self, piece: _PastedPiece) -> list[WordRun]:
        """Return the longest runs of the text that stand in a piece, wherever they do."""
        may_hold = piece.may_hold or b"\1" * len(self._counts)
        found = loops.find_runs(piece.data, self._bytes, self._bounds, may_hold, self._counts, _MAX_PLACES)
        return [WordRun(*run) for run in found]


def _batches(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    """Yield a list in pieces of at most some size."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _opens_string(line: bytes) -> bool:
    """Tell whether a string begins in some beginning of a line and does not end there."""
    return any(line.count(quote) % 2 for quote in (b'"', b"'", b"`"))


def _declares(before: bytes, name: bytes, behind: bytes) -> bool:
    """Tell whether a line declares the name between two parts of it: as a member, a key, or to what registers it."""
    line = behind.partition(b"\n")[0]
    if _OPENS_DECLARATION.fullmatch(before):
        return bool(_HAS_VALUE.match(line) or (name[:1].isupper() and _ENDS_MEMBER.match(line)))
    return before[-1:] in (b'"', b"'") and bool(_NEXT_ARGUMENT.match(line) and _REGISTERS.search(before[-_MAX_BESIDE:]))


def _is_message(place: PastedPlace, *, is_all: bool) -> bool:
    """Tell whether the text at a place begins a string that is no docstring.

    Args:
        is_all: whether it has to be all of the string, but for values and what follows a colon or a full stop.
    """
    before, part, behind = place.line.text.partition(place.part.encode("utf-8", "surrogatepass"))
    if is_all and not (_BEGINS_MESSAGE.search(before) and _ENDS_MESSAGE.match(behind)):
        return False
    return bool(part) and _opens_string(before) and not before.endswith((b'"""', b"'''"))


def _is_mentioned(name: bytes, data: bytes) -> bool:
    """Tell whether a class stands in some data, but not just where it is defined."""
    return any(not data.endswith(b"class ", 0, start) for start in places_of_word(data, name))


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_"


def _nearness(data: bytes, anchor: WordRun, run: WordRun) -> float:
    """Return how much a run counts beside another: less on a line of its own."""
    first, last = sorted((anchor.offset, run.offset))
    return _OTHER_LINE if b"\n" in data[first:last] else 1.0


def _nearest_of_each(runs: Sequence[WordRun], anchor: WordRun) -> list[WordRun]:
    """Return of each run the place that is nearest to another one, if it is near."""
    nearest: dict[tuple[int, int], WordRun] = {}
    near = [run for run in runs if abs(run.offset - anchor.offset) <= _NEAR_BYTES]
    for run in sorted(near, key=lambda run: abs(run.offset - anchor.offset)):
        nearest.setdefault((run.first, run.last), run)
    return list(nearest.values())


def _without_repeats(places: Sequence[PastedPlace]) -> list[PastedPlace]:
    return list({(place.line.file, place.line.start_line): place for place in reversed(places)}.values())[::-1]
