"""A passage of Cairn's in a text file that belongs to others, such as AGENTS.md."""

from __future__ import annotations

from cairn.documents.marked import passage_of, remove_passage, set_passage
from cairn.install.record import FileRecord, Piece
from cairn.install.wanted import Edited


def put(name: str, content: bytes | None, piece: Piece, record: FileRecord | None) -> Edited:
    """Return the text with the passage; what stands between its marks is ours.

    Raises:
        ConfigError: if the marks are damaged.
    """
    there = None if content is None else passage_of(content, name)
    if there is not None and there.strip() == piece.value.strip():
        return Edited(content, (piece,), base=content)
    base = take(name, content, record).content
    new = set_passage(content or b"", piece.value, name)
    return Edited(new, (piece,), base=base)


def take(name: str, content: bytes | None, record: FileRecord | None) -> Edited:
    """Return the text without the passage, and no file if it was made for it and nothing else is in it.

    Raises:
        ConfigError: if the marks are damaged.
    """
    if content is None:
        return Edited(None)
    rest = remove_passage(content, name)
    is_new = record is None or record.is_new
    return Edited(None if rest != content and not rest.strip() and is_new else rest)
