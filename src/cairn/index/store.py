"""The state folder of one project: where its files are, and how they are opened, checked and set aside."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote

from cairn.errors import (
    CairnError,
    IndexDamagedError,
    IndexForeignError,
    IndexMissingError,
    IndexVersionError,
    StoreError,
    TrackedStateError,
    UnsafeStateError,
)
from cairn.index.seal import SEAL, Seal, break_seal, find_seal, is_kept, make_seal
from cairn.index.tracked import find_place, is_decisive, tracked_state
from cairn.storage import meta_db
from cairn.storage.connection import Inspect, connect, connect_for_reading, mapped_errors
from cairn.storage.index_schema import MIGRATIONS, NEWEST
from cairn.storage.lock import write_lock
from cairn.storage.migrations import Schema, check_schema, migrate, read_schema
from cairn.storage.own_files import ELSEWHERE, check_folder, create_new, is_own_file, open_own, read_own
from cairn.warning import warn

_GITIGNORE = "# Everything here is rebuilt by Cairn, except what is meant to be shared.\n*\n!config.yaml\n!core.yaml\n!shared/\n!shared/**\n"  # noqa: E501

_PARTS = {".seg": "segments", ".arr": "views", ".paths": "views", ".vec": "overlays", ".hnsw": "graphs"}

_NAME_BYTES = 16
_LOGS = ("-wal", "-shm", "-journal")
# What holds only under a seal, each with its logs: whatever else is ever kept here belongs on this list.
_DATABASES = ("index.db",)
# Nothing else in `derived/` is ever deleted.
_DERIVED = re.compile(
    r"(?:[0-9a-f]{32}\.(?:seg|hnsw|vec|paths|arr)|view-\d+-\d+\.arr|graph-\d+(?:-\d+)?\.arr)(?:\.\d+\.(?:tmp|graph))?"
)
_ASIDE = re.compile(r"(?:index\.db|derived|seal)\.(?:damaged|foreign)-[0-9-]+(?:-wal|-shm|-journal)?")
_NOT_YOURS = "is of an older version of Cairn, or was not made by you on this machine"
_MAX_ASIDE = 3  # of what was not this user's
_MAX_ERROR_BYTES = 100_000
_SEAL_SECONDS = 10.0
# What was set aside, by folder, until somebody is told.
_notices: dict[Path, str] = {}
UNWRITABLE = "unwritable"  # the kind of warnings that the user's state folder cannot be written


_META = MIGRATIONS[0].statements[:1]


def new_name() -> str:
    """Return a name that no file in `derived/` has or ever had."""
    return os.urandom(_NAME_BYTES).hex()


@dataclass(frozen=True, slots=True)
class StateDir:
    """Paths of the files that make up one project's state."""

    path: Path

    @property
    def database(self) -> Path:
        """The manifest, which says what all the other files are."""
        return self.path / "index.db"

    @property
    def lock(self) -> Path:
        """The file a writer locks."""
        return self.path / "index.lock"

    @property
    def last_error(self) -> Path:
        """Why the last run failed, as JSON; not there when it did not."""
        return self.path / "last-error.json"

    @property
    def derived(self) -> Path:
        """The folder of files that can be rebuilt."""
        return self.path / "derived"

    def segment(self, name: str) -> Path:
        """The file of a segment."""
        return self._file(name, "seg")

    def neighbours(self, name: str) -> Path:
        """The file of a segment's graph of near vectors; most segments have none."""
        return self._file(name, "hnsw")

    @property
    def neighbours_lock(self) -> Path:
        """The file that whoever builds graphs locks."""
        return self.path / "neighbours.lock"

    def overlay(self, name: str) -> Path:
        """The file of vectors of another model."""
        return self._file(name, "vec")

    @property
    def embedding_lock(self) -> Path:
        """The file that whoever embeds with another model locks."""
        return self.path / "embedding.lock"

    def locks(self) -> tuple[Path, ...]:
        """The files that are locked, each by who does one kind of work."""
        return self.lock, self.embedding_lock, self.neighbours_lock, self.path / "seal.lock"

    def logs(self) -> tuple[Path, ...]:
        """The files that SQLite keeps beside the database."""
        return tuple(Path(f"{self.database}{suffix}") for suffix in _LOGS)

    @property
    def embedding_log(self) -> Path:
        """What the last run in the background said."""
        return self.path / "embedding.log"

    def layout(self, name: str) -> Path:
        """The file of what follows from the paths of a view, which all views with the same paths share."""
        return self._file(name, "paths")

    def view(self, name: str) -> Path:
        """The file of a view's arrays in one generation."""
        return self._file(name, "arr")

    def _file(self, name: str, kind: str) -> Path:
        """Return a derived file.

        Raises:
            IndexDamagedError: if the name is none that was given, such as one that leads out of the folder.
        """
        if not (name.isascii() and name.isalnum()):
            raise IndexDamagedError(f"{self.database} names a file that cannot be: {name[:80]!r}", "cairn index")
        return self.derived / f"{name}.{kind}"

    def graph(self, view_id: int) -> Path:
        """The file of a view's symbol graph; it may be missing, or older than the view."""
        return self.derived / f"graph-{view_id}.arr"

    def check(self) -> Seal | None:
        """Make sure that the folder is a real one of this user, and that nothing in it comes with a repository.

        A folder that is not there is in order.

        Returns:
            its seal, None if it has none that holds: then an update sets aside what is in it.

        Raises:
            UnsafeStateError: if the folder, what it is in inside its repository, or `derived` is a link, if one belongs
                to another user, or if everybody can write it.
            TrackedStateError: if git tracks what is not meant to be shared.
            StoreError: if one of them is no folder, or cannot be looked at.
        """
        seal = None
        try:
            self._check_way()
            check_folder(self.path)
            self.check_tracked()
            seal = find_seal(self.path)
            if seal is not None:  # without, an update sets it aside, whatever it is
                check_folder(self.derived)
        except FileNotFoundError:
            return seal
        except OSError as error:
            raise StoreError(f"cannot read {self.path}: {error.strerror}", ELSEWHERE) from error
        return seal

    def _check_way(self) -> None:
        """Refuse a folder that is reached through a link which a repository may have brought."""
        place = find_place(self.path)
        for folder in self.path.parents if place is not None else ():
            if place is None or folder == place.top:
                return
            if folder.is_symlink():
                raise UnsafeStateError(f"{folder} is a link, and the state folder would be behind it", ELSEWHERE)

    def is_tracked(self) -> bool:
        """Tell whether git tracks any of it that is not meant to be shared."""
        return bool(tracked_state(self.path))

    def check_tracked(self) -> None:
        """Make sure that git tracks nothing of it that is not meant to be shared.

        Raises:
            TrackedStateError: if it does.
        """
        tracked = tracked_state(self.path)
        if not tracked:
            return
        if any(map(is_decisive, tracked)) and SEAL not in tracked:
            break_seal(self.path)  # once git tracks it no more, it is still what came with the repository
        shown = ", ".join(tracked[:3]) + (", ..." if len(tracked) > 3 else "")
        remove = f"git -C {quote(str(self.path.parent))} rm -r --cached {self.path.name}, or "
        raise TrackedStateError(
            f"git tracks files in {self.path}, so they came with the repository and are not used: {shown}",
            (remove if self.path.name == ".cairn" else "") + ELSEWHERE,  # another folder may hold the whole project
        )

    def create(self) -> Seal:
        """Make the folder ready to be written, and return its seal: what this user did not make here is moved aside.

        Raises:
            UnsafeStateError, TrackedStateError: as `check`.
            StoreError: if it cannot be written.
        """
        try:
            return self._create()
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise StoreError(
                f"cannot write {self.path}: {error.strerror}",
                "free some space, then run: cairn index"
                if full
                else "make it writable, or set CAIRN_STATE_DIR to a folder that is",
            ) from error

    def _create(self) -> Seal:
        if not os.path.lexists(self.path):
            self._check_way()
            if not self.path.parent.is_dir():
                self.path.parent.mkdir(parents=True)
            with suppress(FileExistsError):
                self.path.mkdir(mode=0o755)
        else:
            self._close_to_others()
        seal = self.check() or self._sealed()
        if not os.path.lexists(self.derived):
            with suppress(FileExistsError):
                self.derived.mkdir(mode=0o755)
        check_folder(self.derived)
        ignore = self.path / ".gitignore"
        if not os.path.lexists(ignore):
            with suppress(FileExistsError):
                descriptor = open_own(ignore, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                    stream.write(_GITIGNORE)
        return seal

    def _sealed(self) -> Seal:
        """Seal the folder after all in it was set aside, unless another process does."""
        with write_lock(self.path / "seal.lock", _SEAL_SECONDS):
            if (seal := find_seal(self.path)) is not None:
                return seal
            self._set_foreign_aside()
            seal = make_seal(self.path)
        if not is_kept(seal):
            text = (
                "nothing can be written where Cairn keeps what belongs to you, so this index holds for one command; "
                "set XDG_STATE_HOME to a folder that is writable"
            )
            if not warn(UNWRITABLE, text):
                self._add_notice(text)
        return seal

    def _close_to_others(self) -> None:
        """Let nobody else write a folder of ours in which nothing counts yet: git makes it as the umask says."""
        facts = os.lstat(self.path)
        if stat.S_ISDIR(facts.st_mode) and facts.st_mode & stat.S_IWOTH and find_seal(self.path) is None:
            with suppress(OSError):  # then it is refused
                os.chmod(self.path, stat.S_IMODE(facts.st_mode) & ~stat.S_IWOTH)

    def open_for_writing(self, *, replace_newer: bool = False) -> sqlite3.Connection:
        """Open the database, creating it; a damaged one is moved aside, for it can be rebuilt in seconds.

        Args:
            replace_newer: move one that a newer version wrote aside, too.
        """
        seal = self.create()
        try:
            return self._open(seal)
        except IndexForeignError:
            self._set_foreign_aside()
            seal = self.create()
        except IndexDamagedError:
            self.set_aside()
        except IndexVersionError:
            if not replace_newer:
                raise
            self.set_aside()
        return self._open(seal)

    def open_for_reading(self) -> sqlite3.Connection:
        """Open the database of an index that exists.

        Raises:
            IndexMissingError: if nothing was indexed here yet.
            IndexForeignError: if what is here was not made by this user on this machine.
            IndexDamagedError: if the file is no database.
            UnsafeStateError, TrackedStateError: as `check`.
        """
        seal = self.check()
        if not os.path.lexists(self.database):
            raise IndexMissingError("this project is not indexed yet", "cairn index")
        if seal is None:
            raise self._is_foreign()
        return self._open(seal, connect_for_reading)

    def seal(self) -> Seal | None:
        """Return what ties the folder to the user's own state; None where nothing was indexed yet."""
        return find_seal(self.path)

    def _open(self, seal: Seal, opener: Callable[[Path, Inspect], sqlite3.Connection] = connect) -> sqlite3.Connection:
        for suffix in ("", *_LOGS):
            self._check_file(f"{self.database}{suffix}")
        connection = opener(self.database, partial(self._inspect, seal))
        try:
            with mapped_errors(self.database):
                begin = partial(meta_db.write_seal_id, seal=seal.id)
                migrate(connection, MIGRATIONS, "the index", begin)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_file(self, file: str) -> None:
        try:
            if is_own_file(file):
                return
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"cannot read {file}: {error.strerror}", ELSEWHERE) from error
        is_folder = os.path.isdir(file) and not os.path.islink(file)
        what = "is a folder, not a database" if is_folder else "is no file of this user's"
        raise IndexDamagedError(f"{file} {what}", "cairn index")

    def _inspect(self, seal: Seal, connection: sqlite3.Connection) -> None:
        """Judge a database before anything in it is used; see `check_schema`.

        Raises:
            IndexDamagedError: if its schema is not ours.
            IndexForeignError: if it was made in another state folder.
        """
        schema = read_schema(connection)
        check_schema(schema, MIGRATIONS, NEWEST, str(self.database))
        if schema == Schema(0, ()):
            return  # a new one
        if not any(row[:2] == ("table", "meta") and row[3] in _META for row in schema.rows):
            raise IndexDamagedError(f"{self.database} has a schema that is not of Cairn", "cairn index --full")
        if meta_db.seal_id(connection) != seal.id:
            raise self._is_foreign()

    def _is_foreign(self) -> IndexForeignError:
        return IndexForeignError(f"the index in {self.path} {_NOT_YOURS}", "cairn index")

    def disk_bytes(self) -> int:
        """Return the size of all files in the folder."""
        return sum(self.sizes().values())

    def sizes(self) -> dict[str, int]:
        """Return how many bytes the files in the folder take, by what they are for."""
        sizes = dict.fromkeys(("database", *_PARTS.values(), "other"), 0)
        for folder, _, names in os.walk(self.path):
            for name in names:
                part = "database" if name.startswith("index.db") else _PARTS.get(os.path.splitext(name)[1], "other")
                with suppress(OSError):  # it went meanwhile
                    sizes[part] += os.lstat(os.path.join(folder, name)).st_size
        return sizes

    def record_error(self, error: CairnError) -> None:
        """Keep why a run failed, for whoever asks later."""
        document = {"code": error.code, "message": str(error), "hint": error.hint, "at": time.time()}
        new = self.last_error.with_name(f"{self.last_error.name}.{os.getpid()}.tmp")
        with suppress(OSError, StoreError):  # the error may be that nothing can be written
            if self.check() is not None:
                with os.fdopen(create_new(new), "w", encoding="utf-8") as stream:
                    json.dump(document, stream)
                new.replace(self.last_error)

    def clear_error(self) -> None:
        """Forget why a run failed, for one has succeeded since."""
        with suppress(OSError):
            self.last_error.unlink(missing_ok=True)

    def read_error(self) -> dict[str, object] | None:
        """Return why the last run failed, None when it did not."""
        try:
            document = json.loads(read_own(self.last_error, _MAX_ERROR_BYTES))
        except (OSError, ValueError, UnsafeStateError, RecursionError):  # none, half of one, or not ours
            return None
        return document if isinstance(document, dict) else None

    def take_notice(self) -> str:
        """Return what there is to say of the folder since the last call, empty for nothing."""
        return _notices.pop(self.path, "")

    def _add_notice(self, text: str) -> None:
        _notices[self.path] = "; ".join(filter(None, (_notices.get(self.path), text)))

    def set_aside(self) -> None:
        """Move a damaged database out of the way, keeping it for whoever wants to look."""
        self.check()
        stamp = self._stamp()
        for suffix in ("", *_LOGS):
            self._move(Path(f"{self.database}{suffix}"), Path(f"{self.database}.damaged-{stamp}{suffix}"))

    def _set_foreign_aside(self) -> None:
        """Move all out of the way that this user did not make; the last few such times are kept."""
        stamp = self._stamp()
        moved = [
            self._move(self.path / f"{name}{suffix}", self.path / f"{name}.foreign-{stamp}{suffix}")
            for name in _DATABASES
            for suffix in ("", *_LOGS)
        ]
        if self._has_derived():
            moved.append(self._move(self.derived, Path(f"{self.derived}.foreign-{stamp}")))
        if (self.path / SEAL).is_dir():  # what else is there is replaced
            moved.append(self._move(self.path / SEAL, self.path / f"{SEAL}.foreign-{stamp}"))
        with suppress(OSError):
            self.last_error.unlink(missing_ok=True)
        if any(moved):
            self._add_notice(
                f"the index in {self.path} {_NOT_YOURS}, so it was moved aside (*.foreign-{stamp}) and is built again"
            )
            self._remove_foreign()

    def _has_derived(self) -> bool:
        """Tell whether there is anything where the derived files belong."""
        try:
            if not stat.S_ISDIR(os.lstat(self.derived).st_mode):
                return True
            return bool(os.listdir(self.derived))
        except FileNotFoundError:
            return False
        except OSError:
            return True

    def _stamp(self) -> str:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        taken = any(stamp in one.name for one in self.set_aside_files())
        return f"{stamp}-{time.time_ns() % 1_000_000_000:09}" if taken else stamp

    def _move(self, file: Path, to: Path) -> bool:
        """Rename what is there, links as such, and tell whether something was."""
        try:
            os.lstat(file)
            file.replace(to)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreError(f"cannot move {file} aside: {error.strerror}", f"move or remove {file}") from error
        return True

    def set_aside_files(self) -> list[Path]:
        """Return what was moved out of the way, databases with their logs."""
        try:
            return sorted(self.path / name for name in os.listdir(self.path) if _ASIDE.fullmatch(name))
        except OSError:
            return []

    def remove_set_aside(self, before: float) -> None:
        """Delete what was moved out of the way before some time, in seconds since the epoch."""
        for file in self.set_aside_files():
            with suppress(OSError):  # in use, or not there any more
                if file.lstat().st_ctime <= before:
                    _remove(file)

    def _remove_foreign(self) -> None:
        """Keep what was last moved aside as not this user's."""
        files = [one for one in self.set_aside_files() if ".foreign-" in one.name]
        stamps = sorted({_stamp_in(one) for one in files})
        for file in files:
            if _stamp_in(file) not in stamps[-_MAX_ASIDE:]:
                _remove(file)

    def remove_unlisted(self, keep: set[Path]) -> None:
        """Delete derived files that no generation names any more. Readers that have them mapped keep them."""
        check_folder(self.derived)
        for path in self.derived_files():
            if path not in keep:
                try:
                    os.unlink(path)
                except OSError:
                    continue  # in use on systems that refuse; the next run tries again

    def derived_files(self) -> Iterator[Path]:
        """Yield all in `derived/` that has a name of ours."""
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(self.derived) as entries:
            yield from (Path(one.path) for one in entries if _DERIVED.fullmatch(one.name))


def _stamp_in(file: Path) -> str:
    return file.name.partition(".foreign-")[2].partition("-wal")[0].partition("-shm")[0].partition("-journal")[0]


def _remove(path: Path) -> None:
    """Delete a file or link that was set aside; of a folder only what has names of ours, the rest stays."""
    with suppress(OSError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
        for name in os.listdir(path):
            if _DERIVED.fullmatch(name):
                os.unlink(path / name)
        path.rmdir()
