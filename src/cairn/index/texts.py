"""Makes the text that another model embeds for a chunk: where it is, its names, and what it says."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.digest import blake2b
from cairn.storage.index.chunk_db import ChunkRow

MAX_NAMES = 8


def chunk_text(path: str, row: ChunkRow, lines: Sequence[bytes], max_chars: int) -> str:
    """Return path words, qualified names, signatures, documentation, and the body without what these already said.

    Args:
        path: the file's path, `/` between parts.
        lines: all lines of the file.
        max_chars: the text is cut to this.
    """
    first, last = row.chunk.lines[0]
    body = b"\n".join(lines[first - 1 : last]).decode("utf-8", "replace").strip()
    flat = " ".join(body.split())
    names = [definition.qualified_name for definition in row.definitions[:MAX_NAMES]]
    if not names and row.owner is not None:
        names = [row.owner.qualified_name]
    signatures = [definition.signature for definition in row.definitions]
    docs = [definition.doc for definition in row.definitions]
    heads = [row.chunk.header, *signatures, *docs]
    # Most of it is in the body already, and repeating it would cost money and use up the model's limit.
    new = [head for head in dict.fromkeys(heads) if head.strip() and " ".join(head.split()) not in flat]
    text = "\n".join([path.replace("/", " "), ", ".join(names), *new, body]).encode("utf-8", "replace").decode("utf-8")
    return text[:max_chars]


def text_key(text: str) -> int:
    """Return the number that identifies a text: equal texts have equal vectors."""
    return int.from_bytes(blake2b(text.encode("utf-8"), digest_size=8).digest(), "little")
