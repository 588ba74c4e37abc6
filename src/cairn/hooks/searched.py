"""Finds where a file has what its reader searched for: the definitions to read instead of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cairn.errors import QueryError
from cairn.search.exact import regex_finder
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.structure.outline import FileOutline

MOST_PLACES = 6
_MOST_MATCHES = 200  # matching lines of one pattern; more of them do not help with where to read
_MOST_SHOWN_LINES = 4


class SearchedPlace(NamedTuple):
    """A definition with matches: its index in the outline, and the matching lines."""

    symbol: int
    lines: tuple[int, ...]


def places_of(outline: FileOutline, data: bytes, patterns: Sequence[str]) -> list[SearchedPlace]:
    """Return up to `MOST_PLACES` definitions with matches, by how many patterns match and how often.

    Args:
        outline: of the file.
        data: its bytes.
        patterns: regular expressions; invalid ones are ignored.
    """
    lines_by_symbol: dict[int, dict[int, None]] = {}
    n_patterns: Counter[int] = Counter()
    for pattern in dict.fromkeys(patterns):
        symbols = {}
        for line in _lines_of(pattern, data):
            if (symbol := _innermost(outline, line)) is not None:
                lines_by_symbol.setdefault(symbol, {})[line] = None
                symbols[symbol] = True
        n_patterns.update(symbols)
    ranked = sorted(lines_by_symbol, key=lambda symbol: (-n_patterns[symbol], -len(lines_by_symbol[symbol]), symbol))
    return [SearchedPlace(symbol, tuple(sorted(lines_by_symbol[symbol]))) for symbol in ranked[:MOST_PLACES]]


def lay_out_places(outline: FileOutline, places: Sequence[SearchedPlace]) -> str:
    """Return places as text, one line each."""
    rows = []
    for place in places:
        symbol = outline.symbols[place.symbol]
        shown = ", ".join(map(str, place.lines[:_MOST_SHOWN_LINES]))
        more = len(place.lines) - _MOST_SHOWN_LINES
        where = f"{'line' if len(place.lines) == 1 else 'lines'} {shown}"
        rest = f" and {pluralize(more, 'other')}" if more > 0 else ""
        rows.append(f"{symbol.start_line}-{symbol.end_line} {symbol.qualified_name}: {where}{rest}")
    return "\n".join(rows)


def _lines_of(pattern: str, data: bytes) -> list[int]:
    """Return the lines on which a pattern matches; none if there are very many."""
    try:
        find = regex_finder(pattern)
    except QueryError:
        return []
    lines: list[int] = []
    position = at = 0
    line = 1
    while (match := find(data, position, lambda: None)) is not None:
        line += data.count(b"\n", at, match[0])
        at = match[0]
        lines.append(line)
        end = data.find(b"\n", match[0])
        if len(lines) > _MOST_MATCHES or end < 0:
            break
        position = end + 1
    return lines if len(lines) <= _MOST_MATCHES else []


def _innermost(outline: FileOutline, line: int) -> int | None:
    """Return the smallest definition around a line; None at the top of the file."""
    around = [number for number, symbol in enumerate(outline.symbols) if symbol.start_line <= line <= symbol.end_line]
    return max(around, key=lambda number: outline.symbols[number].start_line, default=None)
