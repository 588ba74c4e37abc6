"""Examines a memory and mends what is derived in it. Its truth, the events, changes only in `redating`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.errors import CairnError
from cairn.hints import Hint
from cairn.index.health import Finding
from cairn.index.state_dir import StateDir
from cairn.memory import derived
from cairn.memory.corpus import load_corpus
from cairn.memory.damage import MALFORMED, UNFIT, note_of_loss
from cairn.memory.events import parse_stored
from cairn.memory.fold import fold
from cairn.memory.lost_files import find_lost
from cairn.memory.redating import examine_dates, redate
from cairn.memory.shared_folder import SharedFolder
from cairn.memory.shared_memories import SharedMemories
from cairn.memory.spool import Spool
from cairn.memory.store import MemoryStore
from cairn.source.text import pluralize
from cairn.storage.connection import check, reading, store_errors
from cairn.storage.memory import event_db, observation_db, sharing_db
from cairn.storage.memory.schema import MEMORY
from cairn.storage.memory.sharing_db import SharedEvent

_REBUILD = Hint.of("doctor", rebuild_memory=True)


def examine_memory(state: StateDir) -> list[Finding]:
    """Compare what is derived in a memory with its events, and each event with its id; change nothing.

    What cannot be opened is left to `cairn.index.health`.
    """
    try:
        if words := note_of_loss(state):
            return [Finding("memory", "warning", words)]
        connection = state.open_existing(MEMORY)
    except CairnError:
        return []
    if connection is None:
        return []
    file = state.file_of(MEMORY)
    try:
        with closing(connection), store_errors(file, MEMORY), reading(connection):
            return [] if check(connection) else list(_examine(connection))  # what that finds, `health` tells
    except CairnError as error:
        return [Finding("events", "error", str(error), hint=MEMORY.way_out(file))]
    except UNFIT as error:
        return [Finding("memories", "error", f"{file} holds values that make no sense: {error}", "refold")]


def _examine(connection: sqlite3.Connection) -> Iterator[Finding]:
    rows = list(event_db.iter_events(connection))
    events = [parse_stored(*row) for row in rows]
    yield Finding("events", "ok", f"{pluralize(len(events), 'event')}, each as its id says")
    yield from examine_dates(connection)
    now = fold(events)
    if misfits := observation_db.find_misfits(connection, now):
        words = pluralize(len(misfits), "memory is", "memories are")
        yield Finding("memories", "error", f"{words} not what their events say", "refold")
        return
    yield Finding("memories", "ok", f"{pluralize(len(now), 'memory', 'memories')}, each as its events say")
    yield _examine_recall(connection, sum(not observation.is_redacted for observation in now.values()))


def _examine_recall(connection: sqlite3.Connection, wanted: int) -> Finding:
    """Compare what recall searches with how many memories there are."""
    if not derived.is_current(connection):
        return Finding("recall", "ok", "rebuilt by the next recall")
    try:
        found = len(load_corpus(connection, "", bundled_fingerprint(), ()).numbers)
    except sqlite3.DatabaseError as error:
        return Finding("recall", "error", str(error).removeprefix(MALFORMED), "refold", _REBUILD)
    if found == wanted:
        return Finding("recall", "ok", "all memories can be found")
    words = f"{found:,} of {pluralize(wanted, 'memory', 'memories')} can be found"
    return Finding("recall", "error", words, "refold", _REBUILD)


def examine_shared(state: StateDir, root: Path) -> list[Finding]:
    """Tell of files of shared memories that got lost before they were committed; nothing where there are none."""
    try:
        connection = state.open_existing(MEMORY)
        if connection is None:
            return []
        with closing(connection), store_errors(state.file_of(MEMORY), MEMORY):
            lost = _find_lost(connection, root)
    except CairnError:  # others tell
        return []
    if not lost:
        return []
    memories = pluralize(len({event.observation for event in lost}), "shared memory", "shared memories")
    words = f"{memories} cannot reach anybody: {pluralize(len(lost), 'file')} got lost before a commit"
    return [Finding("shared", "warning", words, "reshare")]


def _find_lost(connection: sqlite3.Connection, root: Path) -> list[SharedEvent]:
    try:
        there = SharedFolder(root).content().ids
    except (CairnError, OSError):  # whoever uses it is told
        return []
    return find_lost(connection, root, there)


def reshare(state: StateDir, root: Path) -> None:
    """Write files of shared memories again that got lost before they were committed; then commit them.

    Raises:
        StoreError: if the memory cannot be opened or written.
    """
    store = MemoryStore(state, derived.derive)
    try:
        with store.writing() as connection:
            sharing_db.mark_lost(connection, [event.id for event in _find_lost(connection, root)])
        SharedMemories(root, state.tell).sync(store)
    finally:
        store.close()


def examine_spool(spool: Spool) -> list[Finding]:
    """Say how many events wait to be taken in, and which files hold none; nothing where neither is so."""
    findings = []
    if n_waiting := spool.count():
        words = pluralize(n_waiting, "event waits", "events wait")
        findings.append(Finding("waiting", "ok", f"{words} to be taken in, which the next one does"))
    if bad := spool.bad_files():
        words = pluralize(len(bad), "file holds", "files hold")
        hint = f"look at what ends in {bad[0].suffix} there, then remove it"
        findings.append(
            Finding("waiting", "warning", f"{words} no event that can be taken in: {spool.folder}", hint=hint)
        )
    return findings


def rebuild_memory(state: StateDir) -> int:
    """Rebuild everything that is derived in a memory, and return how many memories there are.

    Raises:
        StoreDamagedError: if an event is not what its id says; then nothing is changed.
        StoreError: if it cannot be opened or written.
    """
    store = MemoryStore(state, derived.derive)
    if not store.exists:
        return 0
    try:
        with store.writing() as connection:
            store.refold()
            return derived.rebuild(connection)
    finally:
        store.close()


def redate_memory(state: StateDir) -> None:
    """Date events anew that were made while this machine's clock was wrong.

    Raises:
        StoreDamagedError: if an event is not what its id says; then nothing is changed.
        StoreError: if it cannot be opened or written.
    """
    store = MemoryStore(state, derived.derive)
    try:
        redate(store)
    finally:
        store.close()


def adopt_memory(state: StateDir) -> int:
    """Take over a memory that was made elsewhere, and return how many memories it holds; -1 if it is here already.

    What is derived in it is rebuilt.

    Raises:
        NotFoundError: if there is none.
        StoreDamagedError: if it is damaged; then nothing is changed.
        StoreError: if it cannot be opened or written.
    """
    if not state.adopt(MEMORY, _judge):
        return -1
    return rebuild_memory(state)


def _judge(connection: sqlite3.Connection) -> None:
    for id, body in list(event_db.iter_events(connection)):
        parse_stored(id, body)
