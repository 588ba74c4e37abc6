"""The files of the hook program: opened safely, locked, and written, without any module of Python's library.

`cairn.runtime`, `cairn.storage.own_files` and `cairn.storage.lock` do the same for all others.
"""

import os
import sys

MAX_FILES, MAX_WAITING_BYTES = 2_000, 64_000_000  # that wait on disk; the oldest are kept, what comes then is dropped
MAX_LOG_BYTES = 200_000  # of each of two files
SPOOL, LOG = "hooks", "hooks.log"  # in the state folder
ENDING, NEW_ENDING = ".event", ".tmp"  # of a file that waits, and of one that is being written
_MAX_STATE_BYTES = 100_000
_FLAGS: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)  # a FIFO is opened without waiting for a writer, and then refused
_KIND, _REGULAR, _OTHERS_WRITE, _ALL_WRITE = 0o170000, 0o100000, 0o022, 0o002  # of a mode


class OpenFolder:
    """A folder of this user. Its files are opened relative to it, and no link is followed.

    Args:
        path: of the folder.
        descriptor: of it, None where files cannot be opened relative to one.
    """

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def open(self, name: str, flags: int) -> int:
        """Open a regular file of this user, which is created for its owner only, and return its descriptor.

        Raises:
            OSError: if it is something else, or everybody can write it.
        """
        descriptor = os.open(self._at(name), flags | _FLAGS | _NO_WAIT, 0o600, dir_fd=self._descriptor)
        facts = os.fstat(descriptor)
        is_written = flags & (os.O_WRONLY | os.O_RDWR)
        if facts.st_mode & _KIND != _REGULAR or not _is_ours(facts, _ALL_WRITE) or (is_written and facts.st_nlink > 1):
            os.close(descriptor)
            raise OSError(f"{name} is not a file of this user alone")
        return descriptor

    def read(self, name: str) -> bytes:
        """Return the content of a small file."""
        descriptor = self.open(name, os.O_RDONLY)
        try:
            return os.read(descriptor, _MAX_STATE_BYTES)
        finally:
            os.close(descriptor)

    def status(self, name: str) -> os.stat_result:
        """Return what the system says of a file."""
        return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)

    def names(self) -> list[str]:
        """Return the names of all that is in it."""
        return os.listdir(self.path if self._descriptor is None else self._descriptor)

    def rename(self, name: str, new: str) -> None:
        """Rename a file; one that has the new name is replaced."""
        os.replace(self._at(name), self._at(new), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def create(self, name: str) -> "OpenFolder":
        """Return a folder in it, for its owner only, created if it is missing."""
        try:
            os.mkdir(self._at(name), 0o700, dir_fd=self._descriptor)
        except FileExistsError:
            return _open_folder(os.path.join(self.path, name), self._at(name), self._descriptor)
        return _open_folder(os.path.join(self.path, name), self._at(name), self._descriptor)

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else os.path.join(self.path, name)


def open_state(path: str) -> OpenFolder:
    """Return the user's state folder, created if it is missing.

    Raises:
        OSError: if it cannot be created, belongs to another user, or others can write to it.
    """
    try:
        return _open_folder(path, path, None)
    except FileNotFoundError:
        os.makedirs(path, 0o700, exist_ok=True)
        return _open_folder(path, path, None)


def _open_folder(path: str, at: str, base: int | None) -> OpenFolder:
    if sys.platform == "win32":
        os.stat(path)
        return OpenFolder(path, None)
    descriptor = os.open(at, os.O_RDONLY | os.O_DIRECTORY | _FLAGS, dir_fd=base)
    if not _is_ours(os.fstat(descriptor), _OTHERS_WRITE):
        os.close(descriptor)
        raise OSError(f"{path} is not a folder of this user alone")
    return OpenFolder(path, descriptor)


def _is_ours(facts: os.stat_result, forbidden: int) -> bool:
    return sys.platform == "win32" or (facts.st_uid == os.geteuid() and not facts.st_mode & forbidden)


def holder(folder: OpenFolder, name: str) -> int | None:
    """Return the process that holds a lock, None when nobody does; 0 when it is not known which."""
    try:
        descriptor = folder.open(name, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        if _try_lock(descriptor):
            return None
        first = os.read(descriptor, 60).strip().partition(b" ")[0]
        return int(first) if first.isdigit() else 0
    finally:
        os.close(descriptor)


def keep(folder: OpenFolder, name: str, envelope: bytes) -> None:
    """Keep an event on disk until the daemon takes it in.

    Args:
        folder: the state folder.
        name: sorts in the order of time.
        envelope: the event.

    Raises:
        OSError: if it cannot be written, or too many wait.
    """
    spool = folder.create(SPOOL)
    check_room(spool.names(), len(envelope))
    new = f"{name}{NEW_ENDING}"
    descriptor = spool.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        rest = memoryview(envelope)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    spool.rename(new, f"{name}-{len(envelope)}{ENDING}")


def check_room(names: list[str], n_bytes: int) -> None:
    """Raise an OSError if there is no room for another event; the names of those that wait say how large each is."""
    for name in names:
        size = name.removesuffix(ENDING).rpartition("-")[2]
        n_bytes += int(size) if name.endswith(ENDING) and size.isdigit() else 0
    if len(names) >= MAX_FILES or n_bytes > MAX_WAITING_BYTES:
        raise OSError(f"{len(names):,} events wait already")


def write_log(folder: OpenFolder, line: bytes) -> None:
    """Append a line to the log. One that has grown large becomes the second, and replaces the last second."""
    descriptor = folder.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, line)
    is_large = os.fstat(descriptor).st_size > MAX_LOG_BYTES
    os.close(descriptor)
    if is_large:
        folder.rename(LOG, f"{LOG}.1")


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
