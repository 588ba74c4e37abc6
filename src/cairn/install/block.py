"""Cairn's passage in a text file that belongs to others, such as AGENTS.md."""

from __future__ import annotations

from cairn.documents.document import Edit
from cairn.documents.marked import passage_of, remove_passage, set_passage
from cairn.documents.nodes import Splice
from cairn.install.record import FileRecord, Piece
from cairn.install.wanted import Edited


def put(name: str, content: bytes | None, piece: Piece, record: FileRecord | None) -> Edited:
    """Return the text with the passage; everything between its marks is ours.

    Raises:
        ConfigError: if the marks are damaged.
    """
    there = None if content is None else passage_of(content, name)
    if there is not None and there.strip() == piece.value.strip():
        return Edited(content, (_recorded(piece, record),), base=content)
    base = take(name, content, record).content
    new = set_passage(base or b"", piece.value, name)
    return Edited(new, (piece._replace(edit=_edit(base or b"", new, piece.value)),), base=base)


def _recorded(piece: Piece, record: FileRecord | None) -> Piece:
    """Return the record of an existing passage."""
    known = [old for old in (record.pieces if record is not None else ()) if old.value == piece.value]
    return piece._replace(edit=known[0].edit) if known else piece


def _edit(before: bytes, after: bytes, text: str) -> Edit:
    """Return the edit that appends the passage, with the separating lines."""
    inserted = after[len(before) :].decode("utf-8")
    return Edit((), text, "set", 0, None, (Splice(len(before), "", inserted),))


def take(name: str, content: bytes | None, record: FileRecord | None) -> Edited:
    """Return the text without the passage; None if the file was created for it and has nothing else.

    Raises:
        ConfigError: if the marks are damaged.
    """
    if content is None:
        return Edited(None)
    rest = _without_inserted(content, record)
    if rest is None:
        rest = remove_passage(content, name)
    is_new = record is None or record.is_new
    is_empty = not rest.decode("utf-8-sig", "replace").strip()  # an editor may have added a byte order mark
    return Edited(None if rest != content and is_empty and is_new else rest)


def _without_inserted(content: bytes, record: FileRecord | None) -> bytes | None:
    """Return the text without what was inserted; None if that does not occur exactly once."""
    states = [record, record.earlier] if record is not None else []
    pieces = [piece for state in states if state is not None for piece in state.pieces]
    for splice in [splice for piece in pieces if piece.edit is not None for splice in piece.edit.splices]:
        inserted = splice.inserted.encode("utf-8")
        if content.count(inserted) == 1:
            return content.replace(inserted, b"")
    return None
