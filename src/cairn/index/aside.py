"""Moves rebuildable state aside and keeps it for a while: a damaged index, or files that another user made.

A store of truth is never moved, so none is listed here.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

from cairn.errors import StoreError
from cairn.index.seal import SEAL
from cairn.index.state_files import LOGS, StateFiles, is_derived
from cairn.storage.catalog import STORES
from cairn.storage.store import Store

# What may be moved, each with its logs.
_DATABASES = tuple(store.file_name for store in STORES if not store.is_truth)
_ASIDE = re.compile(
    rf"(?:{'|'.join(map(re.escape, _DATABASES))}|derived|seal)\.(?:damaged|foreign)-[0-9-]+(?:-wal|-shm|-journal)?"
)
_MAX_ASIDE = 3  # how many sets of another user's files are kept


def set_aside(state: StateFiles, store: Store) -> None:
    """Move the database of a store out of the way.

    Raises:
        ValueError: of a store of truth.
        StoreError: if it cannot be moved.
    """
    if store.is_truth:
        raise ValueError(f"{store.name} is nowhere else")
    stamp = _stamp(state)
    file = state.file_of(store)
    for suffix in ("", *LOGS):
        _move(Path(f"{file}{suffix}"), Path(f"{file}.damaged-{stamp}{suffix}"))


def set_foreign_aside(state: StateFiles) -> str:
    """Move aside all rebuildable files that this user did not make; the last few sets are kept.

    Returns:
        the timestamp used in the new names, empty if there was nothing to move.

    Raises:
        StoreError: if something cannot be moved.
    """
    stamp = _stamp(state)
    moved = [
        _move(state.path / f"{name}{suffix}", state.path / f"{name}.foreign-{stamp}{suffix}")
        for name in _DATABASES
        for suffix in ("", *LOGS)
    ]
    if _has_derived(state.derived):
        moved.append(_move(state.derived, Path(f"{state.derived}.foreign-{stamp}")))
    if (state.path / SEAL).is_dir():  # the remaining files are overwritten later
        moved.append(_move(state.path / SEAL, state.path / f"{SEAL}.foreign-{stamp}"))
    if not any(moved):
        return ""
    _remove_foreign(state)
    return stamp


def files_set_aside(state: StateFiles) -> list[Path]:
    """Return what was moved out of the way, databases with their logs."""
    try:
        return sorted(state.path / name for name in os.listdir(state.path) if _ASIDE.fullmatch(name))
    except OSError:
        return []


def size_set_aside(state: StateFiles) -> tuple[int, int]:
    """Return how many files were moved aside, counting those inside folders, and their total bytes."""
    count = size = 0
    for path in files_set_aside(state):
        is_folder = path.is_dir() and not path.is_symlink()
        inner = [Path(folder) / name for folder, _, names in os.walk(path) for name in names] if is_folder else [path]
        for file in inner:
            with suppress(OSError):  # deleted meanwhile
                size += file.lstat().st_size
                count += 1
    return count, size


def remove_set_aside(state: StateFiles, before: float) -> None:
    """Delete what was moved aside before a time in seconds since the epoch."""
    for file in files_set_aside(state):
        with suppress(OSError):  # in use, or already gone
            if file.lstat().st_ctime <= before:
                _remove(file)


def _has_derived(derived: Path) -> bool:
    """Tell whether the folder of derived files holds anything."""
    try:
        if not stat.S_ISDIR(os.lstat(derived).st_mode):
            return True
        return bool(os.listdir(derived))
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _stamp(state: StateFiles) -> str:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    taken = any(stamp in file.name for file in files_set_aside(state))
    return f"{stamp}-{time.time_ns() % 1_000_000_000:09}" if taken else stamp


def _move(file: Path, to: Path) -> bool:
    """Rename whatever is there, without following links; return whether there was anything."""
    try:
        os.lstat(file)
        file.replace(to)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(f"cannot move {file} aside: {error.strerror}", f"move or remove {file}") from error
    return True


def _remove_foreign(state: StateFiles) -> None:
    """Delete all but the last few sets of another user's files."""
    files = [file for file in files_set_aside(state) if ".foreign-" in file.name]
    stamps = sorted({_stamp_in(file) for file in files})
    for file in files:
        if _stamp_in(file) not in stamps[-_MAX_ASIDE:]:
            _remove(file)


def _stamp_in(file: Path) -> str:
    return file.name.partition(".foreign-")[2].partition("-wal")[0].partition("-shm")[0].partition("-journal")[0]


def _remove(path: Path) -> None:
    """Delete a file or link that was set aside; in a folder, only files with names of ours."""
    with suppress(OSError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
        for name in os.listdir(path):
            if is_derived(name):
                os.unlink(path / name)
        path.rmdir()
