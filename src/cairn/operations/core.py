"""Core files: shows, marks and suggests them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn import waiting
from cairn.answers import OutlineSymbol
from cairn.budget import Budget, size_of
from cairn.core_files import CoreFiles
from cairn.errors import NotFoundError, PathError
from cairn.fields import DEFAULT_CORE_TOKENS
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.memory.redaction import redact
from cairn.protocol.core_requests import CoreAddRequest, CoreListRequest, CoreRemoveRequest, CoreSuggestRequest
from cairn.protocol.documents import (
    CoreChangeDocument,
    CoreFileDocument,
    CoreListDocument,
    CoreSuggestionDocument,
    CoreSymbolDocument,
)
from cairn.protocol.requests import DEFAULT_ANSWER_TOKENS, MAX_ANSWER_TOKENS
from cairn.source.text import BYTES_PER_TOKEN, cut_at_word
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_MAX_HEAD_CHARS = 120
_MOST_SYMBOLS = 999_999  # reserves digits for the count of omitted definitions
_TELLING_KINDS = FUNCTION_KINDS | TYPE_KINDS  # kinds of definitions in a core file that come first


def list_core(workspace: Workspace, request: CoreListRequest, progress: Progress | None = None) -> CoreListDocument:
    """Show each core file with its summary and, as far as the budget goes, the heads of its definitions.

    Every file gets its row first; the rest of the budget is shared evenly among the files.
    """
    max_tokens = DEFAULT_CORE_TOKENS if request.max_tokens is None else request.max_tokens
    core = CoreFiles(workspace.root)
    marked = core.read()
    room = Budget(max_tokens, {"files": [], "omitted": len(marked), "tokens": max_tokens})
    files: list[CoreFileDocument] = []
    for file in marked:
        row: CoreFileDocument = {
            "filepath": file.path,
            "summary": file.summary,
            "missing": not core.has(file.path),
            "symbols": [],
            "omitted": _MOST_SYMBOLS,
        }
        if not room.take(row):
            break
        files.append(row | {"omitted": 0})
    for place, row in enumerate(files):
        waiting.check()
        if not row["missing"]:
            _add_symbols(workspace, row, room, room.left // (len(files) - place))
    tokens = sum(map(size_of, files)) // BYTES_PER_TOKEN
    return {"files": files, "omitted": len(marked) - len(files), "tokens": tokens}


def _add_symbols(workspace: Workspace, row: CoreFileDocument, room: Budget, share: int) -> None:
    """Add what a core file defines, outermost first, as far as its share of the room goes, which is in bytes."""
    try:
        symbols = workspace.code.outline(row["filepath"], max_tokens=DEFAULT_ANSWER_TOKENS).symbols
    except (NotFoundError, PathError):
        return  # its language has no definitions, or it is unreadable; the row is enough
    least = room.left - share
    kept: list[OutlineSymbol] = []
    for symbol in sorted(symbols, key=lambda symbol: (symbol.depth, symbol.kind not in _TELLING_KINDS)):
        if room.left - size_of(_core_symbol(symbol)) < least:
            break
        room.take(_core_symbol(symbol))
        kept.append(symbol)
    kept.sort(key=lambda symbol: symbol.start_line)
    row["symbols"] = [_core_symbol(symbol) for symbol in kept]
    row["omitted"] = len(symbols) - len(kept)


def _core_symbol(symbol: OutlineSymbol) -> CoreSymbolDocument:
    return {"line": symbol.start_line, "signature": _head(symbol)}


def _head(symbol: OutlineSymbol) -> str:
    indent = "  " * symbol.depth
    return indent + cut_at_word(symbol.signature or f"{symbol.kind} {symbol.name}", _MAX_HEAD_CHARS)


def add_core(workspace: Workspace, request: CoreAddRequest, progress: Progress | None) -> CoreChangeDocument:
    """Mark a core file or change its summary, with secrets removed, since agents see it and it gets committed."""
    summary = None if request.summary is None else redact(request.summary).text
    file, changed = CoreFiles(workspace.root).add(request.file, summary)
    return {"filepath": file.path, "summary": file.summary, "changed": changed}


def remove_core(workspace: Workspace, request: CoreRemoveRequest, progress: Progress | None) -> CoreChangeDocument:
    """Unmark a core file."""
    file, changed = CoreFiles(workspace.root).remove(request.file)
    return {"filepath": file.path, "summary": file.summary, "changed": changed}


def suggest_core(
    workspace: Workspace, request: CoreSuggestRequest, progress: Progress | None
) -> list[CoreSuggestionDocument]:
    """Return the most central files that are not marked."""
    marked = {file.path for file in CoreFiles(workspace.root).read()}
    ranked = workspace.graph.map(max_tokens=MAX_ANSWER_TOKENS, progress=progress).entries
    return [
        {
            "filepath": entry.path,
            "rank": entry.rank,
            "symbols": [{"line": line, "signature": head} for line, head in entry.symbols],
        }
        for entry in [entry for entry in ranked if entry.path not in marked][: request.limit]
    ]


PERFORM = {"core/list": list_core, "core/add": add_core, "core/remove": remove_core, "core/suggest": suggest_core}
