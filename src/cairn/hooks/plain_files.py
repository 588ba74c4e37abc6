"""Opens, locks and writes the hook program's files safely, without modules of Python's library.

`cairn.runtime`, `cairn.storage.own_files` and `cairn.storage.lock` do the same for everybody else.
"""

import os
import sys

MAX_FILES, MAX_WAITING_BYTES = (
    2_000,
    64_000_000,
)  # spooled events and bytes; the oldest are kept, later ones are dropped
MAX_LOG_BYTES = 200_000  # for each of the two log files
SPOOL, LOG = "hooks", "hooks.log"  # of folders and files in the state folder
ENDING, NEW_ENDING = ".event", ".tmp"  # suffixes of a spooled file, and of one being written
_MAX_STATE_BYTES = 100_000
_FLAGS: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)  # open a FIFO without waiting for a writer; it is refused afterwards
_KIND, _REGULAR, _OTHERS_WRITE, _ALL_WRITE = 0o170000, 0o100000, 0o022, 0o002  # write permission for group and others


class OpenFolder:
    """A folder of this user. Files are opened relative to it, without following links.

    Args:
        path: its path.
        descriptor: its descriptor, None if the system cannot open files relative to one.
    """

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def open(self, name: str, flags: int) -> int:
        """Open a regular file of this user, created for its owner only, and return its descriptor.

        Raises:
            OSError: if it is something else, or writable by everybody.
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
        """Return the `stat` result of a file."""
        return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)

    def names(self) -> list[str]:
        """Return the names of its entries."""
        return os.listdir(self.path if self._descriptor is None else self._descriptor)

    def rename(self, name: str, new: str) -> None:
        """Rename a file, replacing any with the new name."""
        os.replace(self._at(name), self._at(new), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def create(self, name: str) -> "OpenFolder":
        """Return a subfolder, created for its owner only if it is missing."""
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
    """Return the id of the process that holds a lock, None if nobody does; 0 if it is unknown."""
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
    """Spool an event to disk until the daemon processes it.

    Args:
        folder: the state folder.
        name: sorts by time.
        envelope: the event.

    Raises:
        OSError: if it cannot be written, or too many are waiting.
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
    """Raise an OSError if there is no room for another event; the names of waiting files contain their sizes."""
    for name in names:
        size = name.removesuffix(ENDING).rpartition("-")[2]
        n_bytes += int(size) if name.endswith(ENDING) and size.isdigit() else 0
    if len(names) >= MAX_FILES or n_bytes > MAX_WAITING_BYTES:
        raise OSError(f"{len(names):,} events wait already")


def write_log(folder: OpenFolder, line: bytes) -> None:
    """Append a line to the log. A log that has grown large replaces the second one."""
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
