"""Exact search: every line of the indexed files, as they are now, that matches a text or a pattern."""

from __future__ import annotations

import codecs
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from cairn import waiting
from cairn.errors import QueryError
from cairn.hints import Hint
from cairn.source.content import normalize

BUDGET_SECONDS = 30.0  # agents give up on a call after 60 s
# RE2 takes time linear in the text and in the size of the program that it compiles a pattern to. When the states of the
# automaton do not fit into memory, it takes up to 6 ns for each byte and step of the program.
MAX_AUTOMATON_BYTES = 8 << 20
MAX_PROGRAM_STEPS = 10_000
_STEPS_AT_ONCE = 80_000_000  # half a second at worst, during which nothing can stop it

# What `\w` stands for in a class. RE2's is ASCII alone, and with the very letters of Unicode a pattern is 70 times as
# large; these ranges leave out punctuation, arrows and the like, and emoji.
_LETTERS = r"0-9A-Za-z_\x{C0}-\x{1FFF}\x{2C00}-\x{D7FF}\x{F900}-\x{1EFFF}\x{20000}-\x{3FFFF}"

# Returns the next match at or after an offset as (start, end), None when there is none. It calls its third argument now
# and then, which ends the search by raising.
Finder = Callable[[bytes, int, Callable[[], None]], tuple[int, int] | None]


class _TimeIsUp(Exception):
    """The search used up its time."""


class LineMatch(NamedTuple):
    """A match, widened to whole lines: 1-based and inclusive.

    `text` is the first line, of a structural match all lines, without the last line feed. `captures` are what the
    metavariables of a structural pattern stand for, once for each piece of code that matches on these lines.
    """

    file: int
    start_line: int
    end_line: int
    start_byte: int
    text: bytes
    captures: tuple[dict[str, str], ...] | None = None


def literal_finder(text: str) -> Finder:
    """Return a finder for an exact, case-sensitive substring."""
    needle = _encode(text)

    def find(data: bytes, position: int, check: Callable[[], None]) -> tuple[int, int] | None:
        start = data.find(needle, position)
        return None if start < 0 else (start, start + len(needle))

    return find


def regex_finder(pattern: str, *, or_itself: bool = False) -> Finder:
    r"""Return a finder for a regular expression in RE2's syntax; `^` and `$` match at line borders, also at `\r\n`.

    A large pattern searches a large file piece by piece, so that it can be stopped between pieces. A piece has at least
    8 kB, and no match shorter than half a piece is missed or cut.

    Args:
        or_itself: whether the text that the pattern is matches as well.

    Raises:
        QueryError: if the pattern is invalid or too large.
    """
    import re2  # noqa: PLC0415 - start-up time: only regular expressions need it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_AUTOMATON_BYTES
    options.never_capture = True  # reporting what each group matched takes many times as long, and is not needed
    try:
        # Compiled from bytes, so that offsets are bytes and text in any encoding can be searched.
        sought = _encode(pattern)
        re2.compile(b"(?m)" + sought, options)  # its errors speak of the pattern as it was given
        sought = _encode(_with_letters_and_line_ends(pattern))
        compiled = re2.compile(b"(?m)" + sought, options)
        if or_itself:
            compiled = re2.compile(b"(?m)(?:" + sought + b")|" + re2.escape(_encode(pattern)), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        reason = reason.replace("(?m)", "", 1)
        raise QueryError(
            f"invalid regular expression: {reason}",
            Hint(
                "correct it (RE2 syntax: no look-around, no back-references), or search for the text itself",
                "search",
                mode="literal",
                query=None,
            ),
        ) from error

    if (steps := max(compiled.programsize, compiled.reverseprogramsize)) > MAX_PROGRAM_STEPS:
        raise QueryError(
            f"the regular expression is too large: it takes {steps:,} steps, at most {MAX_PROGRAM_STEPS:,} are allowed",
            Hint("repeat less in it, or search for its parts one by one", "search", mode="regex", query=None),
        )
    window = _STEPS_AT_ONCE // max(steps, 1)

    def find(data: bytes, position: int, check: Callable[[], None]) -> tuple[int, int] | None:
        if len(data) - position <= window:
            match = compiled.search(data, position)
            return None if match is None else match.span()
        return _find_by_windows(partial(compiled.search, data), len(data), position, window, check)

    return find


def regex_error(pattern: str) -> QueryError | None:
    """Return what is wrong with a pattern, None if it can be looked for."""
    try:
        regex_finder(pattern)
    except QueryError as error:
        return error
    return None


def _with_letters_and_line_ends(pattern: str) -> str:
    r"""Return a pattern whose `\w` matches letters beyond ASCII, and whose `$` matches before the `\r` of `\r\n`, too.

    A `\W` in a class stays what it is: what is in no class cannot be a part of one.
    """
    if r"\Q" in pattern:
        return pattern
    # A `$` may be escaped, or in a class.
    parts = re.findall(r"\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|.", pattern, re.DOTALL)
    wider = {"$": r"(?:\r?$)", r"\w": f"[{_LETTERS}]", r"\W": f"[^{_LETTERS}]"}
    return "".join([_with_letters(part) if part[0] == "[" else wider.get(part, part) for part in parts])


def _with_letters(of_class: str) -> str:
    r"""Return a class of characters whose `\w` stands for letters beyond ASCII, too."""
    return re.sub(r"\\.", lambda escape: _LETTERS if escape[0] == r"\w" else escape[0], of_class)


def _find_by_windows(
    search: Callable[[int, int], Any], size: int, position: int, window: int, check: Callable[[], None]
) -> tuple[int, int] | None:
    """Return the next match, looked for in windows that overlap by half."""
    while True:
        end = min(size, position + window)
        match = search(position, end)
        if end == size or (match is not None and match.start() < position + window // 2):
            return None if match is None else match.span()
        position += window // 2
        check()


def _encode(text: str) -> bytes:
    """Return the bytes of a text as files have them that are read: a terminal may give it in another encoding, too.

    JSON can carry half a surrogate pair, which is in no file and so matches nothing.
    """
    try:
        return normalize(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


class Scan:
    """A search through files, one by one, that says afterwards how far it got.

    A file's first line begins behind the byte order mark of UTF-8, unless the pattern has one (`seeks_mark`).

    Attributes:
        searched: how many files were read to the end, or are gone.
        unreadable: the files that are gone.
        is_cut: whether time ran out before all were searched.
    """

    def __init__(
        self,
        read: Callable[[str], bytes],
        files: Sequence[tuple[int, str]],
        find: Finder,
        budget_seconds: float = BUDGET_SECONDS,
        *,
        seeks_mark: bool = False,
    ) -> None:
        self._read = read
        self._files = files
        self._find = find
        self._budget_seconds = budget_seconds
        self._skipped_mark = b"" if seeks_mark else codecs.BOM_UTF8
        self.searched = 0
        self.unreadable: list[str] = []
        self.is_cut = False

    def __iter__(self) -> Iterator[LineMatch]:
        """Yield the matches of every file in turn; each line is reported once.

        Raises:
            BusyError: if nobody is waiting for them any more.
        """
        until = time.monotonic() + self._budget_seconds

        def check() -> None:
            waiting.check()
            if time.monotonic() > until:
                raise _TimeIsUp

        try:
            for number, path in self._files:
                check()
                try:
                    data = normalize(self._read(path))
                except OSError:
                    self.unreadable.append(path)
                else:
                    yield from _lines_of(number, data, self._find, check, self._skipped_mark)
                self.searched += 1
        except _TimeIsUp:
            self.is_cut = True


def _lines_of(
    number: int, data: bytes, find: Finder, check: Callable[[], None], mark: bytes = b""
) -> Iterator[LineMatch]:
    """Yield the matches in a file, of those that begin on one line the first; each begins behind the one before."""
    base = len(mark) if mark and data.startswith(mark) else 0
    data = data[base:] if base else data
    position = line = counted = 0
    while position <= len(data) and (match := find(data, position, check)) is not None:
        start, end = match
        if start == len(data) and (not data or data.endswith(b"\n")):
            return  # an empty match after the last line feed is on no line
        line += data.count(b"\n", counted, start)
        counted = start
        line_start = data.rfind(b"\n", 0, start) + 1
        line_end = data.find(b"\n", start)
        line_end = len(data) if line_end < 0 else line_end
        n_more = data.count(b"\n", start, max(start, end - 1))
        yield LineMatch(number, line + 1, line + 1 + n_more, base + line_start, data[line_start:line_end])
        position = max(end, line_end + 1)
        check()


def enclosing(ranges: list[tuple[int, int, int]], line: int) -> int | None:
    """Return the id of the chunk whose lines hold `line`; `ranges` are (id, first line, last line) in order."""
    place = bisect_right(ranges, line, key=lambda lines: lines[1]) - 1
    if place >= 0 and line <= ranges[place][2]:
        return ranges[place][0]
    return None
