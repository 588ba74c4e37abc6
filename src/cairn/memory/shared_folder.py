"""The folder `.cairn/shared` of a checkout: events as files that are named by their hash, which git brings and takes.

Anybody who can push to the repository writes here, so nothing in it is trusted: see `read`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cairn.errors import EventError, StoreError
from cairn.memory.events import MAX_BODY_BYTES, Event, parse_event
from cairn.storage.atomic import write_file
from cairn.storage.own_files import check_folder, read_own

MAX_FILES = 20_000
_MAX_FILE_BYTES = 4 * MAX_BODY_BYTES + 2
_SUFFIX = ".json"
_NAME = re.compile(rf"([0-9a-f]{{64}}){re.escape(_SUFFIX)}")


def content_of(body: str) -> bytes:
    """Return the content of the file of an event."""
    return f"{body}\n".encode()


class FolderContent(NamedTuple):
    """What is in the folder: ids of events, and what cannot be one."""

    ids: frozenset[str]
    odd: tuple[str, ...]


class SharedFolder:
    """The files of shared events in one checkout.

    Args:
        root: the checkout, wherever its state is kept.
    """

    def __init__(self, root: Path) -> None:
        self.path = root / ".cairn" / "shared"

    def mark(self) -> str:
        """Return what differs once a file was added or removed; empty where there is no folder."""
        try:
            facts = os.lstat(self.path)
        except OSError:
            return ""
        return f"{facts.st_ino}-{facts.st_mtime_ns}"

    def content(self) -> FolderContent:
        """Return what is there, at most `MAX_FILES` files.

        Raises:
            UnsafeStateError: if the folder, or the one around it, is a link or another user's.
            StoreError: if it is not a directory.
            OSError: if it cannot be read.
        """
        ids: set[str] = set()
        odd: list[str] = []
        if self.mark() == "":
            return FolderContent(frozenset(), ())
        self._check()
        with os.scandir(self.path) as entries:
            for entry in entries:
                if len(ids) >= MAX_FILES:
                    odd.append(f"all beyond {MAX_FILES:,} files")
                    break
                if name := _NAME.fullmatch(entry.name):
                    ids.add(name[1])
                elif entry.name.endswith(_SUFFIX) and len(odd) < MAX_FILES:
                    odd.append(entry.name)
        return FolderContent(frozenset(ids), tuple(odd))

    def read(self, id: str) -> Event:
        """Return an event.

        Raises:
            EventError: if the file is not what its name says, no event, or not a regular file of this user.
        """
        try:
            text = read_own(self._file(id), _MAX_FILE_BYTES)
        except (OSError, StoreError) as error:
            raise EventError(str(error)) from error
        text = text.removesuffix(b"\n").removesuffix(b"\r")  # git on Windows ends lines so
        if sha256(text).hexdigest() != id:
            raise EventError("it is not what its name says")
        try:
            return parse_event(text.decode())
        except UnicodeDecodeError as error:
            raise EventError("it is not UTF-8") from error

    def can_be_written(self) -> bool:
        """Whether the checkout has a folder for what belongs to Cairn; none is made where the state is elsewhere."""
        return os.path.lexists(self.path.parent)

    def write(self, id: str, body: str) -> None:
        """Write an event; it is on disk when this returns.

        Raises:
            UnsafeStateError, StoreError, OSError: as `content`.
        """
        if not os.path.lexists(self.path):
            check_folder(self.path.parent)
            self.path.mkdir(mode=0o755, exist_ok=True)
        self._check()
        write_file(self._file(id), content_of(body), mode=0o644)

    def delete(self, ids: Collection[str]) -> None:
        """Delete events.

        Raises:
            UnsafeStateError, StoreError, OSError: as `content`.
        """
        if ids:
            self._check()
        for id in ids:
            self._file(id).unlink(missing_ok=True)

    def _check(self) -> None:
        check_folder(self.path.parent)
        check_folder(self.path)

    def _file(self, id: str) -> Path:
        return self.path / f"{id}{_SUFFIX}"
