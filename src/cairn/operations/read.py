"""What reads code: texts by their ids, outlines of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.operations.budget import count_fitting, fit_texts, room_of, set_text, size_of
from cairn.protocol.documents import FetchedDocument, OutlineDocument, fetched_to_dict, outline_to_dict
from cairn.protocol.requests import FetchRequest, OutlineRequest
from cairn.source.text import estimate_tokens
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_SPARE_TOKENS = 20  # an outline says at its end what it left out


def fetch(workspace: Workspace, request: FetchRequest, progress: Progress | None = None) -> list[FetchedDocument]:
    """Get the full texts; beyond the budget they lose lines off their end, see `fit_texts`."""
    documents = [fetched_to_dict(one) for one in workspace.fetch(request.ids, branch=request.branch)]
    if request.skip_lines:
        for one in documents:
            _skip(one, request.skip_lines)
    return documents if request.max_tokens is None else fit_texts(documents, request.max_tokens)


def _skip(document: FetchedDocument, n_lines: int) -> None:
    lines = document["text"].split("\n")
    set_text(document, lines[n_lines:])
    document["start_line"] = min(document["start_line"] + n_lines, document["end_line"])


def outline(workspace: Workspace, request: OutlineRequest, progress: Progress | None = None) -> OutlineDocument:
    """List what a file defines; see `Workspace.outline`. Within a budget the text comes before the lists beside it."""

    def lay_out(max_tokens: int | None) -> OutlineDocument:
        found = workspace.code.outline(
            request.file, mode=request.mode, symbol=request.symbol, max_tokens=max_tokens, progress=progress
        )
        return outline_to_dict(found)

    document = lay_out(request.max_tokens)
    if request.max_tokens is not None:
        room = room_of(request.max_tokens)
        excess = size_of({**document, "symbols": [], "imports": [], "unlisted": 0}) - room
        if excess > 0:  # what stands around the text, and marks that JSON writes in two bytes, cost something, too
            document = lay_out(max(1, request.max_tokens - estimate_tokens(excess) - _SPARE_TOKENS))
        _fit_outline(document, room)
    return document


def _fit_outline(document: OutlineDocument, room: int) -> None:
    if size_of(document) <= room:
        return
    room -= size_of({**document, "symbols": [], "imports": [], "unlisted": len(document["symbols"])})
    symbols = document["symbols"][: count_fitting(document["symbols"], room)]
    room -= sum(map(size_of, symbols))
    imports = document["imports"][: count_fitting(document["imports"], room)]
    document["unlisted"] = len(document["symbols"]) + len(document["imports"]) - len(symbols) - len(imports)
    document["symbols"], document["imports"] = symbols, imports


PERFORM = {"fetch": fetch, "outline": outline}
