"""Unprocessed events that could not be handed over: files in the user's state folder, ordered by time.

They may contain secrets, since nothing has been parsed yet. So they only exist until the daemon processes them.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from cairn.errors import StoreError
from cairn.folders import check_private
from cairn.hints import Hint
from cairn.hooks.plain_files import ENDING, MAX_FILES, MAX_WAITING_BYTES, NEW_ENDING, SPOOL
from cairn.storage.atomic import write_file
from cairn.storage.own_files import read_own

MAX_ENVELOPE_BYTES = 33_000_000
MOST_BAD = 20
BAD_ENDING = ".bad"
_OLD_SECONDS = 600.0  # after which an unfinished file is abandoned


class RawSpool:
    """The waiting events. Processes may share it: hooks add events, and only the daemon removes them.

    Args:
        state: the user's state folder.
    """

    def __init__(self, state: Path) -> None:
        self.folder = state / SPOOL

    def is_waiting(self) -> bool:
        """Tell whether any event is waiting."""
        return any(name.endswith(ENDING) for name in self._all())

    def names(self) -> list[str]:
        """Return the files of the waiting events, oldest first; delete abandoned ones."""
        names = self._all()
        for name in names:
            if name.endswith(NEW_ENDING):
                self._remove_if_old(self.folder / name)
        return sorted(name for name in names if name.endswith(ENDING))

    def read(self, name: str) -> bytes:
        """Return an event.

        Raises:
            UnsafeStateError, OSError: if the file is not ours or cannot be read.
        """
        return read_own(self.folder / name, MAX_ENVELOPE_BYTES)

    def add(self, content: bytes) -> None:
        """Add an event; it is on disk when this returns.

        Raises:
            StoreError: if it cannot be written, or too many are waiting.
        """
        name = f"{time.time_ns():020d}-{secrets.token_hex(8)}-{len(content)}{ENDING}"
        names = self._all()
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            check_private(self.folder)
            if len(names) >= MAX_FILES or len(content) + sum(map(size_of, names)) > MAX_WAITING_BYTES:
                raise StoreError(f"{len(names):,} events are waiting in {self.folder}", Hint.of("doctor"))
            write_file(self.folder / name, content, mode=0o600)
        except OSError as error:
            raise StoreError(
                f"cannot write {self.folder}: {error.strerror}", "free some space, or make it writable"
            ) from error

    def remove(self, name: str) -> None:
        """Remove a processed event."""
        (self.folder / name).unlink(missing_ok=True)

    def put_aside(self, name: str) -> None:
        """Set aside a file that is not an event; the latest few of these are kept."""
        with suppress(OSError):
            (self.folder / name).rename((self.folder / name).with_suffix(BAD_ENDING))
        for bad in self.bad_files()[:-MOST_BAD]:
            bad.unlink(missing_ok=True)

    def bad_files(self) -> list[Path]:
        """Return the files that were set aside, oldest first."""
        return sorted(self.folder / name for name in self._all() if name.endswith(BAD_ENDING))

    def _all(self) -> list[str]:
        try:
            return os.listdir(self.folder)
        except OSError:
            return []

    def _remove_if_old(self, file: Path) -> None:
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _OLD_SECONDS:
                file.unlink()


def size_of(name: str) -> int:
    """Return the size of a waiting event, from its file's name."""
    size = name.removesuffix(ENDING).rpartition("-")[2]
    return int(size) if name.endswith(ENDING) and size.isdecimal() else 0
