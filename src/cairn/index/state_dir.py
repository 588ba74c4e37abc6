"""The state folder of one project: checks that it is this user's own, and opens its databases."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Set
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from shlex import quote

from cairn.errors import (
    IndexForeignError,
    IndexMissingError,
    NotFoundError,
    StoreError,
    TrackedStateError,
    UnsafeStateError,
    is_disk_full,
)
from cairn.hints import Hint
from cairn.index import aside
from cairn.index.seal import (
    SEAL,
    Seal,
    break_seal,
    drop_record,
    find_seal,
    has_held_truth,
    is_kept,
    is_kept_at,
    keep_record,
    make_seal,
)
from cairn.index.state_files import LOGS, StateFiles, unlisted
from cairn.index.tracked import find_place, find_tracked, is_decisive
from cairn.storage.atomic import write_file
from cairn.storage.connection import Inspect, check, connect, connect_for_reading, store_errors, transaction
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.storage.migrations import Schema, check_schema, migrate, read_schema
from cairn.storage.own_files import ELSEWHERE, check_folder, is_own_file, open_own
from cairn.storage.sealed import (
    has_seal_table,
    read_seal_id,
    read_seal_secrets,
    write_seal_id,
    write_seal_secret,
)
from cairn.storage.store import Store
from cairn.warning import warn

_GITIGNORE = """\
# The index, which Cairn rebuilds, and memory.db, which nothing rebuilds: what was remembered. Shared through git are:
*
!config.yaml
!core.yaml
!shared/
!shared/**
"""
_NOT_YOURS = "is of an older version of Cairn, or was not made by you on this machine"
_NAME_BYTES = 16
_TRUTH_MODE = 0o600  # memories are private to their user
_SEAL_SECONDS = 10.0
# Of a database file, see https://sqlite.org/fileformat.html. The first page lists the tables; each has its own page.
_HEAD_BYTES = 100
_PAGE_BYTES, _VERSION = slice(16, 18), slice(60, 64)
# What was set aside, by folder, until the user has been told.
_notices: dict[Path, str] = {}
UNWRITABLE = "unwritable"  # the kind of warning for a user's state folder that is read-only


def new_name() -> str:
    """Return a name that no file in `derived/` has ever had."""
    return os.urandom(_NAME_BYTES).hex()


class StateDir(StateFiles):
    """Checks and opens the files of one project's state."""

    __slots__ = ()

    def check(self) -> Seal | None:
        """Make sure that the folder is really this user's, and that nothing in it came with a repository.

        A missing folder is fine.

        Returns:
            its seal; None if it has no valid one, in which case an update sets its content aside.

        Raises:
            UnsafeStateError: if the folder, a folder above it inside the repository, or `derived` is a link, belongs to
                another user, or can be written by everybody.
            TrackedStateError: if git tracks files that are not meant to be shared.
            StoreError: if one of these folders is not a directory, or cannot be examined.
        """
        seal = None
        try:
            _check_way(self.path)
            check_folder(self.path)
            self.check_tracked()
            seal = find_seal(self.path)
            if seal is not None:  # without a seal, an update sets it aside, whatever it is
                check_folder(self.derived)
        except FileNotFoundError:
            return seal
        except OSError as error:
            raise StoreError(f"cannot read {self.path}: {error.strerror}", ELSEWHERE) from error
        return seal

    def is_tracked(self) -> bool:
        """Tell whether git tracks anything in the folder that is not meant to be shared."""
        return bool(find_tracked(self.path))

    def check_tracked(self) -> None:
        """Make sure that git tracks nothing in the folder that is not meant to be shared.

        Raises:
            TrackedStateError: if it does.
        """
        tracked = find_tracked(self.path)
        if not tracked:
            return
        if any(map(is_decisive, tracked)) and SEAL not in tracked:
            break_seal(self.path)  # it came with the repository, even if git no longer tracks it
        shown = ", ".join(tracked[:3]) + (", ..." if len(tracked) > 3 else "")
        remove = f"git -C {quote(str(self.path.parent))} rm -r --cached {self.path.name}, or "
        raise TrackedStateError(
            f"git tracks files in {self.path}, so they came with the repository and are not used: {shown}",
            (remove if self.path.name == ".cairn" else "") + ELSEWHERE,  # another folder may be the project itself
        )

    def create(self, store: Store = INDEX) -> Seal:
        """Prepare the folder for writing and return its seal; content that this user did not make here is set aside.

        Args:
            store: the store to be written.

        Raises:
            UnsafeStateError, TrackedStateError: as `check`.
            StoreError: if it cannot be written.
        """
        with _write_errors(self.path, store):
            return self._create(store)

    def _create(self, store: Store) -> Seal:
        if not os.path.lexists(self.path):
            _check_way(self.path)
            if not self.path.parent.is_dir():
                _make_parents(self)
            with suppress(FileExistsError):
                self.path.mkdir(mode=0o755)
        else:
            _close_to_others(self.path)
        seal = self.check() or self._make_seal(store)
        if not os.path.lexists(self.derived):
            with suppress(FileExistsError):
                self.derived.mkdir(mode=0o755)
        check_folder(self.derived)
        ignore = self.path / ".gitignore"
        if not os.path.lexists(ignore):
            write_file(ignore, _GITIGNORE.encode("ascii"), mode=0o644)
        return seal

    def _make_seal(self, store: Store) -> Seal:
        """Set aside everything in the folder and seal it, unless another process just did."""
        with _lock_while_making(self.path, store):
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

    def open_for_writing(self, store: Store = INDEX, *, replace_newer: bool = False) -> sqlite3.Connection:
        """Open or create the index or another derived store; a damaged one is set aside, since it can be rebuilt.

        Args:
            store: the store to open.
            replace_newer: also set aside one that a newer version wrote.
        """
        seal = self.create()
        try:
            return self._open(seal, store)
        except IndexForeignError:
            self._set_foreign_aside()
            seal = self.create()
        except store.damaged:
            self.set_aside(store)
        except store.version:
            if not replace_newer:
                raise
            self.set_aside(store)
        return self._open(seal, store)

    def open_for_reading(self) -> sqlite3.Connection:
        """Open the database of an index that exists.

        Raises:
            IndexMissingError: if nothing was indexed here yet.
            IndexForeignError: if what is here was not made by this user on this machine.
            IndexDamagedError: if the file is not a database.
            UnsafeStateError, TrackedStateError: as `check`.
        """
        connection = self.open_existing(INDEX)
        if connection is None:
            raise IndexMissingError("this project is not indexed yet", Hint.of("index"))
        return connection

    def open_truth(self, store: Store) -> sqlite3.Connection:
        """Open or create the database of a store of truth. Whatever is wrong with it, the file is left alone.

        If nothing can be written, an existing one is opened for reading, as by `connect_for_reading`.

        Raises:
            StoreForeignError: if it was not made in this folder by this user.
            StoreDamagedError, StoreVersionError, StoreLockedError: the store's own.
            UnsafeStateError, TrackedStateError: as `check`.
            StoreError: if it cannot be written.
        """
        seal = self.create(store)
        file = self.file_of(store)
        if os.path.lexists(file) and not _is_unmade(file):
            return self._open(seal, store, connect_for_reading)
        with _lock_while_making(self.path, store):
            return self._open(seal, store) if os.path.lexists(file) else self._make_truth(seal, store)

    def _make_truth(self, seal: Seal, store: Store) -> sqlite3.Connection:
        """Create the database of a store of truth; if that fails, as on a full disk, nothing is left behind."""
        file, has_held = self.file_of(store), has_held_truth(self.path)
        keep_record(seal, self.path)
        try:
            with _write_errors(self.path, store):
                os.close(open_own(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, _TRUTH_MODE))
            return self._open(seal, store)
        except BaseException:
            if not os.path.lexists(file) or _is_unmade(file):
                for suffix in ("", *LOGS):
                    Path(f"{file}{suffix}").unlink(missing_ok=True)
                if not has_held:
                    drop_record(seal)
            raise

    def adopt(self, store: Store, judge: Inspect) -> bool:
        """Take over the database of a store of truth that was made elsewhere. If anything is wrong, it is left alone.

        Args:
            store: the store in it.
            judge: checks the content inside the transaction that takes it over; raises if it is unusable.

        Returns:
            whether it was taken over; False if it was made here.

        Raises:
            NotFoundError: if there is no such file.
            StoreDamagedError, StoreVersionError, StoreLockedError: the store's own.
            UnsafeStateError, TrackedStateError: as `check`.
        """
        file = self.file_of(store)
        if not os.path.lexists(file):
            raise NotFoundError(f"there is no {file}", f"put {file.name} there")
        seal = self.create()
        for suffix in ("", *LOGS):
            check_file(Path(f"{file}{suffix}"), store)
        inspect = partial(_inspect_schema, store, file)
        with closing(connect(file, store, inspect)) as connection, store_errors(file, store):
            if wrong := check(connection):
                raise store.damage(file, f"is damaged: {wrong[0]}")
            migrate(connection, store, file)
            if is_ours(seal, store, file, connection):
                return False
            with transaction(connection):
                judge(connection)
                _seal_database(seal, store, connection)
        keep_record(seal, self.path)
        return True

    def open_existing(self, store: Store) -> sqlite3.Connection | None:
        """Open a store's database for reading; None if there is none yet.

        Raises:
            IndexForeignError, StoreForeignError: if it was not made in this folder by this user.
            StoreDamagedError, StoreVersionError, StoreLockedError: the store's own.
            UnsafeStateError, TrackedStateError: as `check`.
        """
        seal = self.check()
        if not os.path.lexists(self.file_of(store)) or (store.is_truth and _is_empty(self.file_of(store))):
            return None
        if seal is None:
            raise _is_foreign(store, self.file_of(store))
        return self._open(seal, store, connect_for_reading)

    def seal(self) -> Seal | None:
        """Return the seal that ties the folder to the user's own state; None if nothing was indexed yet."""
        return find_seal(self.path)

    def _open(
        self, seal: Seal, store: Store, opener: Callable[[Path, Store, Inspect], sqlite3.Connection] = connect
    ) -> sqlite3.Connection:
        file = self.file_of(store)
        for suffix in ("", *LOGS):
            check_file(Path(f"{file}{suffix}"), store)
        connection = opener(file, store, partial(_inspect, seal, store, file))
        try:
            with store_errors(file, store):
                migrate(connection, store, file, partial(_seal_database, seal, store))
        except BaseException:
            connection.close()
            raise
        return connection

    def take_notice(self) -> str:
        """Return what to tell the user about the folder since the last call, empty if nothing."""
        return _notices.pop(self.path, "")

    def tell(self, text: str) -> None:
        """Tell the user about something in the folder: a command warns at once, an answer carries a note."""
        if not warn(text, text):
            self._add_notice(text)

    def _add_notice(self, text: str) -> None:
        _notices[self.path] = "; ".join(filter(None, (_notices.get(self.path), text)))

    def set_aside(self, store: Store = INDEX) -> None:
        """Move a damaged index or other derived store aside, and keep it for inspection."""
        self.check()
        aside.set_aside(self, store)

    def _set_foreign_aside(self) -> None:
        """Move aside everything that can be rebuilt and that this user did not make."""
        with suppress(OSError):
            self.last_error.unlink(missing_ok=True)
        if stamp := aside.set_foreign_aside(self):
            self._add_notice(
                f"the index in {self.path} {_NOT_YOURS}, so it was moved aside (*.foreign-{stamp}) and is built again"
            )

    def remove_unlisted(self, keep: Set[Path]) -> None:
        """Delete derived files that no generation refers to. Readers that have mapped them can go on."""
        check_folder(self.derived)
        for path in unlisted(self, keep):
            try:
                os.unlink(path)
            except OSError:
                continue  # some systems refuse while it is in use; the next run tries again


def _check_way(state: Path) -> None:
    """Refuse a folder reached through a link that may have come with a repository."""
    place = find_place(state)
    for folder in state.parents if place is not None else ():
        if place is None or folder == place.top:
            return
        if folder.is_symlink():
            raise UnsafeStateError(f"{folder} is a link, and the state folder would be behind it", ELSEWHERE)


def _close_to_others(state: Path) -> None:
    """Remove others' write permission from a still empty folder, which git made with the user's umask."""
    facts = os.lstat(state)
    if stat.S_ISDIR(facts.st_mode) and facts.st_mode & stat.S_IWOTH and find_seal(state) is None:
        with suppress(OSError):  # the folder is refused later
            os.chmod(state, stat.S_IMODE(facts.st_mode) & ~stat.S_IWOTH)


def check_file(file: Path, store: Store) -> None:
    """Make sure that a database file, if it exists, is this user's own.

    Raises:
        StoreDamagedError: the store's own, if it is not a regular file of this user.
        StoreError: if it cannot be examined.
    """
    try:
        if is_own_file(file):
            return
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot read {file}: {error.strerror}", ELSEWHERE) from error
    is_folder = os.path.isdir(file) and not os.path.islink(file)
    raise store.damage(file, "is a directory, not a database" if is_folder else "is not a file of this user")


def _is_empty(file: Path) -> bool:
    """Tell whether a file is empty, so that opening it would create a new database."""
    facts = os.lstat(file)
    return stat.S_ISREG(facts.st_mode) and facts.st_size == 0


@contextmanager
def _write_errors(path: Path, store: Store) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = store.make_room() if is_disk_full(error) else _make_writable(store)
        raise StoreError(f"cannot write {path}: {error.strerror}", hint) from error


def _make_parents(state: StateFiles) -> None:
    """Create the folders above a state folder, but never a project folder that was deleted while open."""
    if state.is_in_project:
        where = Hint("if it was moved, index it there", "index", project=None)
        raise StoreError(f"the folder {state.path.parent} is gone", where)
    state.path.parent.mkdir(parents=True)


def _make_writable(store: Store) -> str:
    elsewhere = ", where another memory begins" if store.is_truth else ""
    return f"make it writable, or set CAIRN_STATE_DIR to a folder that is{elsewhere}"


def _lock_while_making(path: Path, store: Store) -> AbstractContextManager[int]:
    """Return the lock for making a seal or a store of truth, so that no process removes what another one makes."""
    return write_lock(path / "seal.lock", _SEAL_SECONDS, store)


def _is_unmade(file: Path) -> bool:
    """Tell whether a database has no tables yet: its file is empty or one page without a version, its log empty."""
    try:
        log = Path(f"{file}-wal")
        if not stat.S_ISREG(os.lstat(file).st_mode) or (os.path.lexists(log) and not _is_empty(log)):
            return False
        with open(file, "rb") as stream:
            head = stream.read(_HEAD_BYTES)
            return not head or (
                head[:16] == b"SQLite format 3\0"
                and head[_VERSION] == bytes(4)
                and os.fstat(stream.fileno()).st_size == int.from_bytes(head[_PAGE_BYTES], "big")
            )
    except OSError:
        return False


def _inspect(seal: Seal, store: Store, file: Path, connection: sqlite3.Connection) -> None:
    """Check a database before anything in it is used; see `check_schema`.

    Raises:
        StoreDamagedError: the store's own, if its schema is not ours.
        IndexForeignError, StoreForeignError: if it was made in another state folder.
    """
    is_new = _inspect_schema(store, file, connection)
    if not is_new and not is_ours(seal, store, file, connection):
        raise _is_foreign(store, file)


def _seal_database(seal: Seal, store: Store, connection: sqlite3.Connection) -> None:
    write_seal_id(connection, seal.id)
    if store.is_truth:
        write_seal_secret(connection, *seal)


def is_ours(seal: Seal, store: Store, file: Path, connection: sqlite3.Connection) -> bool:
    """Tell whether a database was made in its folder; for a store of truth, the folder's earlier seals count too."""
    if read_seal_id(connection) == seal.id:
        return True
    return store.is_truth and any(is_kept_at(Seal(*known), file.parent) for known in read_seal_secrets(connection))


def _inspect_schema(store: Store, file: Path, connection: sqlite3.Connection) -> bool:
    """Make sure that a database is one of ours, wherever it was made; return whether it is new."""
    schema = read_schema(connection)
    check_schema(schema, store, file)
    is_new = schema == Schema(0, ())
    if not is_new and not has_seal_table(schema):
        raise store.damage(file, "has a schema that is not Cairn's")
    return is_new


def _is_foreign(store: Store, file: Path) -> StoreError:
    if store.is_truth:
        return store.foreign(file)
    return IndexForeignError(f"{store.name} in {file.parent} {_NOT_YOURS}", store.update)
