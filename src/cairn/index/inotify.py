"""Change events from Linux through inotify(7): whatever was saved before a question is known when it is asked.

The kernel queues an event before the call that changed a file returns. So an empty queue means that we have read every
change. docs/adr/0042-answers-trust-the-watcher.md lists what inotify cannot see.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import threading
import time
from collections.abc import Collection, Iterator

from cairn.index.news import DEBOUNCE_MS, STEP_MS, ChangeStream

_CREATED, _DELETED, _MODIFIED, _WRITTEN, _ATTRIBUTES = 0x100, 0x200, 0x2, 0x8, 0x4
_MOVED_AWAY, _MOVED_HERE, _SELF_DELETED, _SELF_MOVED = 0x40, 0x80, 0x400, 0x800
_ONLY_FOLDERS = 0x0100_0000
_WANTED = (
    _CREATED | _DELETED | _MODIFIED | _WRITTEN | _ATTRIBUTES
    | _MOVED_AWAY | _MOVED_HERE | _SELF_DELETED | _SELF_MOVED | _ONLY_FOLDERS
)  # fmt: skip
_OVERFLOW, _IGNORED = 0x4000, 0x8000
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 18
_FIONREAD = 0x541B


class InotifyStream(ChangeStream):
    """Events for some folders, without their subfolders.

    Attributes:
        is_prompt: see `ChangeStream`; False if one of the folders cannot be watched.

    Args:
        folders: absolute.

    Raises:
        OSError: if a limit of the system is reached.
        FileNotFoundError: if a folder is gone.
    """

    def __init__(self, folders: Collection[str]) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._paths: dict[int, str] = {}  # folders by watch descriptor
        self._lock = threading.Lock()
        self._bell = threading.Event()
        self._is_settled = True
        self.is_prompt = True
        self._queue = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._queue < 0:
            raise _last_error("inotify")
        self._waker = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        try:
            self.follow(folders)
        except BaseException:
            self.close()
            raise

    def follow(self, folders: Collection[str]) -> bool:
        """Watch exactly these folders from now on; return True, since this stream can.

        Events for a renamed folder carry the name given here.
        """
        paths: dict[int, str] = {}
        is_prompt = True
        for folder in folders:
            number = self._libc.inotify_add_watch(self._queue, os.fsencode(folder), _WANTED)
            if number >= 0:
                paths[number] = folder
            elif ctypes.get_errno() in (errno.EACCES, errno.EPERM):
                is_prompt = False
            else:
                raise _last_error(folder)
        for number in self._paths.keys() - paths.keys():
            self._libc.inotify_rm_watch(self._queue, number)  # fails if the folder is gone
        self._paths, self.is_prompt = paths, is_prompt
        return True

    def next(self, timeout_seconds: float) -> frozenset[str]:
        """Wait for changes until a burst of them ends; `wake` interrupts it."""
        if timeout_seconds and self._poll(1000 * timeout_seconds):
            deadline = time.monotonic() + DEBOUNCE_MS / 1000
            gathered = self._unread()
            while gathered and time.monotonic() < deadline and not self._bell.wait(STEP_MS / 1000):
                before, gathered = gathered, self._unread()
                if before == gathered:
                    break
        with self._lock:
            if self._bell.is_set():
                self._bell.clear()
                os.eventfd_read(self._waker)
            found = frozenset(self._read())
            self._is_settled = self._is_settled and not found
        return found

    def settle(self) -> None:
        """Note that all reported changes have been handled, or are remembered."""
        self._is_settled = True

    def is_quiet(self) -> bool:
        """Tell whether every change has been settled."""
        with self._lock:
            if not self._is_settled or not self.is_prompt:
                return False
            poller = select.poll()
            poller.register(self._queue, select.POLLIN)
            return not poller.poll(0)

    def wake(self) -> None:
        """Make the current or the following `next` return at once; any thread may call this."""
        with self._lock:
            if not self._bell.is_set():
                self._bell.set()
                os.eventfd_write(self._waker, 1)

    def close(self) -> None:
        """Close the descriptors."""
        os.close(self._queue)
        os.close(self._waker)

    def _poll(self, timeout_ms: float) -> bool:
        """Wait until there is an event, or `wake` is called."""
        poller = select.poll()
        poller.register(self._queue, select.POLLIN)
        poller.register(self._waker, select.POLLIN)
        return bool(poller.poll(timeout_ms))

    def _unread(self) -> int:
        count = ctypes.c_int()
        self._libc.ioctl(self._queue, _FIONREAD, ctypes.byref(count))
        return count.value

    def _read(self) -> Iterator[str]:
        while True:
            try:
                data = os.read(self._queue, _READ_BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, kind, _, length = _EVENT.unpack_from(data, at)
                name = data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0")
                at += _EVENT.size + length
                if kind & _OVERFLOW:
                    yield from list(self._paths.values())[:1]
                elif kind & _IGNORED:
                    self._paths.pop(number, None)
                elif (folder := self._paths.get(number)) is not None:
                    yield os.path.join(folder, os.fsdecode(name)) if name else folder


def _last_error(place: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), place)
