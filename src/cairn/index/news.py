"""Where a watcher's change events come from: the interface, and the implementation for most systems."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection

# A burst of changes ends after the first time without an event, or after the second in all.
STEP_MS, DEBOUNCE_MS = 50, 400
_WAKE_SECONDS = 0.1


class ChangeStream:
    """Change events for some folders, without their subfolders.

    Attributes:
        is_prompt: whether `next` returns everything that was saved before it was called.
    """

    is_prompt: bool = False

    def next(self, timeout_seconds: float) -> frozenset[str] | None:
        """Wait for changes and return their absolute paths, none after a timeout; None if asked to stop.

        If the system lost events, one of the paths is a watched folder.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Release the stream's resources."""
        raise NotImplementedError

    def follow(self, folders: Collection[str]) -> bool:
        """Watch exactly these folders from now on; return False if that takes a new stream.

        Raises:
            OSError: as for opening a stream.
        """
        del folders
        return False

    def settle(self) -> None:
        """Note that all reported changes have been handled, or are remembered."""

    def is_quiet(self) -> bool:
        """Tell whether every change has been settled; False if unknown. Any thread may call this."""
        return False

    def wake(self) -> None:
        """Make `next` return soon; any thread may call this."""


OpenStream = Callable[[Collection[str], threading.Event], ChangeStream]


class ReportedStream(ChangeStream):
    """Events that the system reports with a short delay, through one descriptor for any number of folders.

    Raises:
        OSError: if the system has no such service, or a limit is reached.
    """

    def __init__(self, folders: Collection[str], stop: threading.Event) -> None:
        from watchfiles._rust_notify import (  # noqa: PLC0415 - start-up time: few commands watch
            RustNotify,
            WatchfilesRustInternalError,
        )

        self._stop = stop
        self._bell = threading.Event()
        try:
            self._notify = RustNotify(
                list(folders), debug=False, force_polling=False, poll_delay_ms=0, recursive=False,
                ignore_permission_denied=True,
            )  # fmt: skip
        except WatchfilesRustInternalError as error:  # refusals of the system without an errno
            raise OSError(str(error)) from error

    def next(self, timeout_seconds: float) -> frozenset[str] | None:
        """Wait for changes."""
        found: set[tuple[int, str]] | str = "timeout"
        deadline = time.monotonic() + timeout_seconds
        while found == "timeout":
            left = min(max(0.0, deadline - time.monotonic()), _WAKE_SECONDS)
            # Wait in short steps: stopping it at once would discard the events gathered so far.
            found = self._notify.watch(DEBOUNCE_MS, STEP_MS, max(1, round(1000 * left)), self._stop)
            if self._bell.is_set() or time.monotonic() >= deadline:
                break
        self._bell.clear()
        if found == "signal":
            raise KeyboardInterrupt
        if found == "stop":
            return None
        return frozenset() if isinstance(found, str) else frozenset(path for _, path in found)

    def wake(self) -> None:
        """Make `next` return soon."""
        self._bell.set()

    def close(self) -> None:
        """Give the descriptor back."""
        self._notify.close()
