"""Records what was written for agents, for each project and for the user: enough to undo it, without copies of files.

Records are in the user's own state folder, so that no repository can make `cairn uninstall` change other files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from cairn.digest import blake2b
from cairn.documents.document import Edit
from cairn.errors import StoreError
from cairn.folders import check_private, state_folder, unwritable
from cairn.hooks.adapter import Format, Level
from cairn.storage.atomic import write_file
from cairn.storage.lock import file_lock
from cairn.storage.own_files import read_own

Kind = Literal["entry", "item", "block", "whole"]

_VERSION = 1
_MAX_BYTES = 20_000_000
_LOCK_SECONDS = 20.0


class Piece(NamedTuple):
    """A change that was made.

    Attributes:
        agents: that need it.
        kind: of change, as in `cairn.hooks.adapter`.
        path: the keys that lead to it; empty in a text.
        value: what was set, or the text.
        is_default: see `cairn.hooks.adapter.FileEntry`.
        edit: the edit of the document; None if the value was already there, and in a text.
        is_theirs: whether it is the user's own entry that starts Cairn, which stays.
    """

    agents: tuple[str, ...]
    kind: Kind
    path: tuple[str, ...]
    value: Any
    is_default: bool = False
    edit: Edit | None = None
    is_theirs: bool = False


class FileRecord(NamedTuple):
    """The record of a file.

    Attributes:
        file: its real path.
        format: None for a text.
        is_new: whether the file did not exist before.
        folders: those that were created for it, outermost first.
        before, after: digests of its content; empty for no file.
        pieces: in the order in which they were made.
        earlier: the previous record, while it is not certain that this one was written.
    """

    file: str
    format: Format | None
    is_new: bool
    folders: tuple[str, ...]
    before: str
    after: str
    pieces: tuple[Piece, ...]
    earlier: FileRecord | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents for which anything in it was written."""
        return tuple(dict.fromkeys(agent for piece in self.pieces for agent in piece.agents))


def digest_of(content: bytes | None) -> str:
    """Return the digest of a content; empty for no file."""
    return "" if content is None else blake2b(content, digest_size=20).hexdigest()


Records = dict[str, FileRecord]


class RecordFile:
    """The records of one project, or of the user's own files.

    Args:
        level: the project's or the user's.
        root: the project.
        state: the user's state folder.
    """

    def __init__(self, level: Level, root: Path, state: Path | None = None) -> None:
        self._root = os.path.realpath(root) if level == "project" else ""
        name = blake2b(os.fsencode(self._root), digest_size=16).hexdigest() if self._root else "user"
        self.file = (state or state_folder()) / "install" / f"{name}.json"

    def read(self) -> Records:
        """Return the records by file; none if they are missing, unreadable or writable by others."""
        try:
            check_private(self.file.parent, follow=False)
            document = json.loads(read_own(self.file, _MAX_BYTES))
            if document["version"] != _VERSION or document["root"] != self._root:
                return {}
            return {row["file"]: _record_from(row) for row in document["files"]}
        except (OSError, StoreError, ValueError, KeyError, TypeError, RecursionError):
            return {}  # missing or damaged; our parts can also be recognised by their marks

    def write(self, records: Records) -> None:
        """Replace the records; without any, the file is removed.

        Raises:
            StoreError: if they cannot be written.
        """
        document = {"version": _VERSION, "root": self._root, "files": [_row(record) for record in records.values()]}
        try:
            if not records:
                self.file.unlink(missing_ok=True)
                return
            write_file(self.file, json.dumps(document, indent=1).encode("ascii"), mode=0o600)
        except OSError as error:
            raise unwritable(self.file, error) from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from changing the records and the files that they are about.

        Raises:
            StoreError: if another process holds the lock for long, or nothing can be written.
        """
        try:
            for folder in (self.file.parent.parent, self.file.parent):  # `mode` applies to the last level only
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_private(self.file.parent, follow=False)
        except OSError as error:
            raise unwritable(self.file, error) from error
        with file_lock(self.file.with_suffix(".lock"), _LOCK_SECONDS):
            yield


def _row(record: FileRecord) -> dict[str, Any]:
    pieces = [piece._asdict() for piece in record.pieces]
    earlier = None if record.earlier is None else _row(record.earlier)
    return {**record._asdict(), "pieces": pieces, "earlier": earlier}


def _record_from(row: Mapping[str, Any]) -> FileRecord:
    if row["format"] not in (None, *get_args(Format)):
        raise ValueError
    return FileRecord(
        file=str(row["file"]),
        format=row["format"],
        is_new=bool(row["is_new"]),
        folders=tuple(map(str, row["folders"])),
        before=str(row["before"]),
        after=str(row["after"]),
        pieces=tuple(map(_piece_from, row["pieces"])),
        earlier=None if row["earlier"] is None else _record_from(row["earlier"]),
    )


def _piece_from(row: Mapping[str, Any]) -> Piece:
    if row["kind"] not in get_args(Kind):
        raise ValueError
    return Piece(
        agents=tuple(map(str, row["agents"])),
        kind=row["kind"],
        path=tuple(map(str, row["path"])),
        value=row["value"],
        is_default=bool(row["is_default"]),
        edit=None if row["edit"] is None else Edit.from_json(row["edit"]),
        is_theirs=bool(row["is_theirs"]),
    )
