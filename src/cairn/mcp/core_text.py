"""The text about core files for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.mcp.text import Page
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.protocol.documents import CoreChangeDocument, CoreListDocument, CoreSuggestionDocument


def core_text(document: CoreListDocument) -> str:
    """Return the core files, each with its purpose and definitions."""
    page = Page()
    for file in document["files"]:
        what = " (missing)" if file["missing"] else ""
        summary = f"  {' '.join(file['summary'].split())}" if file["summary"] else ""
        heads = [f"  {symbol['line']}: {symbol['signature']}" for symbol in file["symbols"]]
        more = [f"  and {file['omitted']} more; see its outline"] if file["omitted"] else []
        page.add("\n".join([f"{file['filepath']}:1{what}{summary}", *heads, *more]))
    notes = []
    if omitted := document["omitted"] + page.n_left_out:
        notes.append(f"{pluralize(omitted, 'more core file')} without room; see .cairn/core.yaml.")
    if not document["files"] and not omitted:
        notes.append("No core files are marked; action=suggest names the most central ones.")
    return page.close(notes)


def core_change_text(document: CoreChangeDocument, *, marked: bool) -> str:
    """Return the outcome of a change to the list."""
    if marked:
        state = "is a core file now" if document["changed"] else "was a core file already"
    else:
        state = "is not a core file any more" if document["changed"] else "was not a core file"
    page = Page()
    page.add(f"{document['filepath']}:1 {state}." + (f" Summary: {document['summary']}" if document["summary"] else ""))
    return page.close(
        ["It is written in .cairn/core.yaml, which is meant to be committed."] if document["changed"] else []
    )


def suggestions_text(suggestions: list[CoreSuggestionDocument]) -> str:
    """Return suggested core files, with their most central definitions."""
    page = Page()
    for suggestion in suggestions:
        heads = [f"  {symbol['line']}: {symbol['signature']}" for symbol in suggestion["symbols"]]
        page.add("\n".join([f"{suggestion['filepath']}:1  (rank {suggestion['rank']:.3f})", *heads]))
    notes = (
        [f"{pluralize(page.n_left_out, 'more has', 'more have')} no room: lower `limit`."] if page.n_left_out else []
    )
    return page.close(notes or ([] if suggestions else ["No file is left to suggest."]))
