"""Exact search: every line of the indexed files, as they are now, that a text or a pattern matches."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from cairn.errors import QueryError
from cairn.source.content import normalize

# RE2 compiles to an automaton and so runs in time linear in the text, whatever the pattern; this bounds its size.
MAX_AUTOMATON_BYTES = 64 << 20

# Returns the next match at or after an offset as (start, end), None when there is none.
Finder = Callable[[bytes, int], tuple[int, int] | None]


@dataclass(frozen=True, slots=True)
class LineMatch:
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

    def find(data: bytes, position: int) -> tuple[int, int] | None:
        start = data.find(needle, position)
        return None if start < 0 else (start, start + len(needle))

    return find


def regex_finder(pattern: str) -> Finder:
    r"""Return a finder for a regular expression in RE2's syntax; `^` and `$` match at line borders.

    Raises:
        QueryError: if the pattern is invalid or too large.
    """
    import re2  # noqa: PLC0415 - start-up time: only regular expressions need it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_AUTOMATON_BYTES
    try:
        # Compiled from bytes, so that offsets are bytes and text in any encoding can be searched.
        compiled = re2.compile(b"(?m)" + _encode(pattern), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        reason = reason.replace("(?m)", "", 1)
        raise QueryError(
            f"invalid regular expression: {reason}",
            "correct it (RE2 syntax: no look-around, no back-references), or search for the text itself with: "
            "cairn search --mode literal TEXT",
        ) from error

    def find(data: bytes, position: int) -> tuple[int, int] | None:
        match = compiled.search(data, position)
        return None if match is None else match.span()

    return find


def _encode(text: str) -> bytes:
    """Return the bytes that a text stands for; half a surrogate pair, which JSON can carry, is in no file."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def iter_matches(
    read: Callable[[str], bytes], files: list[tuple[int, str]], find: Finder, unreadable: list[str]
) -> Iterator[LineMatch]:
    """Yield the matches of every file in turn; each line is reported once. Files that are gone go to `unreadable`."""
    for number, path in files:
        try:
            data = normalize(read(path))
        except OSError:
            unreadable.append(path)
            continue
        yield from _lines_of(number, data, partial(find, data))


def _lines_of(number: int, data: bytes, find: Callable[[int], tuple[int, int] | None]) -> Iterator[LineMatch]:
    position = line = counted = 0
    while position <= len(data) and (match := find(position)) is not None:
        start, end = match
        if start == len(data) and (not data or data.endswith(b"\n")):
            return  # an empty match behind the last line feed is on no line
        line += data.count(b"\n", counted, start)
        counted = start
        line_start = data.rfind(b"\n", 0, start) + 1
        last = max(start, end - 1)
        line_end = data.find(b"\n", last)
        line_end = len(data) if line_end < 0 else line_end
        first_end = data.find(b"\n", start)
        text = data[line_start : len(data) if first_end < 0 else first_end]
        yield LineMatch(number, line + 1, line + 1 + data.count(b"\n", start, last), line_start, text)
        position = line_end + 1


def enclosing(ranges: list[tuple[int, int, int]], line: int) -> int | None:
    """Return the id of the chunk whose lines hold `line`; `ranges` are (id, first line, last line) in order."""
    place = bisect_right(ranges, line, key=lambda one: one[1]) - 1
    if place >= 0 and line <= ranges[place][2]:
        return ranges[place][0]
    return None
