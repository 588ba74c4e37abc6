"""The projects of this user: those he indexed or searched himself, which are the ones the daemon serves."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cairn.errors import AmbiguousError, ProjectError, StoreError, StoreLockedError
from cairn.folders import check_private
from cairn.hints import Hint
from cairn.index.seal import is_sealed_index
from cairn.runtime import StateFolder
from cairn.storage.atomic import write_file
from cairn.storage.lock import file_lock
from cairn.storage.own_files import read_own

ALL = "all"  # a name for all of them
_LOCK_SECONDS = 10.0
_MAX_BYTES = 16_000_000
_NO_NAME = re.compile(r"[^\w.\-]+")


class AllowedProject(NamedTuple):
    """A project that the user allowed: its name, and its folder, absolute."""

    name: str
    root: str


class Registry:
    """The list of allowed projects, a file in the user's state folder. Read again when it changed."""

    def __init__(self, folder: StateFolder) -> None:
        self._folder = folder
        self._read_at: tuple[int, int] | None = None
        self._projects: tuple[AllowedProject, ...] = ()

    def projects(self) -> tuple[AllowedProject, ...]:
        """Return all projects, those added first first."""
        try:
            facts = os.lstat(self._folder.projects)
        except OSError:
            self._read_at, self._projects = None, ()
            return ()
        if self._read_at != (facts.st_mtime_ns, facts.st_ino):
            self._projects = self._read()
            self._read_at = facts.st_mtime_ns, facts.st_ino
        return self._projects

    def add(self, root: Path, name: str) -> None:
        """Allow a project, unless it is on the list under this name.

        Raises:
            StoreError: if the list cannot be written.
        """
        project = AllowedProject(_NO_NAME.sub("-", name).strip("-") or "project", str(root))
        if project in self.projects():
            return
        self._folder.create()
        with self._locked():
            # Whose folder is gone goes too; should it come back, it is allowed again by the next command there.
            others = [one for one in self._read() if one.root != project.root and os.path.isdir(one.root)]
            document = {"projects": [one._asdict() for one in (*others, project)]}
            try:
                text = json.dumps(document, indent=1)
                write_file(self._folder.projects, text.encode("utf-8", "surrogatepass"), mode=0o600)
            except OSError as error:
                raise StoreError(
                    f"cannot write {self._folder.projects}: {error.strerror}", "make it writable, or set XDG_STATE_HOME"
                ) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self._folder.projects.with_suffix(".lock")
        try:
            with file_lock(lock, _LOCK_SECONDS):
                yield
        except StoreLockedError as error:
            raise StoreError(f"another process keeps {lock} locked", "try again in a moment") from error

    def knows(self, root: Path | str, name: str) -> bool:
        """Tell whether a folder is on the list, under this name unless that is empty."""
        return any(one.root == str(root) and name in ("", one.name) for one in self.projects())

    def find(self, wanted: str) -> AllowedProject:
        """Return the project with a name or folder; with an empty text the only one.

        Raises:
            ProjectError: if there is none.
            AmbiguousError: if there are several.
        """
        projects = self.projects()
        found = [one for one in projects if wanted in ("", one.name, one.root)]
        if len(found) == 1:
            return found[0]
        if not found:
            what = f"no project is called {wanted!r}" if wanted else "no project is known yet"
            raise ProjectError(
                f"{what}, or you did not allow it", Hint("allow one by indexing it", "index", project=None)
            )
        raise AmbiguousError(f"several projects: {_listed(found)}", "name the folder of one")

    def _read(self) -> tuple[AllowedProject, ...]:
        try:
            check_private(self._folder.path)
            text = read_own(self._folder.projects, _MAX_BYTES).decode("utf-8", "surrogatepass")
            return tuple(AllowedProject(str(one["name"]), str(one["root"])) for one in json.loads(text)["projects"])
        except (OSError, ValueError, KeyError, TypeError):  # none, or damaged: it fills again as projects are used
            return ()


def enclosing_root(path: str) -> str | None:
    """Return the nearest folder upwards that this user indexed or the top of a git checkout; None if there is none.

    It is the project that `Workspace.containing` opens, found without asking git.
    """
    at = os.path.realpath(os.path.expanduser(path))
    while not (_is_indexed(at) or os.path.exists(os.path.join(at, ".git"))):
        if os.path.dirname(at) == at:
            return None
        at = os.path.dirname(at)
    return at


def _is_indexed(folder: str) -> bool:
    state = os.path.join(folder, ".cairn")
    if not os.path.lexists(os.path.join(state, "index.db")):
        return False
    return is_sealed_index(Path(state))


def _listed(projects: Sequence[AllowedProject]) -> str:
    shown = ", ".join(f"{one.name} ({one.root})" for one in projects[:10])
    return f"{shown} and {len(projects) - 10} more" if len(projects) > 10 else shown
