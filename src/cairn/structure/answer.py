"""Answers questions about the structure of one file: reads it, finds what is asked for, and lays it out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from cairn.answers import Outline, OutlineSymbol
from cairn.errors import QueryError
from cairn.fields import DEFAULT_ANSWER_TOKENS
from cairn.hints import Hint, HintStyle
from cairn.structure.context import ContextSection, lay_out_context
from cairn.structure.locate import ask_helper, find_place, find_symbol, outline_of, read_source
from cairn.structure.outline import subtree
from cairn.structure.outline_text import lay_out
from cairn.types import OutlineMode

_MAX_DIGITS = 18  # of a line number; anything longer is no line
Surroundings = Callable[[str, OutlineSymbol], tuple[list[ContextSection], tuple[str, ...]]]


def make_outline(
    root: Path,
    path: str | Path,
    mode: OutlineMode,
    symbol: str | None,
    max_tokens: int | None,
    surroundings: Surroundings | None = None,
    hints: HintStyle = "commands",
) -> Outline:
    """Return the outline of a file; see `CodeFacet.outline`.

    Args:
        surroundings: returns, for a path and a definition in it, the sections of a context that are about other
            files, and notes; None leaves them out.
        hints: how the text says what to do next.
    """
    budget = DEFAULT_ANSWER_TOKENS if max_tokens is None else max_tokens
    if symbol is None and (place := find_place(root, str(path))) is not None and not os.path.exists(root / path):
        path, symbol = place.path, str(place.line)
    file = read_source(root, path)
    outline = outline_of(file)
    notes = outline.notes
    number = None if symbol is None else find_symbol(outline, symbol)
    focus = None if number is None else outline.symbols[number]
    if mode == "context":
        if symbol is None or focus is None or number is None:
            raise QueryError(
                "a context needs a symbol", Hint.of("outline", file=file.path, mode="context", symbol=None)
            )
        around, more = ([], ()) if surroundings is None else surroundings(file.path, focus)
        notes += more
        laid = lay_out_context(file, outline, number, budget, around, notes, _line_of(symbol), hints)
    else:
        outline = outline if number is None else subtree(outline, number)
        if mode == "extract":
            laid = ask_helper("cairn.structure.extract:lay_out_flow_in", file, outline, budget, hints, scope="extract")
        else:
            laid = lay_out(outline, budget, hints)
    return Outline(
        path=outline.path,
        language=outline.language,
        mode=mode,
        lines=outline.lines,
        file_tokens=outline.tokens,
        imports=outline.imports,
        symbols=tuple(outline.symbols[place] for place in laid.shown),
        omitted=len(outline.symbols) - len(laid.shown),
        text=laid.text,
        text_tokens=laid.tokens,
        notes=notes,
        focus=focus,
    )


def _line_of(symbol: str) -> int:
    """Return the line that a symbol is given by, 0 if it is given by its name."""
    return int(symbol) if symbol.isdecimal() and len(symbol) <= _MAX_DIGITS else 0
