"""Lays out what is known about one definition: its code, what encloses it, and its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cairn.hints import Hint, HintStyle, show
from cairn.source.text import count_tokens, on_one_line, pluralize
from cairn.structure.locate import FileContent, code_lines
from cairn.structure.outline import FileOutline
from cairn.structure.outline_text import OutlineText, heading

# The code may take this share of the budget; what it leaves goes to the neighbours.
CODE_SHARE = 0.7
# Of code that does not fit, so many lines of its beginning are kept, and so many before the line that is asked for.
HEAD_LINES, LINES_BEFORE = 5, 3
MAX_BESIDE = 12  # definitions; a class may have a hundred


class ContextSection(NamedTuple):
    """A part of the context: a title, and lines of which the first are the most important.

    `symbols` are the numbers of the definitions that the lines show, one each, or empty. `omitted` counts lines that
    are left out already.
    """

    title: str
    lines: tuple[str, ...]
    symbols: tuple[int, ...] = ()
    omitted: int = 0


def lay_out_context(
    file: FileContent,
    outline: FileOutline,
    number: int,
    max_tokens: int,
    around: Sequence[ContextSection] = (),
    notes: Sequence[str] = (),
    line: int = 0,
    hints: HintStyle = "commands",
) -> OutlineText:
    """Return the context of definition `number` as text of at most about `max_tokens` tokens.

    What does not fit is counted where it is missing.

    Args:
        around: sections about other files, shown before the neighbours in this one.
        notes: sentences for the reader.
        line: code that does not fit is cut so that this line of it can be seen, 0 for its first.
        hints: how the text says what to do next.
    """
    head = f"{on_one_line(outline.path)} {pluralize(outline.lines, 'line')} ~{pluralize(outline.tokens, 'token')}"
    sections = [_enclosing(outline, number), _code(file, outline, number, int(max_tokens * CODE_SHARE), line, hints)]
    sections += [
        ContextSection("", tuple(f"({show(note, hints)})" for note in notes)),
        *around,
        _neighbours(outline, number),
    ]
    text, shown = head, [number]
    for section in sections:
        text, symbols = _append(text, section, max_tokens)
        shown += symbols
    return OutlineText(text, count_tokens(text), tuple(sorted(shown)))


def _append(text: str, section: ContextSection, max_tokens: int) -> tuple[str, list[int]]:
    """Return the text with as much of a section as fits, and the definitions that adds."""
    if not section.lines:
        return text, []
    count = len(section.lines)
    while True:
        missing = len(section.lines) - count + section.omitted
        rest = [f"(+{missing} more)"] if missing else []
        longer = "\n".join([text, *([section.title] if section.title else []), *section.lines[:count], *rest])
        if count_tokens(longer) <= max_tokens or count == 0:
            return (longer if count else text), list(section.symbols[:count])
        count = count * 3 // 4


def _enclosing(outline: FileOutline, number: int) -> ContextSection:
    around = _around(outline, number)
    return ContextSection(
        "", tuple(heading(outline.symbols[place], outline.language) for place in around), tuple(around)
    )


def _around(outline: FileOutline, number: int) -> list[int]:
    """Return the definitions that enclose one, the outermost first."""
    around: list[int] = []
    depth = outline.symbols[number].depth
    for before in range(number - 1, -1, -1):
        if outline.symbols[before].depth < depth:
            depth = outline.symbols[before].depth
            around.insert(0, before)
    return around


def _code(
    file: FileContent, outline: FileOutline, number: int, max_tokens: int, line: int, hints: HintStyle
) -> ContextSection:
    symbol, first = outline.symbols[number], outline.leads[number]
    lines = code_lines(file.data, first, symbol.end_line).splitlines()
    count = _fitting(lines, max_tokens)
    if count < len(lines) and line - first >= count:
        start = max(HEAD_LINES, line - first - LINES_BEFORE)
        gap = f"(lines {first + HEAD_LINES}-{first + start - 1} are left out)"
        lines = [*lines[:HEAD_LINES], gap, *lines[start:]] if start > HEAD_LINES else lines
        count = max(_fitting(lines, max_tokens), min(len(lines), HEAD_LINES + 2 + LINES_BEFORE))
    if count < len(lines):
        rest = Hint(f"+{pluralize(len(lines) - count, 'line')}", "fetch", ids=(symbol.id,))
        lines[count:] = [f"({show(rest, hints)})"]
    return ContextSection(f"{symbol.kind} {symbol.qualified_name} {first}-{symbol.end_line}:", tuple(lines))


def _fitting(lines: Sequence[str], max_tokens: int) -> int:
    """Return how many of the first lines fit into about `max_tokens`; at least one."""
    count = len(lines)
    while count > 1 and count_tokens("\n".join(lines[:count])) > max_tokens:
        count = count * 3 // 4
    return count


def _neighbours(outline: FileOutline, number: int) -> ContextSection:
    """Return the definitions beside one, the nearest first, and those in it."""
    around = _around(outline, number)
    symbol = outline.symbols[number]
    low, high = (around[-1] + 1, outline.symbols[around[-1]].end_line) if around else (0, outline.lines)
    beside = [
        other
        for other in range(low, len(outline.symbols))
        if other != number and outline.symbols[other].depth == symbol.depth and outline.symbols[other].end_line <= high
    ]
    beside.sort(key=lambda other: abs(other - number))
    shown = beside[:MAX_BESIDE]
    lines = tuple(heading(outline.symbols[other], outline.language) for other in shown)
    return ContextSection("beside it:", lines, tuple(shown), len(beside) - len(shown))
