"""Carries out a plan file by file, so that the next run can recover from any interruption."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cairn.documents.files import delete_file, write_file
from cairn.errors import CairnError, StoreError
from cairn.hints import Hint
from cairn.install.plan import FileChange
from cairn.install.record import RecordFile, Records

_LITTER = re.compile(r"[0-9]{6,17}\.tmp")
Write = Callable[[FileChange], None]


class Outcome(NamedTuple):
    """The outcome of a plan: the files written, in order, and those that failed."""

    written: tuple[FileChange, ...]
    failed: tuple[FileChange, ...]


def write_change(change: FileChange) -> None:
    """Write one file atomically, or remove it.

    Raises:
        ConfigError: if it cannot be written, or has changed since the plan was made.
    """
    if change.after is not None:
        write_file(change.file, change.before, change.after)
    elif change.before is not None:
        delete_file(change.file, change.before)


def apply(changes: Sequence[FileChange], file: RecordFile, known: Records, write: Write = write_change) -> Outcome:
    """Carry out a plan.

    What is about to be written is recorded first, and what was written before is forgotten last. So after any
    interruption, a second run or a removal finds each file either as it was or as it should be.

    Args:
        changes: the planned changes.
        file: that of the records.
        known: the records on which the plan is based.
        write: writes or removes one file; a seam for tests.

    Raises:
        StoreError: if the records cannot be written or have changed; nothing is written then.
    """
    records = _after(changes, known)
    to_write = [change for change in changes if change.is_change]
    if not to_write and records == known:
        return Outcome((), ())
    with file.lock():
        if file.read() != known:
            raise StoreError("another process has just written agents' files", Hint("run it again", "init"))
        if to_write:
            file.write({**known, **{name: record for name, record in records.items() if record != known.get(name)}})
        written, failed = [], []
        for change in to_write:
            try:
                write(change)
                written.append(change)
            except CairnError as error:
                failed.append(change._replace(problem=error))
                records = _with(records, change, known)
        for change in changes:
            _remove_litter(change.file)
            if change.problem is None and not os.path.lexists(change.file):
                _remove_empty(change.folders)
        file.write({name: record._replace(earlier=None) for name, record in records.items()})
    return Outcome(tuple(written), tuple(failed))


def _after(changes: Sequence[FileChange], known: Records) -> Records:
    """Return the records after the changes."""
    records = dict(known)
    for change in changes:
        if change.problem is None:
            records.pop(str(change.file), None)
            if change.record is not None:
                records[str(change.file)] = change.record
    return records


def _with(records: Records, change: FileChange, known: Records) -> Records:
    """Return the records with the state of a file that could not be written."""
    name = str(change.file)
    kept = {other: record for other, record in records.items() if other != name}
    return {**kept, name: known[name]} if name in known else kept


def _remove_litter(file: Path) -> None:
    """Remove leftovers of a process that was killed while writing a file; see `cairn.storage.atomic`."""
    with suppress(OSError):
        for name in os.listdir(file.parent):
            if name.startswith(f"{file.name}.") and _LITTER.fullmatch(name.removeprefix(f"{file.name}.")):
                os.unlink(file.parent / name)


def _remove_empty(folders: Sequence[str]) -> None:
    """Remove empty folders, innermost first."""
    for folder in reversed(folders):
        with suppress(OSError):  # not empty, or gone
            os.rmdir(folder)
