"""From JSON answers about memories to the text an agent reads. What memories say is data, and is shown as quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.mcp.text import Page

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import ChangedMemoriesDocument, MemoryRowDocument, RememberedDocument


def remembered_text(document: RememberedDocument) -> str:
    """Return what was kept."""
    page = Page()
    page.add("Kept:" if document["is_new"] else "It is kept already:")
    page.add(_row(document["memory"]))
    return page.close(document["notes"])


def resolved_text(document: ChangedMemoriesDocument) -> str:
    """Return memories as they are after a change."""
    page = Page()
    for row in document["memories"]:
        page.add(_row(row))
    return page.close([] if document["memories"] else ["There are no such memories."])


def _row(row: MemoryRowDocument) -> str:
    facts = [row["status"] if "superseded_by" not in row else f"superseded by {row['superseded_by']}"]
    facts += [f"importance {row['importance']}", row["created"][:10]]
    head = f"{row['id']}  {row['type']}  ({', '.join(facts)})"
    return "\n".join([head, quoted(row["summary"]), *(f"    about {file}" for file in row["files"])])


def quoted(text: str) -> str:
    """Return a text so that each of its lines shows as quoted: none of them can pass for one of ours."""
    return "\n".join(f"    > {line}" for line in text.splitlines())
