"""Where a watcher's news of changes comes from: what it asks of every source, and the one of most systems."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection

# Changes are gathered until so long nothing more came, but no longer than the second.
STEP_MS, DEBOUNCE_MS = 50, 400
_WAKE_SECONDS = 0.1


class ChangeStream:
    """News of changes in some folders, without those inside them.

    Attributes:
        is_prompt: whether everything that was saved before a call of `next` is in what that returns.
    """

    is_prompt: bool = False

    def next(self, timeout_seconds: float) -> frozenset[str] | None:
        """Wait for changes and return their absolute paths, none after the timeout; None when asked to stop.

        Where the system lost count, one of them is a folder that is watched.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Release what the stream holds."""
        raise NotImplementedError

    def follow(self, folders: Collection[str]) -> bool:
        """Watch these folders from now on, and no others; return False if that takes another stream.

        Raises:
            OSError: as when a stream is opened.
        """
        del folders
        return False

    def settle(self) -> None:
        """Note that what was reported has been dealt with, or is remembered."""

    def is_quiet(self) -> bool:
        """Tell whether nothing has changed that was not settled; False where that is not known. Any thread may ask."""
        return False

    def wake(self) -> None:
        """Make `next` return soon; any thread may call it."""


OpenStream = Callable[[Collection[str], threading.Event], ChangeStream]


class ReportedStream(ChangeStream):
    """News that the system reports a little later, through one descriptor however many folders there are.

    Raises:
        OSError: if the system has no such service here, or its limits are reached.
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
        except WatchfilesRustInternalError as error:  # the system's refusals that have no number
            raise OSError(str(error)) from error

    def next(self, timeout_seconds: float) -> frozenset[str] | None:
        """Wait for changes."""
        found: set[tuple[int, str]] | str = "timeout"
        deadline = time.monotonic() + timeout_seconds
        while found == "timeout":
            left = min(max(0.0, deadline - time.monotonic()), _WAKE_SECONDS)
            # It waits a while at a time: what ends it at once would throw away what it has gathered.
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
