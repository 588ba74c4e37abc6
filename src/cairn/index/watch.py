"""Tells when the files of a project may differ from what the index holds, whatever happened to them or to the machine.

A `Watcher` yields batches; the caller brings the index up to date at each. A batch need not be complete: it says that
something changed, and comparing all files, which takes tens of milliseconds, says what.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from cairn.config import Settings
from cairn.errors import PathError
from cairn.index.limits import on_battery
from cairn.index.mounts import is_remote
from cairn.source.eligible import UNLISTED, check_name
from cairn.source.git import Repository, find_ignored
from cairn.source.walk import CAIRNIGNORE, list_folders
from cairn.types import IndexReport

# Changes are gathered until so long nothing more came, but no longer than the second.
STEP_MS, DEBOUNCE_MS = 50, 400
# How often a watcher looks up when nothing happens: at the clocks, and at whether it is to pause or stop.
TICK_SECONDS = 5.0
# The wall clock goes on while the machine sleeps, the steady one does not. Smaller steps are corrections.
SLEEP_SECONDS = 5.0
# After so long everything is compared once more: the system drops events when too many come at once.
RECONCILE_SECONDS = 600.0
# The same after an update of the files that were reported, and of no others.
SETTLE_SECONDS = 60.0
# After an update of some length no other begins for as long again, but at most this; looking instead of being told
# takes a twentieth of a core at most.
MAX_REST_SECONDS = 2.0
POLL_SHARE = 1 / 20
MAX_RETRY_SECONDS = 60.0
FEW_PATHS = 50
_MAX_ASKED = 500  # paths about which git is asked; among more there is always one that counts
_RULES = frozenset((".gitignore", CAIRNIGNORE, "exclude"))
_OF_GIT = frozenset(("HEAD", "index"))

Reason = Literal["start", "changes", "poll", "woke", "routine", "retry"]


class Batch(NamedTuple):
    """Something may have changed: the reason to think so, and the absolute paths, as far as they are known.

    `is_exact` says that the paths are files and that, according to the system, nothing else has changed since the last
    update, which did not fail. `note` is a sentence for the user when the way of watching changed.
    """

    reason: Reason
    paths: frozenset[str] = frozenset()
    note: str = ""
    is_exact: bool = False

    @property
    def is_edit(self) -> bool:
        """Tell whether it is a person's edit, which should be found soon, and not a switch of branches or a start."""
        return self.reason == "poll" or 0 < len(self.paths) <= FEW_PATHS


class ChangeStream(Protocol):
    """Where news of changes comes from."""

    def next(self, timeout_seconds: float) -> frozenset[str] | None:
        """Wait for changes and return their absolute paths, none after the timeout; None when asked to stop."""

    def close(self) -> None:
        """Release what the stream holds."""


OpenStream = Callable[[Collection[str], threading.Event], ChangeStream]


class Clock(Protocol):
    """Two clocks, in seconds."""

    def wall(self) -> float:
        """Return the time of day, which goes on while the machine sleeps, and can be set."""

    def steady(self) -> float:
        """Return a time that is never set, and stands still while the machine sleeps."""


class SystemClock:
    """The clocks of the machine."""

    def wall(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def steady(self) -> float:
        """Return seconds since an arbitrary moment."""
        return time.monotonic()


class NativeStream:
    """News from the operating system, through one descriptor however many folders there are.

    Raises:
        OSError: if the system has no such service here, or its limits are reached.
    """

    def __init__(self, folders: Collection[str], stop: threading.Event) -> None:
        from watchfiles._rust_notify import (  # noqa: PLC0415 - start-up time: few commands watch
            RustNotify,
            WatchfilesRustInternalError,
        )

        self._stop = stop
        try:
            self._notify = RustNotify(
                list(folders), debug=False, force_polling=False, poll_delay_ms=0, recursive=False,
                ignore_permission_denied=True,
            )  # fmt: skip
        except WatchfilesRustInternalError as error:  # the system's refusals that have no number
            raise OSError(str(error)) from error

    def next(self, timeout_seconds: float) -> frozenset[str] | None:
        """Wait for changes."""
        found = self._notify.watch(DEBOUNCE_MS, STEP_MS, max(1, round(1000 * timeout_seconds)), self._stop)
        if found == "signal":
            raise KeyboardInterrupt
        if found == "stop":
            return None
        return frozenset() if isinstance(found, str) else frozenset(path for _, path in found)

    def close(self) -> None:
        """Give the descriptor back."""
        self._notify.close()


class Watcher:
    """Yields a batch at the start and whenever the index may have fallen behind the files.

    Args:
        root: the folder of the project, absolute.
        repository: the checkout it lies in.
        polling: look at intervals instead of being told by the system, as on a network file system.
        poll_seconds: how often.
        is_paused: asked before a batch; while it says so, changes are gathered.
        state: a folder whose changes do not count.
        open_stream: where news comes from; a seam for tests.
        clock: a seam for tests.
    """

    def __init__(
        self,
        root: Path,
        repository: Repository | None,
        *,
        polling: bool = False,
        poll_seconds: float = 2.0,
        is_paused: Callable[[], bool] = lambda: False,
        state: Path | None = None,
        open_stream: OpenStream = NativeStream,
        clock: Clock | None = None,
    ) -> None:
        self.polling = polling
        self.root = root
        self._repository = repository
        self._poll_seconds = poll_seconds
        self._is_paused = is_paused
        self._state = os.path.join(state, "") if state is not None else None
        self._open_stream = open_stream
        self._clock = clock or SystemClock()
        self._stop = threading.Event()
        self._folders: frozenset[str] = frozenset()
        self._stream: ChangeStream | None = None
        self._note = ""
        self._failures = 0  # one after the other
        self._failed = False
        self._compared_at = 0.0  # when all files were compared, on the steady clock

    def stop(self) -> None:
        """Make `batches` end soon; any thread may call it."""
        self._stop.set()

    def note_failure(self) -> None:
        """Note that the update of the last batch failed: it is tried again, later with each failure."""
        self._failed = True

    def batches(self) -> Generator[Batch, None, None]:
        """Yield batches until `stop` is called. Watching begins before the first, so nothing falls between.

        Raises:
            PathError: if the root is gone.
        """
        batch: Batch | None = Batch("start")
        self._open()
        try:
            while batch is not None and not self._stop.is_set():
                self._failed = False
                begun = self._clock.steady()
                clocks = self._clock.wall(), begun
                if not batch.is_exact:
                    self._compared_at = begun
                yield batch._replace(note=self._take_note())
                self._failures = self._failures + 1 if self._failed else 0
                batch = self._wait(clocks, self._clock.steady() - begun, settles=batch.is_exact)
        finally:
            self._close()

    def _wait(self, clocks: tuple[float, float], busy_seconds: float, *, settles: bool) -> Batch | None:
        """Return the next batch, None to stop.

        Args:
            clocks: what both clocks said before the last update.
            busy_seconds: how long that took.
            settles: whether it compared some files only.
        """
        wall, steady = clocks
        now = self._clock.steady()
        rest = now + min(busy_seconds, MAX_REST_SECONDS)
        if self._stream is None:
            due = now + max(self._poll_seconds, busy_seconds / POLL_SHARE)
        else:
            due = now + (SETTLE_SECONDS if settles else RECONCILE_SECONDS)
        if self._failures:
            due = now + min(MAX_RETRY_SECONDS, 2.0 ** min(self._failures - 1, 10))
        changed: set[str] = set()
        woke = False
        while not self._stop.is_set():
            now = self._clock.steady()
            woke = woke or abs((self._clock.wall() - wall) - (now - steady)) > SLEEP_SECONDS
            if (changed or woke or now >= due) and now >= rest and not self._is_paused():
                is_exact = self._is_exact(changed) and not woke
                if changed and self._stream is not None and self._folders_changed(changed):
                    self._open()
                    is_exact = False
                routine: Reason = "retry" if self._failures else "poll" if self._stream is None else "routine"
                reason = "changes" if changed else "woke" if woke else routine
                return Batch(reason, frozenset(changed), is_exact=is_exact)
            until = rest if (changed or woke) and now < rest else due
            news = self._next(min(until - now, TICK_SECONDS) if until > now else TICK_SECONDS)
            if news is None:
                return None
            changed |= self._relevant(news)
        return None

    def _is_exact(self, changed: Collection[str]) -> bool:
        """Tell whether these are all changes since the last update, and each says all about its file."""
        is_due = self._clock.steady() - self._compared_at >= RECONCILE_SECONDS
        if self._stream is None or self._failures or is_due or not 0 < len(changed) <= FEW_PATHS:
            return False
        return not any(self._is_of_git(path) or os.path.basename(path) == ".git" for path in changed)

    def _next(self, timeout_seconds: float) -> frozenset[str] | None:
        if self._stream is not None:
            return self._stream.next(timeout_seconds)
        return None if self._stop.wait(timeout_seconds) else frozenset()

    # -- which folders ------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Watch the folders there are now; if the system refuses, look at intervals instead."""
        self._close()
        if self.polling:
            return
        for _ in range(5):  # a folder made between listing and watching would never be noticed
            try:
                folders = self._list_folders()
            except PathError as error:
                if not os.path.isdir(self.root):
                    raise
                self.polling = True
                self._note = f"{error}: looking for changes from time to time"
                self._close()
                return
            if self._stream is not None and folders == self._folders:
                return
            self._close()
            try:
                self._stream = self._open_stream(sorted(folders), self._stop)
            except FileNotFoundError:  # a folder went between listing and watching
                continue
            except OSError as error:
                self.polling = True
                self._note = f"the system does not report changes here ({error}): looking for them from time to time"
                return
            self._folders = folders
        if self._stream is None:
            self.polling = True
            self._note = "folders come and go too fast to be watched: looking for changes from time to time"

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = None

    def _list_folders(self) -> frozenset[str]:
        inner = list_folders(self.root, repository=self._repository)
        folders = {os.path.join(self.root, folder) if folder else str(self.root) for folder in inner}
        if self._repository is not None:  # for a switch to another branch, and what is staged
            folders.add(str(self._repository.git_dir))
        return frozenset(folders)

    def _folders_changed(self, changed: Collection[str]) -> bool:
        """Tell whether other folders must be watched: some came or went, or the rules of what is ignored changed."""
        return any(path in self._folders or os.path.basename(path) in _RULES or os.path.isdir(path) for path in changed)

    def _take_note(self) -> str:
        note, self._note = self._note, ""
        return note

    # -- which changes ------------------------------------------------------------------------------------------------

    def _relevant(self, paths: Collection[str]) -> set[str]:
        """Return the paths that may change the index."""
        kept: set[str] = set()
        asked: dict[str, str] = {}
        prefix = os.path.join(self.root, "")
        for path in paths:
            if path in self._folders or self._is_of_git(path):
                kept.add(path)
            elif path.startswith(prefix) and not (self._state and path.startswith(self._state)):
                name = path.removeprefix(prefix)
                if os.path.basename(name) == ".git":  # a repository within the project: its files are its own
                    kept.add(path)
                elif not UNLISTED.intersection(name.split(os.sep)) and not check_name(os.path.basename(name)):
                    asked[name] = path
        if self._repository is not None and 0 < len(asked) <= _MAX_ASKED:
            for name in find_ignored(self.root, list(asked)):
                asked.pop(name, None)
        return kept | set(asked.values())

    def _is_of_git(self, path: str) -> bool:
        """Tell whether a path is a file of git that changes when a branch is checked out or something is staged."""
        folder, name = os.path.split(path)
        return name in _OF_GIT and self._repository is not None and folder == str(self._repository.git_dir)


class Update(NamedTuple):
    """The outcome of a batch: a report, or an error. After an error it is tried again."""

    batch: Batch
    report: IndexReport | None
    error: Exception | None = None


def watcher_of(
    root: Path,
    repository: Repository | None,
    settings: Settings,
    state: Path,
    is_on_battery: Callable[[], bool] = on_battery,
) -> Watcher:
    """Return a watcher of a project according to the settings; what tells the source of power is a seam for tests."""
    return Watcher(
        root,
        repository,
        polling=settings.watch_polling or is_remote(root),
        poll_seconds=settings.watch_poll_seconds,
        is_paused=is_on_battery if settings.pause_on_battery else lambda: False,
        state=state,
    )


def follow(watcher: Watcher, update: Callable[[Batch], IndexReport], *survived: type[Exception]) -> Iterator[Update]:
    """Bring an index up to date at each batch of a watcher, and yield what was done.

    Args:
        watcher: whose `stop` ends it.
        update: does it.
        survived: errors that are yielded instead of ending the loop.
    """
    with closing(watcher.batches()) as batches:
        for batch in batches:
            try:
                done = Update(batch, update(batch))
            except survived as error:
                if not os.path.isdir(watcher.root):  # there will be nothing to update any more
                    raise
                watcher.note_failure()
                done = Update(batch, None, error)
            yield done
