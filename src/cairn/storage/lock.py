"""A lock between processes that the system releases when its holder dies, however it dies."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from cairn.errors import IndexLockedError, StoreError

_POLL_SECONDS = 0.05


@contextmanager
def write_lock(path: Path, timeout_seconds: float) -> Iterator[None]:
    """Hold the lock file at `path` for the block.

    Raises:
        IndexLockedError: if another process keeps it longer than `timeout_seconds`.
        StoreError: if the file cannot be opened.
    """
    with _open(path) as stream:
        deadline = time.monotonic() + timeout_seconds
        while not _try_lock(stream):
            if time.monotonic() > deadline:
                raise IndexLockedError(
                    f"another process has been indexing for over {timeout_seconds:.0f} s ({path})",
                    "wait for it, or stop it and run: cairn index",
                )
            time.sleep(_POLL_SECONDS)
        yield  # closing the file releases the lock


def _open(path: Path) -> IO[bytes]:
    try:
        return path.open("a+b")
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}", "make it writable, or set CAIRN_STATE_DIR to a folder that is"
        ) from error


if sys.platform == "win32":
    import msvcrt

    def _try_lock(stream: IO[bytes]) -> bool:
        try:
            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(stream: IO[bytes]) -> bool:
        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
