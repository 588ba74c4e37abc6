"""What the index holds of the code of one view: definitions and facts by blob. All SQL of the symbol graph is here."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from cairn import waiting
from cairn.errors import IndexMovedError, StoreError
from cairn.graph.table import Row
from cairn.index.snapshot import Snapshot
from cairn.index.state_dir import StateDir
from cairn.source.facts import FACTS_FORMAT
from cairn.storage.connection import reading, store_errors, transaction
from cairn.storage.index import blob_db, chunk_db, meta_db, view_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.types import Definition

Stamp = tuple[int, int]  # the size of a file and its time in nanoseconds; (-1, -1) for none

LOOK_EVERY = 1_024  # small steps, after which the work stops if nobody waits for it any more
_T = TypeVar("_T")


class StoredCode:
    """Reads the definitions and facts of one snapshot from the index, and stores new facts there.

    Attributes:
        connection: what the index is read through; facts are written through it as well.
        view_id: of the view, -1 for one that the index does not have.
    """

    def __init__(self, snapshot: Snapshot, connection: sqlite3.Connection, state: StateDir, view_name: str) -> None:
        self.connection = connection
        self.snapshot = snapshot
        self.identity = snapshot.state.identity
        self._state = state
        self._view_name = view_name
        view = view_db.find_view(connection, view_name)
        self.view_id = view.id if view is not None else -1

    # -- blobs --------------------------------------------------------------------------------------------------------

    def read_blob(self, blob: int) -> Sequence[Definition]:
        """Return what a blob of the view defines.

        Raises:
            IndexMovedError: if the index no longer holds the blob.
        """
        with store_errors(self._state.database, INDEX), reading(self.connection):
            if not self.hashes([blob]) or meta_db.identity(self.connection) != self.identity:
                raise _moved_error()
            return chunk_db.read_definitions(self.connection, [blob]).get(blob, ())

    def read_definitions(self, blob: int) -> Sequence[Definition] | None:
        """Return what any blob defines, None if the index no longer holds it."""
        if not self.hashes([blob]):
            return None
        return chunk_db.read_definitions(self.connection, [blob]).get(blob, ())

    def hashes(self, blobs: Sequence[int]) -> dict[int, bytes]:
        """Return the hashes of the contents of some blobs, as far as the index holds them."""
        return blob_db.read_blob_hashes(self.connection, blobs)

    def facts(self, blob: int) -> bytes | None:
        """Return the facts of a blob as bytes, None if the index has none."""
        return blob_db.read_facts(self.connection, [blob]).get(blob)

    def blobs_with_facts(self, blobs: Sequence[int]) -> set[int]:
        """Return those of some blobs that the index has facts of."""
        return blob_db.blobs_with_facts(self.connection, blobs, FACTS_FORMAT)

    def places_of(self, name: str, *, are_tests: bool) -> Iterable[tuple[int, int]]:
        """Return (blob, place in it) of the definitions of a name, of tests or of all others."""
        return chunk_db.exact_definitions(self.connection, name, are_tests=are_tests)

    @contextmanager
    def all_definitions(self) -> Iterator[Iterable[Row]]:
        """Give the definitions of all blobs to be read during the block.

        Raises:
            IndexMovedError: if the index is another one by now.
            BusyError: while they are read, once nobody waits for them.
        """
        with store_errors(self._state.database, INDEX), reading(self.connection):
            if meta_db.identity(self.connection) != self.identity:
                raise _moved_error()
            yield _while_waited_for(chunk_db.iter_definitions(self.connection))

    # -- stamps -------------------------------------------------------------------------------------------------------

    def read_stamps(self) -> list[Stamp]:
        """Return the stamps of the files of the snapshot, in their order."""
        files = self.snapshot.files
        # A file whose row has another blob by now was committed but is not in the snapshot yet: its stamp says nothing.
        rows = view_db.iter_files(self.connection, self.view_id)
        stamps = {(row.path, row.blob_id): (row.size, row.mtime_ns) for row in rows}
        return [stamps.get(shown, (-1, -1)) for shown in zip(files.paths, files.blob_ids.tolist(), strict=True)]

    def stamps_of(self, blobs: Mapping[str, int]) -> dict[str, Stamp]:
        """Return the stamps of some files as the index has them now, by path, where they still show these blobs."""
        return view_db.file_stamps(self.connection, self._view_name, blobs)

    # -- writing ------------------------------------------------------------------------------------------------------

    @property
    def is_in_question(self) -> bool:
        """Whether a question reads through the connection, in one transaction."""
        return self.connection.in_transaction

    def store_facts(self, facts: Iterable[tuple[int, bytes, bytes]]) -> bool:
        """Store facts, given as (blob, hash of its content, facts as bytes); return whether that succeeded.

        It does not where another process is writing, or nobody may write. A question reads one state of the index in
        one transaction. That ends before facts are written, and another begins afterwards.
        """
        try:
            with (
                store_errors(self._state.database, INDEX),
                write_lock(self._state.lock, 0, INDEX),
                self._outside_of_question(),
                transaction(self.connection),
            ):
                blob_db.put_facts(self.connection, facts)
        except StoreError:
            return False
        return True

    def check_unmoved(self) -> None:
        """Make sure that the index is in the state of the snapshot.

        Raises:
            IndexMovedError: if another process wrote to it since.
        """
        if meta_db.state(self.connection) != self.snapshot.state:
            raise _moved_error()

    @contextmanager
    def _outside_of_question(self) -> Iterator[None]:
        """End the transaction of a question for the length of the block, so that it can write."""
        if not self.connection.in_transaction:
            yield
            return
        self.connection.execute("COMMIT")
        try:
            yield
        finally:
            self.connection.execute("BEGIN")


def _moved_error() -> IndexMovedError:
    return IndexMovedError("another process changed the index meanwhile", "run the command again")


def _while_waited_for(rows: Iterable[_T]) -> Iterator[_T]:
    """Yield rows as long as anybody waits for what is made of them."""
    for number, row in enumerate(rows):
        if not number % LOOK_EVERY:
            waiting.check()
        yield row
