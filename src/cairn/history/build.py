"""Brings the history of a checkout or revision up to date, newest commits first, within a time limit."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial as partial_of
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import NamedTuple
from zlib import crc32

import numpy as np

from cairn.errors import PathError, StoreDamagedError, StoreLockedError
from cairn.history.messages import read_message
from cairn.history.past import Extent, Past, load_past, save_past
from cairn.index.past_files import history_lock, past_file
from cairn.index.state_dir import StateDir
from cairn.source.commits import (
    Commit,
    CommittedChange,
    Listed,
    is_partial,
    list_commits,
    read_commits,
    shallow_commits,
)
from cairn.source.git import Repository
from cairn.storage.connection import store_errors, transaction
from cairn.storage.history import commit_db
from cairn.storage.history.commit_db import NOT_KNOWN, StoredCommit
from cairn.storage.history.schema import HISTORY
from cairn.storage.lock import write_lock
from cairn.storage.sealed import read_meta, write_meta

# Bump this when what is stored of a commit changes; commits stored by an older version are read again.
_ANALYSIS = "4"
# Commits per batch, and in the first batch, whose time tells how large others may be.
_BATCH, _FIRST_BATCH, _LEAST_BATCH = 250, 50, 20
_TICK_SECONDS, _ENDING_SECONDS = 1e-3, 2.0
_SAVING_SHARE = 0.15  # share of the time for writing a view's file
# Commits on no branch are dropped once there are this many times more commits than in one history.
_KEPT_SHARE = 4
_MAX_PATH_CHARS = 4_096


class CommitSource(NamedTuple):
    """Where to read commits, and how.

    Attributes:
        repository: the checkout.
        limit: how many commits of one history, the newest.
        redact: removes secrets from a text.
    """

    repository: Repository
    limit: int
    redact: Callable[[str], str]


def update_past(
    state: StateDir, source: CommitSource, view_name: str, tip: str, seconds: float, wait_seconds: float = 0.0
) -> Past | None:
    """Read the unknown ancestors of a commit, and write the file for a view's answers.

    Commits are stored once, whichever branches contain them. What is not read in time is left for the next call.
    Commits at which a shallow clone ends are left out, because all of their files look new.

    Args:
        state: the state folder.
        source: of the commits.
        view_name: the view.
        tip: the commit that it shows.
        seconds: how long this may take.
        wait_seconds: how much of that to wait for another thread or process that is doing the same.

    Returns:
        the history as far as it is known, None if there is none yet.

    Raises:
        StoreError: if it cannot be written.
    """
    file = past_file(state, view_name)
    past = load_past(file)
    shallow = shallow_commits(source.repository)
    boundary = crc32("".join(sorted(shallow)).encode()) | 1 if shallow else 0
    if past is not None and past.extent == Extent(tip, past.extent.read, past.extent.read, source.limit, boundary):
        return past
    deadline = time.monotonic() + (1 - _SAVING_SHARE) * seconds
    listed = list_commits(source.repository.work_tree, tip, source.limit)
    if not listed.hashes:  # git failed, for example because the folder is gone
        return past
    hashes = [one for one in listed.hashes if one not in shallow]
    extent = Extent(tip, len(hashes), 0, source.limit, boundary, listed.is_cut)
    state.create()
    work = _Work(file, deadline, listed._replace(hashes=hashes), extent)
    try:
        with write_lock(history_lock(state), wait_seconds, HISTORY):
            try:
                _update(state, source, work)
            except StoreDamagedError:
                state.set_aside(HISTORY)
                _update(state, source, work)
            return load_past(file)
    except StoreLockedError:
        return load_past(file)


class _Work(NamedTuple):
    """An update in progress: the file to write, the deadline, the commits, and which of them are known."""

    file: Path
    deadline: float
    listed: Listed
    extent: Extent


def _update(state: StateDir, source: CommitSource, work: _Work) -> None:
    folder, extent = source.repository.work_tree, work.extent
    hashes = [bytes.fromhex(one) for one in work.listed.hashes]
    database = state.file_of(HISTORY)
    with closing(state.open_for_writing(HISTORY, replace_newer=True)) as connection, store_errors(database, HISTORY):
        if read_meta(connection, "analysis") != _ANALYSIS:
            with transaction(connection):
                commit_db.clear(connection)
                write_meta(connection, "analysis", _ANALYSIS)
        known = commit_db.known_hashes(connection)
        new = [one.hex() for one in hashes if one not in known]
        n_unread = 0
        for batch in _read_in_time(folder, new, work.deadline, partial=is_partial(source.repository)):
            whole = [commit for commit in batch if commit.is_whole]
            n_unread += len(batch) - len(whole)
            with transaction(connection):
                _put(connection, whole, source)
        if len(known) + len(new) > _KEPT_SHARE * source.limit:
            with transaction(connection):
                commit_db.drop_others(connection, hashes)
        commits = list(commit_db.read_commits(connection, hashes))
        paths = commit_db.read_paths(connection)
    extent = extent._replace(read=len(commits), is_cut=extent.is_cut or n_unread > 0)
    parents = {bytes.fromhex(one): [*map(bytes.fromhex, behind)] for one, behind in work.listed.parents.items()}
    save_past(work.file, commits, paths, extent, parents)


def _read_in_time(folder: Path, hashes: Sequence[str], deadline: float, *, partial: bool) -> Iterator[list[Commit]]:
    """Yield batches of commits, the first one regardless of the time, while git reads the next one.

    Args:
        folder: of the checkout.
        hashes: of the commits, in order.
        deadline: only ask for as many as can be stored by then, judged by the earlier batches.
        partial: see `read_commits`.
    """
    if not hashes:
        return
    started, n_read, size = time.monotonic(), 0, min(_FIRST_BATCH, len(hashes))
    with closing(_CommitReader(folder, partial=partial)) as reader:
        reader.ask(hashes[:size])
        while size:
            try:
                batch = reader.read()
            except (OSError, PathError):  # git is too slow; the next call continues
                return
            n_read += size
            now, left = time.monotonic(), len(hashes) - n_read
            affordable = (deadline - now) * n_read / max(now - started, _TICK_SECONDS)
            size = int(
                min(_BATCH, 2 * size, left, affordable)
            )  # the time of the first batch does not include storing it
            size = size if size >= min(_LEAST_BATCH, left) else 0
            if size:
                reader.ask(hashes[n_read : n_read + size])
            yield batch


class _CommitReader:
    """Reads commits in its own thread. Nobody waits for it for long: git is stopped once it is not needed."""

    def __init__(self, folder: Path, *, partial: bool) -> None:
        self._asked: SimpleQueue[Sequence[str] | None] = SimpleQueue()
        self._found: SimpleQueue[list[Commit] | BaseException] = SimpleQueue()
        self._is_closed = Event()
        self._read = partial_of(read_commits, folder, partial=partial, is_unwanted=self._is_closed.is_set)
        self._thread = Thread(target=self._answer, name="cairn-commits", daemon=True)
        self._thread.start()

    def ask(self, hashes: Sequence[str]) -> None:
        """Request some commits."""
        self._asked.put(hashes)

    def read(self) -> list[Commit]:
        """Return the commits of the oldest request.

        Raises:
            PathError, OSError: as `read_commits`.
        """
        found = self._found.get()
        if isinstance(found, BaseException):
            raise found
        return found

    def close(self) -> None:
        """Stop the thread and git."""
        self._is_closed.set()
        self._asked.put(None)
        self._thread.join(_ENDING_SECONDS)

    def _answer(self) -> None:
        while (hashes := self._asked.get()) is not None:
            try:
                self._found.put(self._read(hashes))
            except BaseException as error:  # noqa: BLE001 - whoever asked gets it
                self._found.put(error)


def _put(connection: sqlite3.Connection, batch: Sequence[Commit], source: CommitSource) -> None:
    """Store commits; of those without weight, only the renames."""
    stored = []
    wanted: set[str] = set()
    for commit in batch:
        changes = tuple(change for change in commit.changes if _is_storable(change))
        commit = commit._replace(changes=changes)
        statement = read_message(commit, source.redact)
        if not statement.weight:
            changes = tuple(change for change in changes if change.before or change.is_doubtful)
        wanted.update(path for change in changes for path in (change.path, change.before) if path)
        stored.append((commit, statement, changes))
    numbers = commit_db.number_paths(connection, sorted(wanted))
    commit_db.put_commits(
        connection,
        [
            StoredCommit(
                bytes.fromhex(commit.hash),
                commit.seconds,
                statement.subject,
                statement.weight,
                np.array(list(statement.terms), np.uint64).tobytes(),
                bytes(statement.terms.values()),
                np.array([_numbers_of(change, numbers) for change in changes], np.int32).tobytes(),
            )
            for commit, statement, changes in stored
        ],
    )


def _numbers_of(change: CommittedChange, numbers: dict[str, int]) -> tuple[int, int]:
    """Return a change in its stored form; see `StoredCommit`."""
    return numbers[change.path], NOT_KNOWN if change.is_doubtful else numbers.get(change.before, 0)


def _is_storable(change: CommittedChange) -> bool:
    """Tell whether paths are UTF-8 and not too long."""
    return all(len(path) <= _MAX_PATH_CHARS and path.isprintable() for path in (change.path, change.before))
