"""What a store is: a database of Cairn's own as data, with its name, its schema, and what may happen to it.

An index is derived: it is rebuilt from files, so a damaged one is moved aside. A store of truth holds what is nowhere
else: it is never rebuilt, moved or emptied by itself, and copied before its schema changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cairn.errors import StoreDamagedError, StoreForeignError, StoreLockedError, StoreVersionError
from cairn.hints import Hint
from cairn.loading import load

_UPGRADE = "upgrade with: uv tool upgrade codecairn"


class Migration(NamedTuple):
    """One step of a schema. Its number is its place in the list, from 1."""

    name: str
    statements: tuple[str, ...]


class Store(NamedTuple):
    """A kind of database, as data.

    Its schema has a table `meta` that says in which state folder it was made: see `cairn.storage.sealed`.

    Attributes:
        name: what messages call it, such as `the index`.
        file_name: of its file in a state folder.
        migrations: all steps of its schema.
        newest: the digest of the schema that they make; see `check_schema`.
        is_truth: it holds what is nowhere else.
        work: what a process that writes it is doing, as `indexing`.
        update: what to do once it can be written again, if it can be rebuilt.
        rebuild: what builds it from scratch; empty for a store of truth.
        adopt: what takes over one that was made elsewhere; empty for what can be rebuilt.
        salvage: what saves all that can be read of a damaged one; empty for what can be rebuilt.
        damaged, locked, version: the errors that say so of it.
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
        """Return the error that says what is wrong with the file of this store, and what to do.

        Args:
            file: the database.
            words: what is wrong with it, a verb first.
        """
        if not self.is_truth:
            return self.damaged(f"{file} {words}", self.rebuild)
        restore = how_to_restore(file)
        hint = Hint(f"{restore}; but first" if restore else "", "doctor")
        return self.damaged(f"{file} {words}; nothing was changed", hint)

    def way_out(self, file: Path) -> Hint:
        """Return what the user can do once the file of a store of truth is damaged."""
        return self.salvage.after(how_to_restore(file))

    def make_room(self) -> str:
        """Return what to do where the disk is full."""
        if self.is_truth:
            return "nothing was kept; free some space, then run the command again"
        return self.update.after("free some space, then run")

    def newer(self, version: int) -> StoreVersionError:
        """Return the error that says that a newer version of Cairn wrote the file."""
        known = f"schema {version}, this one knows {len(self.migrations)}"
        hint = self.rebuild.after(f"{_UPGRADE}; or rebuild it") if self.rebuild else _UPGRADE
        return self.version(f"{self.name} was written by a newer Cairn ({known})", hint)

    def foreign(self, file: Path) -> StoreForeignError:
        """Return the error that says that the file of a store of truth was not made in this state folder."""
        return StoreForeignError(
            f"{file} was not made by you on this machine, so it is not used; nothing was changed",
            self.adopt.after(f"if you do not need it, move it out of the folder: mv {file.name} ELSEWHERE"),
        )


def how_to_restore(file: Path) -> str:
    """Return how the user puts the newest copy of a database into its place, empty if there is none."""
    copies = load("cairn.storage.copies:find_copies")(file)  # loaded now: asked of damage alone
    if not copies:
        return ""
    return (
        f"to go back to the copy of {copies[-1].made}, move {file.name} and what begins with {file.name}- out of "
        f"the folder, then: cp {copies[-1].path.name} {file.name}"
    )
