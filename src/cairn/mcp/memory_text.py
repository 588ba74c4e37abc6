"""The text of answers about memories for agents. What memories say is data, so it is shown as a quotation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.mcp.quoted import memory_blocks, quote
from cairn.mcp.text import Page
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import (
        ChangedMemoriesDocument,
        MemoryRowDocument,
        RecallDocument,
        RememberedDocument,
    )


_ASK_AGAIN = "Ask once more in other words: the parts, libraries and errors that a note would name."


def remembered_text(document: RememberedDocument) -> str:
    """Return the text for a new memory."""
    page = Page()
    page.add("Kept:" if document["is_new"] else "It is kept already:")
    page.add(_row(document["memory"]))
    return page.close(document["notes"])


def resolved_text(document: ChangedMemoriesDocument) -> str:
    """Return the text for changed memories."""
    page = Page()
    for row in document["memories"]:
        page.add(_row(row))
    return page.close([] if document["memories"] else ["There are no such memories."])


def recall_text(document: RecallDocument) -> str:
    """Return the found memories, framed as notes by others."""
    page = Page()
    for block in memory_blocks(document["memory"]):
        page.add(block)
    notes = list(document["notes"])
    if omitted := document["omitted"] + page.n_left_out:
        notes.insert(0, f"{pluralize(omitted, 'more memory has', 'more memories have')} no room: lower `limit`.")
    if not document["memory"] and not omitted:
        notes.insert(0, f"Nothing is remembered about {document['query'][:200]!r}. {_ASK_AGAIN}")
    elif all(hit["confidence"] == "low" for hit in document["memory"]):
        notes.insert(0, f"None of these is likely to be it. {_ASK_AGAIN}")
    return page.close(notes)


def _row(row: MemoryRowDocument) -> str:
    facts = [row["status"] if "superseded_by" not in row else f"superseded by {row['superseded_by']}"]
    facts += [f"importance {row['importance']}", row["created"][:10]]
    head = f"{row['id']}  {row['type']}  ({', '.join(facts)})"
    return "\n".join([head, quote(row["summary"]), *(f"    about {file}" for file in row["files"])])
