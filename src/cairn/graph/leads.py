"""Finds the definition that a line means, where that may be a comment, an attribute or a decorator above it."""

from __future__ import annotations

from cairn.errors import UnparsableError
from cairn.graph.code import Code
from cairn.graph.source_file import SourceFile
from cairn.index.isolation import run_isolated
from cairn.source.definitions import MAX_LEAD_LINES
from cairn.source.languages import BY_NAME


def definition_at(code: Code, source: SourceFile, line: int) -> int:
    """Return the innermost definition around a line, or the one below it of which the line is a part; -1 for none.

    The index does not keep where comments and decorators begin, so the file is parsed again where it matters.
    """
    around = source.at_line(line)
    below = _below(source, line, around)
    data = code.checkout.read(source.number) if below else None
    if data is None or not BY_NAME[source.language].support.grammar:
        return around
    try:
        leads: tuple[int, ...] = run_isolated("cairn.source.definitions:find_leads", data, source.language)
    except UnparsableError:
        return around
    if len(leads) != len(source.definitions):  # the file has changed meanwhile
        return around
    return next((place for place in below if leads[place] <= line), around)


def _below(source: SourceFile, line: int, around: int) -> list[int]:
    """Return the definitions directly in one that begin below a line, if none begins on it."""
    if any(definition.span.start_line == line for definition in source.definitions):
        return []
    return [
        place
        for place, definition in enumerate(source.definitions)
        if definition.parent == around and line < definition.span.start_line <= line + MAX_LEAD_LINES
    ]
