"""What reads code: texts by their ids, outlines of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.budget import fit_outline, fit_texts, set_text, tokens_for_outline
from cairn.memory.handles import is_handle
from cairn.operations.asked import note_fetched
from cairn.protocol.documents import FetchedDocument, OutlineDocument, fetched_to_dict, outline_to_dict
from cairn.protocol.requests import FetchRequest, OutlineRequest
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress


def fetch(workspace: Workspace, request: FetchRequest, progress: Progress | None = None) -> list[FetchedDocument]:
    """Get the full texts; beyond the budget they lose lines off their end, see `fit_texts`."""
    documents = [fetched_to_dict(fetched) for fetched in workspace.fetch(request.ids, branch=request.branch)]
    if request.session and (memories := [id for id in request.ids if is_handle(id)]):
        note_fetched(workspace, request.session, memories)
    if request.skip_lines:
        for document in documents:
            _skip(document, request.skip_lines)
    return documents if request.max_tokens is None else fit_texts(documents, request.max_tokens)


def _skip(document: FetchedDocument, n_lines: int) -> None:
    lines = document["text"].split("\n")
    set_text(document, lines[n_lines:])
    document["start_line"] = min(document["start_line"] + n_lines, document["end_line"])


def outline(workspace: Workspace, request: OutlineRequest, progress: Progress | None = None) -> OutlineDocument:
    """List what a file defines; see `Workspace.outline`. Within a budget the text comes before the lists beside it."""

    def lay_out(max_tokens: int | None) -> OutlineDocument:
        outline = workspace.code.outline(
            request.file,
            mode=request.mode,
            symbol=request.symbol,
            max_tokens=max_tokens,
            hints=request.hints,
            progress=progress,
        )
        return outline_to_dict(outline)

    document = lay_out(request.max_tokens)
    if request.max_tokens is not None:
        if (text_tokens := tokens_for_outline(document, request.max_tokens)) < request.max_tokens:
            document = lay_out(text_tokens)
        fit_outline(document, request.max_tokens)
    return document


PERFORM = {"fetch": fetch, "outline": outline}
