"""Answers questions about the structure of one file: reads it, finds what is asked for, and lays it out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cairn.errors import QueryError
from cairn.graph.context import Section, lay_out_context
from cairn.graph.locate import ask_helper, find_symbol, outline_of, read_source
from cairn.graph.outline import subtree
from cairn.graph.outline_text import DEFAULT_MAX_TOKENS, lay_out
from cairn.types import Outline, OutlineMode

if TYPE_CHECKING:
    from cairn.graph.surroundings import OpenGraph


def make_outline(
    root: Path,
    path: str | Path,
    mode: OutlineMode,
    symbol: str | None,
    max_tokens: int | None,
    open_graph: OpenGraph | None = None,
) -> Outline:
    """Return the outline of a file; see `Workspace.outline`.

    Args:
        open_graph: gives the symbol graph for a context; None leaves out what stands in other files.
    """
    budget = DEFAULT_MAX_TOKENS if max_tokens is None else max_tokens
    file = read_source(root, path)
    outline = outline_of(file)
    notes = outline.notes
    number = None if symbol is None else find_symbol(outline, symbol)
    focus = None if number is None else outline.symbols[number]
    if mode == "context":
        if number is None:
            raise QueryError("a context is that of one symbol", f"cairn outline {file.path} --mode context --symbol S")
        around: list[Section] = []
        if open_graph is not None:
            from cairn.graph.surroundings import surroundings  # noqa: PLC0415 - start-up time, as below

            around, more = surroundings(open_graph, file.path, outline.symbols[number])
            notes += more
        line = int(symbol) if symbol is not None and symbol.isdecimal() and len(symbol) < 19 else 0
        laid = lay_out_context(file, outline, number, budget, around, notes, line)
    else:
        outline = outline if number is None else subtree(outline, number)
        if mode == "extract":
            laid = ask_helper("cairn.graph.extract:flow_laid_out", file, outline, budget, scope="extract")
        else:
            laid = lay_out(outline, budget)
    return Outline(
        path=outline.path,
        language=outline.language,
        mode=mode,
        lines=outline.lines,
        file_tokens=outline.tokens,
        imports=outline.imports,
        symbols=tuple(outline.symbols[one] for one in laid.shown),
        omitted=len(outline.symbols) - len(laid.shown),
        text=laid.text,
        text_tokens=laid.tokens,
        notes=notes,
        focus=focus,
    )
