"""Where in a file the names of its definitions stand, and which function or type is around a place."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from cairn.graph.rules import FUNCTION_KINDS, SCOPELESS_KINDS
from cairn.graph.sightings import names_pattern
from cairn.graph.source_file import SourceFile
from cairn.graph.values import Symbol
from cairn.types import Definition

if TYPE_CHECKING:
    from cairn.source.occurrences import Occurrence  # start-up time: it is for helpers


def find_heads(
    source: SourceFile, data: bytes, names: Collection[str], occurrences: Sequence[Occurrence], symbol: Symbol
) -> set[int]:
    """Return where the names of definitions stand: the first in each, as the byte at which it begins.

    A variable that is assigned once more is written there.
    """
    starts = [occurrence.start_byte for occurrence in occurrences]
    heads: set[int] = set()
    for definition in source.definitions:
        if definition.name not in names:
            continue
        at = bisect_left(starts, definition.span.start_byte)
        while at < len(starts) and occurrences[at].role in ("decorate", "import"):
            at += 1
        if at == len(starts) or starts[at] >= definition.span.end_byte or _is_titled(data, definition, starts[at]):
            continue
        is_main = (source.path, definition.span.start_line) == (symbol.path, symbol.line)
        if is_main or occurrences[at].role != "write":
            heads.add(starts[at])
        if definition.kind in FUNCTION_KINDS and at + 1 < len(starts) and occurrences[at + 1].head == definition.name:
            heads.add(starts[at + 1])  # `Type::Type()` in C++
    return heads


def _is_titled(data: bytes, definition: Definition, first: int) -> bool:
    """Tell whether the name of a test stands in a text before the first place where code says it."""
    if definition.kind != "test":
        return False
    return names_pattern(frozenset({definition.name})).search(data, definition.span.start_byte, first) is not None


def scope_borders(source: SourceFile) -> tuple[list[int], list[int]]:
    """Return the bytes at which the innermost function or type changes, and which it is from each on, -1 for none."""
    borders, owners = [0], [-1]
    enclosing: list[int] = []

    def close(until: int) -> None:
        while enclosing and source.definitions[enclosing[-1]].span.end_byte <= until:
            borders.append(source.definitions[enclosing.pop()].span.end_byte)
            owners.append(enclosing[-1] if enclosing else -1)

    for place, definition in enumerate(source.definitions):
        if definition.kind in SCOPELESS_KINDS:
            continue
        close(definition.span.start_byte)
        borders.append(definition.span.start_byte)
        owners.append(place)
        enclosing.append(place)
    close(1 << 62)
    return borders, owners
