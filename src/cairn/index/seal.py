"""Tells a state folder that this user made on this machine from one that came with a repository or an archive.

Such a folder carries a seal: an id and a secret. The user's own state folder keeps the secret of each id, with what
belongs to the index and must not come from it: which models it was embedded with and where those are. So a seal holds
wherever the folder is moved or copied to, and only those who can write the user's files can make one. Imports little,
for hooks and commands ask this first.
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
# A record that was not used for so long is forgotten when there are many; the index is then made again.
_MANY_RECORDS = 2_000
_OLD_SECONDS = 400 * 86_400.0
_LOOK_EVERY = 64  # new records, where there are many
_TOUCH_SECONDS = 30 * 86_400.0


class Seal(NamedTuple):
    """What a state folder carries. The id is no secret to this user's processes; `secret` is known to nobody else."""

    id: str
    secret: str


# Of indexes whose record could be written nowhere: they hold for as long as this process lives.
_unwritten: dict[str, dict[str, Any]] = {}


def find_seal(state: Path) -> Seal | None:
    """Return the seal of a state folder if this user made it, else None.

    Raises:
        UnsafeStateError: if others can write what the user's records are kept in.
    """
    seal = _read(state)
    if seal is None:
        return None
    record = read_record(seal)
    return seal if record is not None else None


def is_sealed_index(state: Path) -> bool:
    """Tell whether a folder is a state folder of this user with an index in it; in doubt it is not."""
    try:
        os.lstat(state / "index.db")
        check_folder(state)
        return find_seal(state) is not None
    except (OSError, StoreError):
        return False


def make_seal(state: Path) -> Seal:
    """Give a state folder without a valid seal a new one, and return it.

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
    """Remove the seal of a state folder, so that its content is set aside before the next use."""
    with suppress(OSError):
        check_folder(state)
        (state / SEAL).unlink()


def is_kept(seal: Seal) -> bool:
    """Tell whether a later process will know the seal."""
    return seal.id not in _unwritten


def read_record(seal: Seal) -> Mapping[str, Any] | None:
    """Return what the user's state folder keeps for an index, None if it does not know the index.

    Raises:
        UnsafeStateError: if others can write that folder.
    """
    if (found := _find_record(seal.id)) is None or found[1].get("secret") != seal.secret:
        return None
    return found[1]


def keep_record(seal: Seal, state: Path) -> None:
    """Never forget this folder: it holds a store of truth, which would then count as somebody else's."""
    change_record(seal, lambda record: record.update({_KEPT: str(state)}))


def drop_record(seal: Seal) -> None:
    """Take back `keep_record`: no store of truth was made after all."""
    change_record(seal, lambda record: record.pop(_KEPT, None))


def is_kept_at(seal: Seal, state: Path) -> bool:
    """Tell whether this user made a store of truth in a folder when it carried some seal.

    Another environment of theirs, such as a container, may have given the folder a seal of its own since.
    """
    record = read_record(seal)
    return record is not None and record.get(_KEPT) == str(state)


def has_held_truth(state: Path) -> bool:
    """Tell whether a state folder ever held a store of truth: if none is there now, somebody took it away."""
    seal = find_seal(state)
    record = None if seal is None else read_record(seal)
    return record is not None and isinstance(record.get(_KEPT), str)


def change_record(seal: Seal, change: Callable[[dict[str, Any]], object]) -> bool:
    """Change what is kept for an index, and tell whether that will last.

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
    """Return where records may be: in the user's state folder, else, where that cannot be written, in a temporary one.

    So commands in sandboxes that share only a temporary folder agree on what is theirs.
    """
    owner = os.geteuid() if hasattr(os, "geteuid") else os.environ.get("USERNAME", "")
    wanted = os.environ.get("TMPDIR") or os.environ.get("TEMP") or ""
    shared = Path(wanted if os.path.isabs(wanted) else "/tmp") / f"cairn-{owner}" / _FOLDER
    return (shared,) if (own := _own_folder()) is None else (own / _FOLDER, shared)


def _own_folder() -> Path | None:
    try:
        folder = state_folder()
    except RuntimeError:  # a user whom the system does not know, without HOME
        return None
    return folder if folder.is_absolute() else None  # else it would be inside the project


def _is_usable(folder: Path) -> bool:
    """Tell whether a folder of records is there and can be relied on; see `_is_private`.

    It may be inside a checkout, as in a pipeline that keeps everything below its working folder: what git tracks there
    came with the repository.
    """
    return _is_private(folder.parent) and _is_private(folder) and not find_tracked(folder)


def _is_private(folder: Path) -> bool:
    """Tell whether a folder exists and belongs to this user alone.

    Raises:
        UnsafeStateError: if others can write the user's own folder; a temporary one may be anybody's.
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
    """Remove old records where there are many, but not each time: that takes a fifth of the build of a small index."""
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
