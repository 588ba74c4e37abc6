"""Tells a state folder made by this user on this machine from one that came with a repository or an archive.

A folder of this user carries a seal: an id and a secret. The user's own state folder records the secret of each id,
and what must not be read from the index itself: which models it was embedded with and where they run. So a seal stays
valid when the folder is moved or copied, and only those who can write the user's files can make one. Imports little,
because hooks and commands ask this first.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cairn.errors import StoreError, StoreLockedError, UnsafeStateError
from cairn.folders import check_private, state_folder
from cairn.index.tracked import find_tracked
from cairn.storage.atomic import write_file
from cairn.storage.lock import file_lock
from cairn.storage.own_files import check_folder, read_own

SEAL = "seal"
_FOLDER = "indexes"
_KEPT = "kept"
_FORM = r"cairn 1 ([0-9a-f]{32}) ([0-9a-f]{64})\n"
_MAX_SEAL_BYTES = 200
_MAX_RECORD_BYTES = 1_000_000
_LOCK_SECONDS = 10.0
# If there are many records, those unused for this long are dropped; the index is then rebuilt.
_MANY_RECORDS = 2_000
_OLD_SECONDS = 400 * 86_400.0
_LOOK_EVERY = 64  # new records between two clean-ups
_TOUCH_SECONDS = 30 * 86_400.0


class Seal(NamedTuple):
    """The seal of a state folder. This user's processes all know the id; nobody else knows the secret."""

    id: str
    secret: str


# Records that could not be written anywhere; they last as long as this process.
_unwritten: dict[str, dict[str, Any]] = {}


def find_seal(state: Path) -> Seal | None:
    """Return the seal of a state folder if this user made the folder, else None.

    Raises:
        UnsafeStateError: if others can write the folder of the user's records.
    """
    seal = _read(state)
    if seal is None:
        return None
    record = read_record(seal)
    return seal if record is not None else None


def is_sealed_index(state: Path) -> bool:
    """Tell whether a folder is a state folder of this user with an index; False if in doubt."""
    try:
        os.lstat(state / "index.db")
        check_folder(state)
        return find_seal(state) is not None
    except (OSError, StoreError):
        return False


def make_seal(state: Path) -> Seal:
    """Give a new seal to a state folder that has no valid one, and return it.

    The caller holds a lock.

    Raises:
        UnsafeStateError: as `find_seal`.
        OSError: if the state folder cannot be written.
    """
    seal = Seal(os.urandom(16).hex(), os.urandom(32).hex())
    _keep(seal.id, {"secret": seal.secret})
    write_file(state / SEAL, f"cairn 1 {seal.id} {seal.secret}\n".encode("ascii"), mode=0o600)
    return seal


def break_seal(state: Path) -> None:
    """Remove a state folder's seal, so that its content is set aside before the next use."""
    with suppress(OSError):
        check_folder(state)
        (state / SEAL).unlink()


def is_kept(seal: Seal) -> bool:
    """Tell whether later processes will know the seal."""
    return seal.id not in _unwritten


def read_record(seal: Seal) -> Mapping[str, Any] | None:
    """Return the record of an index in the user's state folder, None if there is none.

    Raises:
        UnsafeStateError: if others can write that folder.
    """
    if (found := _find_record(seal.id)) is None or found[1].get("secret") != seal.secret:
        return None
    return found[1]


def keep_record(seal: Seal, state: Path) -> None:
    """Keep this folder's record for ever: without it, its store of truth would count as somebody else's."""
    change_record(seal, lambda record: record.update({_KEPT: str(state)}))


def drop_record(seal: Seal) -> None:
    """Undo `keep_record`: no store of truth was made after all."""
    change_record(seal, lambda record: record.pop(_KEPT, None))


def is_kept_at(seal: Seal, state: Path) -> bool:
    """Tell whether this user made a store of truth in a folder under a given seal.

    Another of the user's environments, such as a container, may have resealed the folder since.
    """
    record = read_record(seal)
    return record is not None and record.get(_KEPT) == str(state)


def has_held_truth(state: Path) -> bool:
    """Tell whether a state folder ever held a store of truth; if it holds none now, someone removed it."""
    seal = find_seal(state)
    record = None if seal is None else read_record(seal)
    return record is not None and isinstance(record.get(_KEPT), str)


def change_record(seal: Seal, change: Callable[[dict[str, Any]], object]) -> bool:
    """Change the record of an index; return whether the change will outlive this process.

    Raises:
        UnsafeStateError: as `read_record`.
    """
    if (found := _find_record(seal.id)) is None:
        return False
    folder, record = found
    if folder is None:
        change(record)
        return False
    try:
        with file_lock(folder / "records.lock", _LOCK_SECONDS):
            record = dict(_load(folder, seal.id) or record)
            change(record)
            _write(folder, seal.id, record)
    except (OSError, StoreLockedError):
        return False
    return True


def _read(state: Path) -> Seal | None:
    try:
        text = read_own(state / SEAL, _MAX_SEAL_BYTES).decode("ascii", "replace")
    except (OSError, UnsafeStateError):
        return None
    found = re.fullmatch(_FORM, text)
    return Seal(*found.groups()) if found is not None else None


# -- the user's side ---------------------------------------------------------------------------------------------------


def record_folders() -> tuple[Path, ...]:
    """Return where records may be: the user's state folder, or if that is read-only, a temporary folder.

    Commands in sandboxes that share only a temporary folder can thus recognise each other's state.
    """
    owner = os.geteuid() if hasattr(os, "geteuid") else os.environ.get("USERNAME", "")
    wanted = os.environ.get("TMPDIR") or os.environ.get("TEMP") or ""
    shared = Path(wanted if os.path.isabs(wanted) else "/tmp") / f"cairn-{owner}" / _FOLDER
    return (shared,) if (own := _own_folder()) is None else (own / _FOLDER, shared)


def _own_folder() -> Path | None:
    try:
        folder = state_folder()
    except RuntimeError:  # the user has no HOME and no entry in the system's database
        return None
    return folder if folder.is_absolute() else None  # a relative one would be inside the project


def _is_usable(folder: Path) -> bool:
    """Tell whether a folder of records exists and can be trusted; see `_is_private`.

    It may be inside a checkout, as in CI jobs that keep everything below their working folder. Whatever git tracks
    there came with the repository.
    """
    return _is_private(folder.parent) and _is_private(folder) and not find_tracked(folder)


def _is_private(folder: Path) -> bool:
    """Tell whether a folder exists and only this user can write it.

    Raises:
        UnsafeStateError: if others can write the user's own folder; a temporary one may belong to anybody.
    """
    own = _own_folder()
    is_own = own in (folder, folder.parent)
    try:
        check_private(folder, follow=folder == own)
    except OSError:
        return False
    except UnsafeStateError:
        if is_own:
            raise
        return False
    return True


def _find_record(seal_id: str) -> tuple[Path | None, dict[str, Any]] | None:
    if (unwritten := _unwritten.get(seal_id)) is not None:
        return None, unwritten
    for folder in record_folders():
        if _is_usable(folder) and (record := _load(folder, seal_id)) is not None:
            return folder, record
    return None


def _load(folder: Path, seal_id: str) -> dict[str, Any] | None:
    file = folder / f"{seal_id}.json"
    try:
        record = json.loads(read_own(file, _MAX_RECORD_BYTES))
        if time.time() - os.lstat(file).st_mtime > _TOUCH_SECONDS:
            os.utime(file, follow_symlinks=False)
    except (OSError, ValueError, RecursionError, UnsafeStateError):
        return None
    return record if isinstance(record, dict) else None


def _keep(seal_id: str, record: dict[str, Any]) -> None:
    for folder in record_folders():
        try:
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(folder.parent):
                continue
            folder.mkdir(mode=0o700, exist_ok=True)
            if _is_usable(folder):
                _write(folder, seal_id, record)
                _forget_old(folder)
                return
        except OSError:
            continue
    _unwritten[seal_id] = record


def _write(folder: Path, seal_id: str, record: Mapping[str, Any]) -> None:
    write_file(folder / f"{seal_id}.json", json.dumps(record).encode("ascii"), mode=0o600)


def _forget_old(folder: Path) -> None:
    """Remove old records if there are many, but only now and then: it takes a fifth of a small index's build time."""
    with suppress(OSError):
        names = os.listdir(folder)
        if len(names) <= _MANY_RECORDS or len(names) % _LOOK_EVERY:
            return
        for file in (folder / name for name in names if re.fullmatch(r"[0-9a-f]{32}\.json", name)):
            is_old = time.time() - file.lstat().st_mtime > _OLD_SECONDS
            if is_old and not _is_for_ever(file):
                file.unlink()


def _is_for_ever(file: Path) -> bool:
    try:
        record = json.loads(read_own(file, _MAX_RECORD_BYTES))
    except (OSError, ValueError, RecursionError, UnsafeStateError):
        return False
    return isinstance(record, dict) and isinstance(record.get(_KEPT), str)
