"""What reads code: texts by their ids, outlines of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.answers import Fetched
from cairn.budget import fit_outline, fit_texts, set_text, tokens_for_outline
from cairn.errors import AmbiguousError, NotFoundError, error_from_dict
from cairn.memory.handles import is_handle
from cairn.operations.asked import note_fetched
from cairn.protocol.documents import (
    FetchedDocument,
    OutlineDocument,
    error_to_dict,
    fetched_to_dict,
    outline_to_dict,
)
from cairn.protocol.requests import FetchRequest, OutlineRequest
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_ABOUT_AN_ID = (NotFoundError, AmbiguousError)


def fetch(workspace: Workspace, request: FetchRequest, progress: Progress | None = None) -> list[FetchedDocument]:
    """Get the full texts, or why there is none; beyond the budget they lose lines off their end, see `fit_texts`."""
    documents = _fetch_all(workspace, request)
    found = (document["id"] for document in documents if "error" not in document)
    if request.session and (memories := list(filter(is_handle, found))):
        note_fetched(workspace, request.session, memories)
    if request.skip_lines:
        for document in documents:
            _skip(document, request.skip_lines)
    return documents if request.max_tokens is None else fit_texts(documents, request.max_tokens)


def _fetch_all(workspace: Workspace, request: FetchRequest) -> list[FetchedDocument]:
    """Return a text for each id, or why there is none where there is one of another.

    Raises:
        NotFoundError: if there is none of any id.
        AmbiguousError: if the only id names several definitions.
    """
    try:
        return [fetched_to_dict(fetched) for fetched in workspace.fetch(request.ids, branch=request.branch)]
    except _ABOUT_AN_ID:
        if len(request.ids) == 1:
            raise
    documents = [_fetch_if_there(workspace, text_id, request.branch) for text_id in request.ids]
    errors = [document["error"] for document in documents if "error" in document]
    if len(errors) == len(documents):
        first = error_from_dict(errors[0])
        raise NotFoundError("; ".join(dict.fromkeys(error["message"] for error in errors)), first.hint)
    return documents


def _fetch_if_there(workspace: Workspace, text_id: str, branch: str | None) -> FetchedDocument:
    try:
        (fetched,) = workspace.fetch([text_id], branch=branch)
    except _ABOUT_AN_ID as error:
        nothing = Fetched(text_id, kind="", name="", path="", start_line=0, end_line=0, language="", text="", tokens=0)
        return {**fetched_to_dict(nothing), "error": error_to_dict(error)}
    return fetched_to_dict(fetched)


def _skip(document: FetchedDocument, n_lines: int) -> None:
    lines = document["text"].split("\n")
    set_text(document, lines[n_lines:])
    document["start_line"] = min(document["start_line"] + n_lines, document["end_line"])


def outline(workspace: Workspace, request: OutlineRequest, progress: Progress | None = None) -> OutlineDocument:
    """List what a file defines; see `CodeFacet.outline`. Within a budget the text comes before the lists beside it."""

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
