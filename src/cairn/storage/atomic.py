"""Writes files atomically: readers see either the old content or the new, even after a crash.

All of Cairn's files are written here, except logs, which grow, and locks, whose content does not matter.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

from cairn.storage.own_files import HAS_FOLDERS, create_new, open_folder

_NEW_MODE = 0o644
# Errors of file systems that cannot sync a folder.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.ENOSYS)


class NewFile(NamedTuple):
    """A new file, at a temporary path, open for writing and reading."""

    path: Path
    stream: IO[bytes]


class AtomicFile:
    """Lets a block write a new file, which is put into place if the block succeeds and removed if it fails.

    It is written beside its final place, synced and renamed; then its folder is synced. Links are not followed: one at
    the file's place is replaced, and one at its folder's is refused.

    Args:
        path: the file.
        mode: its permissions; None to keep those of the existing file, minus write permission for others.
        durable: also sync the folder, so that the rename survives a crash of the system. Without this, the file may be
            missing after a crash, but never incomplete.
        buffering: as for `open`.

    Raises:
        UnsafeStateError: on entering, if the folder is a link.
        OSError: on entering and leaving, if the file cannot be written.
    """

    def __init__(self, path: Path, *, mode: int | None = None, durable: bool = True, buffering: int = -1) -> None:
        self._path = path
        self._mode = mode
        self._durable = durable
        self._buffering = buffering
        # Unique among threads, processes and machines.
        self._new = path.with_name(f"{path.name}.{int.from_bytes(os.urandom(7), 'big')}.tmp")

    def __enter__(self) -> NewFile:
        kept = _mode_of(self._path) if self._mode is None else None
        descriptor = create_new(self._new, self._mode or kept or _NEW_MODE)
        try:
            if kept is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, kept)
            self._stream = os.fdopen(descriptor, "w+b", self._buffering)
        except BaseException:
            os.close(descriptor)
            self._new.unlink(missing_ok=True)
            raise
        return NewFile(self._new, self._stream)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._put_into_place()
        finally:
            with suppress(OSError):  # closing may fail too; report the earlier error
                self._stream.close()
            with suppress(OSError):
                self._new.unlink(missing_ok=True)

    def _put_into_place(self) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        if not HAS_FOLDERS:
            os.replace(self._new, self._path)
            return
        folder = open_folder(self._path.parent)
        try:
            os.replace(self._new.name, self._path.name, src_dir_fd=folder, dst_dir_fd=folder)
            if self._durable:
                sync_folder(folder)
        finally:
            os.close(folder)


def write_file(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Write a file through `AtomicFile`.

    Raises:
        UnsafeStateError, OSError: as for `AtomicFile`.
    """
    with AtomicFile(path, mode=mode) as new:
        new.stream.write(content)


def _mode_of(path: Path) -> int | None:
    """Return the permissions to keep from an existing file, None if there is no such file."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(mode) & 0o775 if stat.S_ISREG(mode) else None


def sync_folder(folder: int) -> None:
    """Sync an open folder to disk, if its file system can."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
