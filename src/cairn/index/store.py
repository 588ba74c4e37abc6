"""The state folder of one project: where its files are, and how they are opened, checked and set aside."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cairn.errors import CairnError, IndexDamagedError, IndexMissingError, IndexVersionError, StoreError
from cairn.storage.connection import connect, connect_for_reading, mapped_errors
from cairn.storage.index_schema import MIGRATIONS
from cairn.storage.migrations import migrate

_GITIGNORE = "# Everything here is rebuilt by Cairn, except what is meant to be shared.\n*\n!config.yaml\n!core.yaml\n!shared/\n!shared/**\n"  # noqa: E501

_PARTS = {".seg": "segments", ".arr": "views", ".paths": "views", ".vec": "overlays", ".hnsw": "graphs"}

_NAME_BYTES = 16


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

    def create(self) -> None:
        """Make the folder.

        Raises:
            StoreError: if it cannot be written.
        """
        try:
            self.derived.mkdir(parents=True, exist_ok=True)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                ignore.write_text(_GITIGNORE, encoding="utf-8")
        except FileExistsError as error:
            raise StoreError(f"{error.filename} is no folder", "cairn doctor --fix") from error
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise StoreError(
                f"cannot write {self.path}: {error.strerror}",
                "free some space, then run: cairn index"
                if full
                else "make it writable, or set CAIRN_STATE_DIR to a folder that is",
            ) from error

    def open_for_writing(self, *, replace_newer: bool = False) -> sqlite3.Connection:
        """Open the database, creating it; a damaged one is moved aside, for it can be rebuilt in seconds.

        Args:
            replace_newer: move one that a newer version wrote aside, too.
        """
        self.create()
        try:
            return self._open()
        except IndexDamagedError:
            self.set_aside()
        except IndexVersionError:
            if not replace_newer:
                raise
            self.set_aside()
        return self._open()

    def open_for_reading(self) -> sqlite3.Connection:
        """Open the database of an index that exists.

        Raises:
            IndexMissingError: if nothing was indexed here yet.
            IndexDamagedError: if the file is no database.
        """
        if not os.path.exists(self.database):  # where we may not look, there is none for us
            raise IndexMissingError("this project is not indexed yet", "cairn index")
        return self._open(connect_for_reading)

    def _open(self, opener: Callable[[Path], sqlite3.Connection] = connect) -> sqlite3.Connection:
        if os.path.exists(self.database) and not os.path.isfile(self.database):
            raise IndexDamagedError(f"{self.database} is a folder, not a database", "cairn index")
        self._clear_the_log()
        connection = opener(self.database)
        try:
            with mapped_errors(self.database):
                migrate(connection, MIGRATIONS, "the index")
        except BaseException:
            connection.close()
            raise
        return connection

    def _clear_the_log(self) -> None:
        """Move folders that stand where the log of the database belongs aside: SQLite cannot open it otherwise."""
        for suffix in ("-wal", "-shm"):
            path = f"{self.database}{suffix}"
            if os.path.isdir(path) and not os.path.islink(path):
                try:
                    os.rename(path, f"{path}.moved-{time.time_ns()}")
                except OSError as error:
                    raise StoreError(f"{path} is a folder: {error.strerror}", "cairn doctor --fix") from error

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
        with suppress(OSError):  # the error may be that nothing can be written
            self.last_error.write_text(json.dumps(document), encoding="utf-8")

    def clear_error(self) -> None:
        """Forget why a run failed, for one has succeeded since."""
        with suppress(OSError):
            self.last_error.unlink(missing_ok=True)

    def read_error(self) -> dict[str, object] | None:
        """Return why the last run failed, None when it did not."""
        try:
            document = json.loads(self.last_error.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none, or half of one
            return None
        return document if isinstance(document, dict) else None

    def set_aside(self) -> None:
        """Move a damaged database out of the way, keeping it for whoever wants to look."""
        stamp = time.strftime("%Y%m%d-%H%M%S")
        if Path(f"{self.database}.damaged-{stamp}").exists():
            stamp += f"-{time.time_ns() % 1_000_000_000:09}"
        for suffix in ("", "-wal", "-shm"):
            file = Path(f"{self.database}{suffix}")
            try:
                if file.exists():
                    file.replace(f"{self.database}.damaged-{stamp}{suffix}")
            except OSError as error:
                raise StoreError(f"cannot move {file} aside: {error.strerror}", f"move or remove {file}") from error

    def set_aside_files(self) -> list[Path]:
        """Return the databases that were moved out of the way, with their logs."""
        return sorted(self.path.glob(f"{self.database.name}.damaged-*"))

    def remove_set_aside(self, before: float) -> None:
        """Delete what was moved out of the way before some time, in seconds since the epoch."""
        for file in self.set_aside_files():
            with suppress(OSError):  # in use, or a folder
                if file.lstat().st_ctime <= before:
                    file.unlink()

    def remove_unlisted(self, keep: set[Path]) -> None:
        """Delete derived files that no generation names any more. Readers that have them mapped keep them."""
        for entry in os.scandir(self.derived):
            if Path(entry.path) not in keep and not entry.is_dir(follow_symlinks=False):
                try:
                    os.unlink(entry.path)
                except OSError:
                    continue  # in use on systems that refuse; the next run tries again
