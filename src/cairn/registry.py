"""The allowed projects: those that this user indexed or searched. The daemon serves no others."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cairn.errors import AmbiguousError, PathError, ProjectError, StoreError, StoreLockedError
from cairn.folders import check_private, unwritable
from cairn.hints import Hint
from cairn.index.seal import is_sealed_index
from cairn.runtime import StateFolder
from cairn.storage.atomic import write_file
from cairn.storage.lock import file_lock
from cairn.storage.own_files import read_own

ALL = "all"  # the name that means every project
_LOCK_SECONDS = 10.0
_MAX_BYTES = 16_000_000
_OF_TEAM = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}"
_NOT_IN_NAMES = re.compile(r"[^\w.\-]+")


class AllowedProject(NamedTuple):
    """A project that the user allowed: its name and its absolute folder."""

    name: str
    root: str


class Registry:
    """The list of allowed projects, a file in the user's state folder, read again when it changes."""

    def __init__(self, folder: StateFolder) -> None:
        self.folder = folder
        self._read_at: tuple[int, int] | None = None
        self._projects: tuple[AllowedProject, ...] = ()

    def projects(self) -> tuple[AllowedProject, ...]:
        """Return all projects, oldest first."""
        try:
            status = os.lstat(self.folder.projects)
        except OSError:
            self._read_at, self._projects = None, ()
            return ()
        if self._read_at != (status.st_mtime_ns, status.st_ino):
            self._projects = self._read()
            self._read_at = status.st_mtime_ns, status.st_ino
        return self._projects

    def present(self) -> list[AllowedProject]:
        """Return the projects whose folder is there, oldest first: one may come back, as on a disk of its own."""
        return [project for project in self.projects() if os.path.isdir(project.root)]

    def add(self, root: Path, name: str) -> None:
        """Allow a project, unless the list has it under this name.

        Raises:
            StoreError: if the list cannot be written.
        """
        project = AllowedProject(_NOT_IN_NAMES.sub("-", name).strip("-") or "project", str(root))
        if project in self.projects():
            return
        self.folder.create()
        with self._hold_lock():
            # Drop projects whose folder is gone; if one comes back, the next command in it allows it again.
            kept = [known for known in self._read() if known.root != project.root and os.path.isdir(known.root)]
            document = {"projects": [allowed._asdict() for allowed in (*kept, project)]}
            try:
                text = json.dumps(document, indent=1)
                write_file(self.folder.projects, text.encode("utf-8", "surrogatepass"), mode=0o600)
            except OSError as error:
                raise unwritable(self.folder.projects, error) from error

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        lock = self.folder.projects.with_suffix(".lock")
        try:
            with file_lock(lock, _LOCK_SECONDS):
                yield
        except StoreLockedError as error:
            raise StoreError(f"another process holds the lock {lock}", "try again in a moment") from error

    def knows(self, root: Path | str, name: str) -> bool:
        """Tell whether a folder is on the list, under this name unless the name is empty."""
        return any(project.root == str(root) and name in ("", project.name) for project in self.projects())

    def names(self) -> dict[str, str]:
        """Return what `find` takes for each folder, oldest first: the name of the project, unless several have it."""
        projects = self.projects()
        times = Counter(project.name for project in projects)
        return {project.root: project.name if times[project.name] == 1 else project.root for project in projects}

    def find(self, name: str) -> AllowedProject:
        """Return the project with a name or folder; with an empty name the only one, if possible one that is there.

        Raises:
            ProjectError: if there is none.
            AmbiguousError: if there are several.
        """
        projects = self.projects()
        matches = [project for project in projects if name in (project.name, project.root)]
        if not name:
            matches = self.present() or list(projects)
        if len(matches) == 1:
            return matches[0]
        if not matches:
            what = f"no project is called {name!r}" if name else "no project is known yet"
            present = self.present()
            known = f"; there {'is' if len(present) == 1 else 'are'} {_list_of(present)}" if present else ""
            raise ProjectError(
                f"{what}, or you did not allow it{known}", Hint("allow one by indexing it", "index", project=None)
            )
        raise AmbiguousError(f"several projects: {_list_of(matches)}", "name the folder of one")

    def _read(self) -> tuple[AllowedProject, ...]:
        try:
            check_private(self.folder.path)
            text = read_own(self.folder.projects, _MAX_BYTES).decode("utf-8", "surrogatepass")
            return tuple(AllowedProject(str(row["name"]), str(row["root"])) for row in json.loads(text)["projects"])
        except (OSError, ValueError, KeyError, TypeError):  # missing or damaged: it fills again as projects are used
            return ()


def is_team_name(name: str) -> bool:
    """Tell whether a name has the form of those of a team's projects, ORGANISATION/NAME, which no project here has."""
    return re.fullmatch(_OF_TEAM, name) is not None


def enclosing_root(path: str) -> str | None:
    """Return the nearest folder upwards that this user indexed, or that is the top of a git checkout; None if none is.

    It is the project that `Workspace.containing` opens, found without running git.

    Raises:
        PathError: as `real_folder`.
    """
    folder = real_folder(path)
    while not (_is_indexed(folder) or os.path.exists(os.path.join(folder, ".git"))):
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)
    return folder


def real_folder(path: str) -> str:
    """Return where a folder is.

    Raises:
        PathError: if there is none.
    """
    try:
        folder = os.path.realpath(os.path.expanduser(path))
    except FileNotFoundError:  # it begins at the current folder, which was deleted
        folder = ""
    if os.path.isdir(folder):
        return folder
    if os.path.exists(folder):
        raise PathError(f"{path} is not a directory", Hint("name a folder", "index", project=None))
    raise PathError(f"{path} does not exist", Hint("name an existing folder", "index", project=None))


def _is_indexed(folder: str) -> bool:
    state = os.path.join(folder, ".cairn")
    if not os.path.lexists(os.path.join(state, "index.db")):
        return False
    return is_sealed_index(Path(state))


def _list_of(projects: Sequence[AllowedProject]) -> str:
    shown = ", ".join(f"{project.name} ({project.root})" for project in projects[:10])
    return f"{shown} and {len(projects) - 10} more" if len(projects) > 10 else shown
