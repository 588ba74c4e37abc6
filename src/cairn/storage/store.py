"""Describes a store, one of Cairn's own databases, as data: its name, its schema, and how it may be treated.

An index is derived: it can be rebuilt from files, so a damaged one is moved aside. A store of truth holds data that is
nowhere else: it is never rebuilt, moved or emptied automatically, and is copied before its schema changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cairn.errors import StoreDamagedError, StoreForeignError, StoreLockedError, StoreVersionError
from cairn.hints import Hint
from cairn.loading import load

_UPGRADE = "upgrade with: uv tool upgrade codecairn"


class Migration(NamedTuple):
    """One step of a schema, numbered by its position in the list, from 1."""

    name: str
    statements: tuple[str, ...]


class Store(NamedTuple):
    """A kind of database, as data.

    Its table `meta` records in which state folder it was made; see `cairn.storage.sealed`.

    Attributes:
        name: for messages, such as `the index`.
        file_name: in a state folder.
        migrations: all steps of its schema.
        newest: the digest of the resulting schema; see `check_schema`.
        is_truth: whether it holds data that is nowhere else.
        work: what a writing process is doing, such as `indexing`.
        update: the command to run once it can be written again, if it can be rebuilt.
        rebuild: the command that rebuilds it from scratch; empty for a store of truth.
        adopt: the command that takes over one made elsewhere; empty if it can be rebuilt.
        salvage: the command that saves what is readable of a damaged one; empty if it can be rebuilt.
        damaged, locked, version: its error classes.
    """

    name: str
    file_name: str
    migrations: tuple[Migration, ...]
    newest: str
    is_truth: bool
    work: str
    update: Hint
    rebuild: Hint = Hint("")
    adopt: Hint = Hint("")
    salvage: Hint = Hint("")
    damaged: type[StoreDamagedError] = StoreDamagedError
    locked: type[StoreLockedError] = StoreLockedError
    version: type[StoreVersionError] = StoreVersionError

    def damage(self, file: Path, words: str) -> StoreDamagedError:
        """Return the error for a damaged file of this store, with what to do.

        Args:
            file: the database.
            words: what is wrong, starting with a verb.
        """
        if not self.is_truth:
            return self.damaged(f"{file} {words}", self.rebuild)
        restore = how_to_restore(file)
        hint = Hint(f"{restore}; but first" if restore else "", "doctor")
        return self.damaged(f"{file} {words}; nothing was changed", hint)

    def way_out(self, file: Path) -> Hint:
        """Return what the user can do about a damaged store of truth."""
        return self.salvage.after(how_to_restore(file))

    def make_room(self) -> str:
        """Return what to do if the disk is full."""
        if self.is_truth:
            return "nothing was kept; free some space, then run the command again"
        return self.update.after("free some space, then run")

    def newer(self, version: int) -> StoreVersionError:
        """Return the error for a file written by a newer version of Cairn."""
        known = f"schema {version}, this one knows {len(self.migrations)}"
        hint = self.rebuild.after(f"{_UPGRADE}; or rebuild it") if self.rebuild else _UPGRADE
        return self.version(f"{self.name} was written by a newer Cairn ({known})", hint)

    def foreign(self, file: Path) -> StoreForeignError:
        """Return the error for a store of truth that was not made in this state folder."""
        return StoreForeignError(
            f"{file} was not made by you on this machine, so it is not used; nothing was changed",
            self.adopt.after(f"if you do not need it, move it out of the folder: mv {file.name} ELSEWHERE"),
        )


def how_to_restore(file: Path) -> str:
    """Return how to restore a database from its newest copy, empty if there is none."""
    copies = load("cairn.storage.copies:find_copies")(file)  # loaded only now, since damage is rare
    if not copies:
        return ""
    return (
        f"to go back to the copy of {copies[-1].made}, move {file.name} and what begins with {file.name}- out of "
        f"the folder, then: cp {copies[-1].path.name} {file.name}"
    )
