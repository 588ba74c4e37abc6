"""Writes a file as a whole: readers see the old content or the new, and so does whoever comes after a crash.

Every file of Cairn is written here, except logs, which grow, and locks, whose content may be lost.
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
# What file systems answer that cannot sync a folder.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.ENOSYS)


class NewFile(NamedTuple):
    """The file that will take the place of another: where it is meanwhile, and open to write and read it."""

    path: Path
    stream: IO[bytes]


class AtomicFile:
    """Lets a block write a new file, which takes its place if the block ends without an error, and is removed if not.

    It is written beside its place and synced, then renamed, then its folder is synced. No link is followed: neither one
    in the place of the file, which is replaced, nor one in the place of its folder.

    Args:
        path: the file.
        mode: its permissions; None to keep those of the file that is there, without the right of others to write.
        durable: sync the folder, too, so that the new name outlasts a crash of the system. Without, the file may be
            missing after one, but never half there.
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
        # No two writers share a name, be they threads of a process or processes of two machines.
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
            with suppress(OSError):  # of what could not be written; an earlier error is the one to report
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
    """Write a file as `AtomicFile` does.

    Raises:
        UnsafeStateError, OSError: as there.
    """
    with AtomicFile(path, mode=mode) as new:
        new.stream.write(content)


def _mode_of(path: Path) -> int | None:
    """Return the permissions of a file to keep them, None if there is no such file."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(mode) & 0o775 if stat.S_ISREG(mode) else None


def sync_folder(folder: int) -> None:
    """Have the system write an open folder to disk, where its file system can do that."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
