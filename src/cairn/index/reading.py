"""Reads each file of a plan once and finds those that need parsing; imports nothing heavy."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cairn.digest import blake2b
from cairn.index.beside import Task
from cairn.index.limits import Progress
from cairn.index.plan import Plan
from cairn.index.views import View
from cairn.source.content import check_content, is_generated, normalize
from cairn.source.languages import detect_language
from cairn.source.objects import is_content_of
from cairn.storage.index import blob_db, view_db
from cairn.storage.index.view_db import FileRow, Origin
from cairn.types import FileStat, Skipped

HASH_BYTES = 16
HEAD_BYTES = 8_192


class Content(NamedTuple):
    """A file that was read: its hash, whether it may still be changing, and its git object if known.

    `is_generated` says that a program wrote the file.
    """

    file: FileStat
    content_hash: bytes
    racy: bool
    origin: Origin | None
    is_generated: bool


class PlanReader:
    """Reads the files of a plan.

    `rows` are files that need no parsing, and `origins` the git objects of known contents; the caller commits both and
    clears them. `skipped` are files that cannot be indexed. `left` counts the files still to do.

    Args:
        view: the files' view.
        connection: the index, to look up contents.
        plan: the files.
        progress: called for every file that is done.
    """

    def __init__(self, view: View, connection: sqlite3.Connection, plan: Plan, progress: Progress | None) -> None:
        self.rows: list[FileRow] = []
        self.origins: dict[Origin, int] = {}
        self.skipped: list[Skipped] = []
        self.left = len(plan.todo)
        self._view = view
        self._connection = connection
        self._todo = plan.todo
        self._objects = view.object_ids(plan.todo)
        self._progress = progress
        self._tell()

    def tasks(self) -> Iterator[Task[Content]]:
        """Read the files and yield those that need parsing; the caller calls `done` for each."""
        for file in self._todo:
            outcome = self._read(file)
            if isinstance(outcome, Task):
                yield outcome
                continue
            self.done()
            if outcome is not None:
                self.rows.append(outcome)

    def done(self) -> None:
        """Count one file as done."""
        self.left -= 1
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(len(self._todo) - self.left, len(self._todo))

    def _read(self, file: FileStat) -> FileRow | Task[Content] | None:
        """Return the finished row of a file that needs no parsing, else what to parse; None if the file vanished."""
        racy = self._view.is_racy(file)
        origin = self._origin(file)
        if origin is not None and (blob_id := view_db.find_origin(self._connection, origin)) is not None:
            return FileRow.of(file, blob_id, racy=racy)
        try:
            raw = self._view.read(file.path)
        except FileNotFoundError:
            self.skipped.append(Skipped(file.path, "vanished while indexing"))
            return None
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            self.skipped.append(Skipped(file.path, reason))
            return FileRow.of(file, None, racy=True, reason=reason)
        racy = racy or len(raw) != file.size
        data = normalize(raw)
        if unsuitable := check_content(data, file.path):
            return FileRow.of(file, None, racy=racy, reason=unsuitable)
        language = detect_language(file.path, data[:HEAD_BYTES])
        content_hash = blake2b(data, digest_size=HASH_BYTES).digest()
        blob_id = blob_db.find_blob(self._connection, content_hash, language.name)
        if origin is not None and not is_content_of(origin.object_id, raw):  # the file changed since git was asked
            origin = None
        if blob_id is not None:
            if origin is not None:
                self.origins[origin] = blob_id
            return FileRow.of(file, blob_id, racy=racy)
        by_program = is_generated(data, file.path)
        return Task(data, language.name, Content(file, content_hash, racy, origin, by_program))

    def _origin(self, file: FileStat) -> Origin | None:
        object_id = self._objects.get(file.path)
        return None if object_id is None else Origin(file.path, object_id, file.size)


def find_same(view: View, connection: sqlite3.Connection, plan: Plan) -> list[str]:
    """Return those of the files that a plan would read that are as the index has them, or skipped as before."""
    sizes = {path: row.size for path, row in plan.known.items()}
    alike = [file for file in plan.todo if sizes.get(file.path) == file.size]
    reader = PlanReader(view, connection, replace(plan, todo=alike), None)
    for _ in reader.tasks():  # a file to parse has new content
        reader.done()
    return [row.path for row in reader.rows if plan.blob_of(row.path) == row.blob_id]
