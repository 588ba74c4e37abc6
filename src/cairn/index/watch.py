"""Tells when the files of a project may differ from the index, whatever happened to them or to the machine.

A `Watcher` yields batches, and the caller updates the index for each. A batch may be incomplete: it only says that
something changed, and comparing all files, which takes tens of milliseconds, tells what.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from cairn.config import Deciding, Settings, stamp_of
from cairn.errors import PathError
from cairn.index.demand import PATIENCE_SECONDS, Demand
from cairn.index.inotify import InotifyStream
from cairn.index.limits import on_battery
from cairn.index.mounts import is_remote
from cairn.index.news import ChangeStream, OpenStream, ReportedStream
from cairn.source.eligible import UNLISTED, check_name
from cairn.source.git import Repository, find_ignored, mark_tracked, rule_files
from cairn.source.walk import CAIRNIGNORE, list_folders
from cairn.types import IndexReport

# How often an idle watcher checks the clocks, and whether to pause or stop.
TICK_SECONDS = 5.0
# A sleep of the machine advances the wall clock but not the steady one. Smaller differences are corrections.
SLEEP_SECONDS = 5.0
# How often to compare all files anyway: the system drops events when too many come at once.
RECONCILE_SECONDS = 600.0
# The same, after an update that compared only the reported files.
SETTLE_SECONDS = 60.0
# After an update, wait for as long as it took before the next one, but at most this long; polling takes at most a
# twentieth of a core.
MAX_REST_SECONDS = 2.0
POLL_SHARE = 1 / 20
MAX_RETRY_SECONDS = 60.0
FEW_PATHS = 50
_MAX_ASKED = 500  # paths to ask git about; among more, one always counts
_RULES = frozenset((".gitignore", CAIRNIGNORE, "exclude"))
_OF_GIT = frozenset(("HEAD", "index"))

Reason = Literal["start", "changes", "poll", "woke", "routine", "retry"]


class Batch(NamedTuple):
    """Something may have changed: the reason to think so, and the absolute paths as far as known.

    `is_exact` says that all paths are files and that, according to the system, nothing else has changed since the last
    update, which succeeded. `note` is a sentence for the user when the way of watching changed. `is_awaited` says that
    an answer is waiting for the update.
    """

    reason: Reason
    paths: frozenset[str] = frozenset()
    note: str = ""
    is_exact: bool = False
    is_awaited: bool = False

    @property
    def is_edit(self) -> bool:
        """Tell whether this looks like a person's edit, to be found soon, rather than a branch switch or a start."""
        return self.reason == "poll" or 0 < len(self.paths) <= FEW_PATHS


class Clock(Protocol):
    """Two clocks, in seconds."""

    def wall(self) -> float:
        """Return the time of day, which can be set and advances while the machine sleeps."""

    def steady(self) -> float:
        """Return a time that is never set and stands still while the machine sleeps."""


class SystemClock:
    """The clocks of the machine."""

    def wall(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def steady(self) -> float:
        """Return seconds since an arbitrary moment."""
        return time.monotonic()


def open_stream(folders: Collection[str], stop: threading.Event) -> ChangeStream:
    """Open the best stream of events for some folders on this system; errors as for `ChangeStream.follow`."""
    if sys.platform == "linux":
        return InotifyStream(folders)
    return ReportedStream(folders, stop)


class Watcher:
    """Yields a batch at the start, and whenever the index may have fallen behind the files.

    Args:
        root: the folder of the project, absolute.
        repository: the checkout that the root is in.
        polling: look at intervals instead of waiting for events, as on a network file system.
        poll_seconds: the interval.
        is_paused: called before each batch; while it returns true, changes accumulate.
        state: a folder whose changes do not count.
        open_stream: opens the source of events; a seam for tests.
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
        open_stream: OpenStream = open_stream,
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
        self._bell = threading.Event()  # ends a wait if there is no stream
        self._folders: frozenset[str] = frozenset()
        self._lock = threading.Lock()  # guards the stream and the pending work
        self._stream: ChangeStream | None = None
        self._note = ""
        self._failures = 0  # one at a time
        self._failed = False
        self._owes = True  # whether something may have changed that no update covers
        self._demand = Demand()
        self._asked = 0  # the last demand from before the latest look for changes
        self._compared_at = 0.0  # when all files were last compared, on the steady clock
        self._deciding = deciding_files(root, repository)
        self._rules_stamp = stamp_of(self._deciding)
        self._tracked: bytes | None = None  # changes with the set of files that git tracks

    def stop(self) -> None:
        """Make `batches` end soon; any thread may call this."""
        self._stop.set()
        self._wake()

    def note_failure(self) -> None:
        """Note that the last batch's update failed; it is retried, with a longer delay after each failure."""
        self._failed = True

    def catch_up(self, timeout_seconds: float = PATIENCE_SECONDS) -> bool | None:
        """Wait until updates, in the thread that follows batches, cover everything saved before this call.

        Args:
            timeout_seconds: how long to wait; 0 only checks.

        Returns:
            whether they do, True at once if nothing has changed; None if the caller must find out without the watcher,
            because updates fail or nobody follows batches any more.
        """
        if stamp_of(self._deciding) == self._rules_stamp:
            with self._lock:
                if not self._owes and self._stream is not None and self._stream.is_quiet():
                    return True
        if self._failures or self._stop.is_set():
            return None
        if not timeout_seconds:
            return False
        number = self._demand.raise_one()
        self._wake()
        return self._demand.wait(number, timeout_seconds)

    def _wake(self) -> None:
        self._bell.set()
        with self._lock:
            if self._stream is not None:
                self._stream.wake()

    def batches(self) -> Generator[Batch, None, None]:
        """Yield batches until `stop` is called. Watching begins before the first one, so no change is missed.

        Raises:
            PathError: if the root is gone.
        """
        batch: Batch | None = Batch("start")
        try:
            self._open()
            self._tracked = None if self._repository is None else mark_tracked(self.root)
            while batch is not None and not self._stop.is_set():
                self._failed = False
                begun = self._clock.steady()
                clocks = self._clock.wall(), begun
                if not batch.is_exact:
                    self._compared_at = begun
                yield batch._replace(note=self._take_note())
                self._close_batch()
                batch = self._wait(clocks, self._clock.steady() - begun, settles=batch.is_exact)
        finally:
            self._close()
            self._demand.refuse(for_good=True)

    def _close_batch(self) -> None:
        """Record how the last update ended."""
        self._failures = self._failures + 1 if self._failed else 0
        with self._lock:
            self._owes = self._failed
        if self._failed:
            self._demand.refuse()
        else:
            self._demand.meet(self._asked)

    def _wait(self, clocks: tuple[float, float], busy_seconds: float, *, settles: bool) -> Batch | None:
        """Return the next batch, None to stop.

        Args:
            clocks: both clocks' times before the last update.
            busy_seconds: how long that update took.
            settles: whether it compared only some files.
        """
        wall, steady = clocks
        now = self._clock.steady()
        rest = now + min(busy_seconds, MAX_REST_SECONDS)
        due = now + self._routine_seconds(busy_seconds, settles=settles)
        changed: set[str] = set()
        woke = False
        while not self._stop.is_set():
            now = self._clock.steady()
            woke = woke or abs((self._clock.wall() - wall) - (now - steady)) > SLEEP_SECONDS
            self._asked = self._demand.last()
            is_asked = self._demand.is_open(self._asked)
            if is_asked:  # everything saved before that has been reported now
                if (news := self._look(0.0)) is None:
                    return None
                changed |= news
            if self._have_rules_changed():
                changed.add(str(self.root))  # treated like a change of folders
            is_suspect = woke or (is_asked and not (self._stream is not None and self._stream.is_prompt))
            is_due = now >= due and not is_asked
            if (changed or is_suspect or is_due) and (is_asked or (now >= rest and not self._is_paused())):
                routine: Reason = "retry" if self._failures else "routine" if is_due and self._stream else "poll"
                return self._batch("changes" if changed else "woke" if woke else routine, changed, is_suspect)
            if is_asked:
                self._demand.meet(self._asked)
                continue
            until = rest if (changed or woke) and now < rest else due
            if (news := self._look(min(until - now, TICK_SECONDS) if until > now else TICK_SECONDS)) is None:
                return None
            changed |= news
        return None

    def _routine_seconds(self, busy_seconds: float, *, settles: bool) -> float:
        """Return how long after the last full comparison to do another without any event."""
        if self._failures:
            return min(MAX_RETRY_SECONDS, 2.0 ** min(self._failures - 1, 10))
        if self._stream is None:
            return max(self._poll_seconds, busy_seconds / POLL_SHARE)
        return SETTLE_SECONDS if settles else RECONCILE_SECONDS

    def _batch(self, reason: Reason, changed: set[str], is_suspect: bool) -> Batch:
        """Return a batch, after adjusting the watch to folders that came or went.

        Args:
            reason: the reason for the batch.
            changed: the reported paths.
            is_suspect: whether more may have changed.
        """
        is_exact = not is_suspect and self._is_exact(changed)
        if changed and self._stream is not None and _have_folders_changed(changed, self._folders):
            self._open()
            is_exact = False
        is_awaited = self._demand.is_open(self._asked)
        return Batch(reason, frozenset(changed), is_exact=is_exact, is_awaited=is_awaited)

    def _is_exact(self, changed: Collection[str]) -> bool:
        """Tell whether these are all changes since the last update, and all of files."""
        is_due = self._clock.steady() - self._compared_at >= RECONCILE_SECONDS
        if self._stream is None or self._failures or is_due or not 0 < len(changed) <= FEW_PATHS:
            return False
        return not any(_is_of_git(path, self._repository) or os.path.basename(path) == ".git" for path in changed)

    def _look(self, timeout_seconds: float) -> set[str] | None:
        """Wait for events and return the paths that may change the index; None to stop."""
        if self._stream is None:
            self._bell.wait(timeout_seconds)
            self._bell.clear()
            return None if self._stop.is_set() else set()
        if (news := self._stream.next(timeout_seconds)) is None:
            return None
        relevant = self._relevant(news)
        with self._lock:
            self._owes = self._owes or bool(relevant)
        self._stream.settle()
        return relevant

    def _have_rules_changed(self) -> bool:
        """Tell whether ignore rules outside of the watched folders have changed since the last call."""
        stamp = stamp_of(self._deciding)
        if stamp == self._rules_stamp:
            return False
        with self._lock:
            self._owes = True
        self._rules_stamp = stamp  # in this order, because `catch_up` reads the two in the opposite one
        self._deciding = deciding_files(self.root, self._repository)
        return True

    # -- which folders ------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Watch the folders that exist now; if the system refuses, poll instead."""
        if self.polling:
            return
        is_followed = False
        for _ in range(5):  # otherwise a folder made between listing and watching would go unnoticed
            try:
                folders = watched_folders(self.root, self._repository)
            except PathError as error:
                if not os.path.isdir(self.root):
                    raise
                self._look_instead(f"{error}: looking for changes from time to time")
                return
            if is_followed and folders == self._folders:
                return
            try:
                self._follow(folders)
            except FileNotFoundError:  # a folder was deleted between listing and watching
                continue
            except OSError as error:
                self._look_instead(
                    f"the system does not report changes here ({error}): looking for them from time to time"
                )
                return
            is_followed = True
            self._folders = folders
        if not is_followed:
            self._look_instead("folders come and go too fast to be watched: looking for changes from time to time")

    def _follow(self, folders: frozenset[str]) -> None:
        """Watch exactly these folders."""
        if self._stream is not None and self._stream.follow(sorted(folders)):
            return
        self._close()
        stream = self._open_stream(sorted(folders), self._stop)
        with self._lock:
            self._stream = stream

    def _look_instead(self, note: str) -> None:
        self._close()
        self.polling = True
        self._note = note

    def _close(self) -> None:
        with self._lock:
            stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def _take_note(self) -> str:
        note, self._note = self._note, ""
        return note

    # -- which changes ------------------------------------------------------------------------------------------------

    def _relevant(self, paths: Collection[str]) -> set[str]:
        """Return those paths that may change the index."""
        kept: set[str] = set()
        asked: dict[str, str] = {}
        prefix = os.path.join(self.root, "")
        for path in paths:
            if path in self._folders:
                kept.add(path)
            elif _is_of_git(path, self._repository):
                if self._is_told_by_git(path):
                    kept.add(path)
            elif path.startswith(prefix) and not (self._state and path.startswith(self._state)):
                name = path.removeprefix(prefix)
                if os.path.basename(name) == ".git":  # a repository inside the project, whose files are not ours
                    kept.add(path)
                elif not UNLISTED.intersection(name.split(os.sep)) and not check_name(os.path.basename(name)):
                    asked[name] = path
        if self._repository is not None and 0 < len(asked) <= _MAX_ASKED:
            for name in find_ignored(self.root, list(asked)):
                asked.pop(name, None)
        return kept | set(asked.values())

    def _is_told_by_git(self, path: str) -> bool:
        """Tell whether a write to a file of git's changed which files may be indexed; most do not."""
        if os.path.basename(path) != "index":
            return True
        last, self._tracked = self._tracked, mark_tracked(self.root)
        return last is None or last != self._tracked


def watched_folders(root: Path, repository: Repository | None) -> frozenset[str]:
    """Return the folders of a project in which changes matter."""
    inner = list_folders(root, repository=repository)
    folders = {os.path.join(root, folder) if folder else str(root) for folder in inner}
    if repository is not None:  # shows branch switches and staging
        folders.add(str(repository.git_dir))
    return frozenset(folders)


def _have_folders_changed(changed: Collection[str], folders: Collection[str]) -> bool:
    """Tell whether to watch other folders: some came or went, or ignore rules changed."""
    return any(path in folders or os.path.basename(path) in _RULES or os.path.isdir(path) for path in changed)


def _is_of_git(path: str, repository: Repository | None) -> bool:
    """Tell whether a path is a file of git's that changes on a checkout or when something is staged."""
    folder, name = os.path.split(path)
    return name in _OF_GIT and repository is not None and folder == str(repository.git_dir)


def deciding_files(root: Path, repository: Repository | None) -> list[Deciding]:
    """Return the files outside of a project that decide which of its files count, for `stamp_of`."""
    return [] if repository is None else [Deciding(path, follow=True) for path in rule_files(root, repository)]


class Update(NamedTuple):
    """The outcome of a batch: a report or an error. After an error, the batch is retried."""

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
    """Return a project's watcher, configured by the settings; the check for battery power is a seam for tests."""
    return Watcher(
        root,
        repository,
        polling=settings.watch_polling or is_remote(root),
        poll_seconds=settings.watch_poll_seconds,
        is_paused=is_on_battery if settings.pause_on_battery else lambda: False,
        state=state,
    )


def follow(watcher: Watcher, update: Callable[[Batch], IndexReport], *survived: type[Exception]) -> Iterator[Update]:
    """Update an index for each batch of a watcher, and yield the outcomes.

    Args:
        watcher: its `stop` ends this.
        update: updates the index for a batch.
        survived: errors to yield instead of raising.
    """
    with closing(watcher.batches()) as batches:
        for batch in batches:
            try:
                done = Update(batch, update(batch))
            except survived as error:
                if not os.path.isdir(watcher.root):  # there is nothing left to update
                    raise
                watcher.note_failure()
                done = Update(batch, None, error)
            yield done
