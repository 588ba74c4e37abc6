"""Files of Cairn's own: written as a whole, and only removed if they are unchanged."""

from __future__ import annotations

import json
import re
from pathlib import PurePath

from cairn.digest import blake2b
from cairn.hooks.commands import is_ours
from cairn.install.record import FileRecord, Piece, digest_of
from cairn.install.wanted import Edited

# The comment with our mark, by file extension. JSON has no comments; it is recognised by its commands.
_COMMENTS = {
    ".md": "<!-- {} -->", ".mdc": "<!-- {} -->", ".ts": "// {}", ".js": "// {}", ".mjs": "// {}",
    ".toml": "# {}", ".yaml": "# {}", ".yml": "# {}",
}  # fmt: skip
_MARK = re.compile(r"cairn:([0-9a-f]{16})")
_CHANGED = "was changed after Cairn wrote it"


def with_mark(text: str, name: str) -> str:
    """Return a text with a final line by which any version can tell whether it was changed."""
    comment = _COMMENTS.get(PurePath(name).suffix)
    if comment is None:
        return text
    text = text if text.endswith("\n") else f"{text}\n"
    return f"{text}{comment.format(f'cairn:{_digest(text)}')}\n"


def put(name: str, content: bytes | None, piece: Piece, record: FileRecord | None) -> Edited:
    """Return the new content of the file; a file that somebody else wrote or changed stays."""
    new = piece.value.encode("utf-8")
    if content is not None and _is_same(name, content, new):
        return Edited(content, (piece,))
    if content is not None and not _is_as_written(name, content, record):
        what = "was changed" if record is not None or _has_mark(content) else "is not Cairn's"
        return Edited(content, notes=(f"it {what} and stays as it is",), base=content)
    return Edited(new, (piece,))


def take(name: str, content: bytes | None, record: FileRecord | None, wanted: str | None) -> Edited:
    """Return None if the file is as Cairn wrote it, else its content.

    Args:
        name: of the file.
        content: the present one.
        record: of what was written.
        wanted: what this version would write.
    """
    if content is None or _is_as_written(name, content, record):
        return Edited(None)
    if wanted is not None and _is_same(name, content, wanted.encode("utf-8")):
        return Edited(None)
    is_known = record is not None or _has_mark(content)
    notes = (f"it {_CHANGED}, so it stays; delete it if you do not need it",) if is_known else ()
    return Edited(content, notes=notes)


def _is_as_written(name: str, content: bytes, record: FileRecord | None) -> bool:
    states = [record, record.earlier] if record is not None else []
    if any(state is not None and digest_of(content) == state.after for state in states):
        return True
    text = _plain(content)
    if PurePath(name).suffix == ".json":
        return is_ours(_json(text))
    body, _, last = text.rpartition("\n")
    mark = _MARK.search(last)
    return mark is not None and mark[1] == _digest(f"{body}\n")


def _is_same(name: str, content: bytes, wanted: bytes) -> bool:
    """Tell whether a file is as wanted, ignoring line endings and JSON formatting."""
    if content.replace(b"\r\n", b"\n").rstrip() == wanted.rstrip():
        return True
    return PurePath(name).suffix == ".json" and _json(_plain(content)) == _json(_plain(wanted))


def _plain(content: bytes) -> str:
    """Return a text without what editors add on saving: a byte order mark, carriage returns, empty lines."""
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n").strip()


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _has_mark(content: bytes) -> bool:
    return _MARK.search(content[-100:].decode("utf-8", "replace")) is not None


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8"), digest_size=8).hexdigest()
