"""Opens files that must be this user's own: real files in real folders, never behind a link.

Whatever a repository, an archive or another user put in place of our file is refused, not followed.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from shlex import quote
from typing import IO

from cairn.errors import StoreError, UnsafeStateError
from cairn.hints import Hint

_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
# Open a FIFO without waiting for a writer; it is refused afterwards.
_FLAGS: int = _NO_FOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# Whether files can be opened and renamed relative to an open folder.
HAS_FOLDERS = bool(_NO_FOLLOW) and os.open in os.supports_dir_fd
_LOOPS = (errno.ELOOP, getattr(errno, "EMLINK", errno.ELOOP), getattr(errno, "EFTYPE", errno.ELOOP))
ELSEWHERE = "set CAIRN_STATE_DIR to a folder of your own"
_MOVE = Hint.of("doctor", fix=True)


def open_own(path: Path, flags: int, mode: int = 0o644) -> int:
    """Open a regular file of this user, relative to its folder, and return its descriptor.

    Do not pass O_TRUNC, which would truncate before the check; call `os.ftruncate` afterwards.

    Args:
        path: the file; its folder must not be a link either.
        flags: as for `os.open`.
        mode: of a file that is created.

    Raises:
        UnsafeStateError: if it is a link or not a regular file, belongs to another user, can be written by everybody,
            or is opened for writing and has a second name.
        OSError: if it cannot be opened.
    """
    if not HAS_FOLDERS:
        _refuse_links(path)
        return _check_descriptor(os.open(path, flags | _FLAGS, mode), path, flags)
    folder = open_folder(path.parent)
    try:
        descriptor = os.open(path.name, flags | _FLAGS, mode, dir_fd=folder)
    except OSError as error:
        if error.errno in _LOOPS:
            raise _is_link(path) from error
        if error.errno == errno.ENXIO:
            raise _is_special(path) from error
        raise
    finally:
        os.close(folder)
    return _check_descriptor(descriptor, path, flags)


def open_stream(path: Path, mode: str) -> IO[bytes]:
    """Open a file with `open_own`: modes `rb` and `r+b` need it to exist, `ab` and `wb` create it."""
    flags = {"rb": os.O_RDONLY, "r+b": os.O_RDWR}.get(mode, os.O_WRONLY | os.O_CREAT)
    descriptor = open_own(path, flags | (os.O_APPEND if mode == "ab" else 0))
    if mode == "wb":
        os.ftruncate(descriptor, 0)
    return os.fdopen(descriptor, mode)


def create_new(path: Path, mode: int = 0o644) -> int:
    """Create a new file for writing and reading, replacing what a killed process may have left there.

    Returns:
        Its descriptor.

    Raises:
        UnsafeStateError, OSError: as `open_own`.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    try:
        return open_own(path, flags, mode)
    except FileExistsError:
        path.unlink()  # for a link, the link itself
        return open_own(path, flags, mode)


def read_own(path: Path, limit_bytes: int) -> bytes:
    """Return the content of a file, or its first `max_bytes`.

    Raises:
        UnsafeStateError, OSError: as `open_own`.
    """
    with open_stream(path, "rb") as stream:
        return stream.read(limit_bytes)


def check_folder(path: Path) -> None:
    """Make sure that a folder is really this user's and not writable by everybody.

    Raises:
        UnsafeStateError: if it is not.
        StoreError: if it is not a directory.
        OSError: if it cannot be examined.
    """
    facts = os.lstat(path)
    if stat.S_ISLNK(facts.st_mode):
        raise _is_link(path)
    if not stat.S_ISDIR(facts.st_mode):
        raise StoreError(f"{path} is not a directory", _MOVE.after(f"{ELSEWHERE}, or move it aside"))
    _check_owner(facts, path)


def is_own_file(path: Path | str) -> bool:
    """Tell whether a path is a regular file of this user, with one name and not writable by everybody."""
    facts = os.lstat(path)
    return _is_ours(facts) and stat.S_ISREG(facts.st_mode) and facts.st_nlink <= 1 and not _is_open_to_all(facts)


def open_folder(path: Path) -> int:
    """Open a folder and return its descriptor.

    Raises:
        UnsafeStateError: if it is a link.
        OSError: if it cannot be opened.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | _NO_FOLLOW)
    except OSError as error:  # what Linux reports for a link to a folder
        if error.errno in (errno.ENOTDIR, *_LOOPS) and path.is_symlink():
            raise _is_link(path) from error
        raise


def _check_descriptor(descriptor: int, path: Path, flags: int) -> int:
    try:
        facts = os.fstat(descriptor)
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(facts.st_mode):
            raise _is_special(path)
        _check_owner(facts, path)
        if facts.st_nlink > 1 and flags & (os.O_WRONLY | os.O_RDWR):
            raise UnsafeStateError(f"{path} has a second name, so writing it would change another file", _MOVE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_owner(facts: os.stat_result, path: Path) -> None:
    if not _is_ours(facts):
        raise UnsafeStateError(f"{path} belongs to another user", ELSEWHERE)
    if _is_open_to_all(facts):
        raise UnsafeStateError(f"every user can write {path}", f"chmod go-w {quote(str(path))}")


def _is_ours(facts: os.stat_result) -> bool:
    return sys.platform == "win32" or facts.st_uid == os.geteuid()


def _is_open_to_all(facts: os.stat_result) -> bool:
    # The group may write: where each user has their own group, everything is created group-writable.
    return sys.platform != "win32" and bool(facts.st_mode & stat.S_IWOTH)


def _refuse_links(path: Path) -> None:
    for part in (path.parent, path):
        if part.is_symlink():
            raise _is_link(part)


def _is_link(path: Path) -> UnsafeStateError:
    return UnsafeStateError(f"{path} is a link, and no link is followed in a state folder", _MOVE)


def _is_special(path: Path) -> UnsafeStateError:
    return UnsafeStateError(f"{path} is not a regular file", _MOVE)
