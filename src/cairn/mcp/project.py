"""The project in which an agent works, and its tools there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from cairn.client import Client, SocketTransport
from cairn.config import load_settings
from cairn.errors import CairnError, PathError, ProjectError
from cairn.hints import Hint
from cairn.index.project import default_state, is_everything, name_of
from cairn.loading import load
from cairn.mcp.surface import Surface
from cairn.registry import Registry, enclosing_root
from cairn.runtime import StateFolder
from cairn.source.git import find_repository
from cairn.storage.own_files import read_own

_MAX_TUNING_BYTES = 400_001
Roots = Callable[[], Awaitable[list[str]]]


def make_surface(path: str, folder: StateFolder, roots: Roots) -> Surface:
    """Return the tools for an agent in a folder; arguments as for `Project`."""
    project = Project(path, folder, roots)
    return Surface(Client(SocketTransport(folder)), project.root, project.allow, project.texts)


class Project:
    """The project in which an agent works; it is put on the daemon's list of projects at the first question.

    The user had the agent start Cairn there, which counts like typing `cairn index`.

    Args:
        path: a folder in it.
        folder: that of the list.
        roots: asks the agent for the URIs of its working folders.
    """

    def __init__(self, path: str, folder: StateFolder, roots: Roots) -> None:
        self.root = path  # there may be no folder, which only matters for calls that need one
        with suppress(PathError):
            self.root = enclosing_root(path) or os.path.realpath(path)
        self._registry = Registry(folder)
        self._roots = roots

    def texts(self) -> Mapping[str, str]:
        """Return the tool descriptions from the project's tuning; see `texts_of`."""
        return texts_of(self.root)

    async def allow(self) -> str:
        """Put the project on the list, which it may have left meanwhile, since adding another drops missing ones.

        Returns:
            its folder; if the agent was not started in a project, that of the first working folder that it reports.

        Raises:
            ProjectError: if the folder is neither indexed nor in a git checkout, since it may be anything, such as a
                home.
            PathError: if there is no such folder.
            StoreError: if the list cannot be written.
        """
        if not self._registry.knows(self.root, ""):
            root = _find_root(self.root)
            self.root = root or next(filter(None, map(_root_of, await self._roots())), self.root)
            await asyncio.to_thread(self._allow)
        return self.root

    def _allow(self) -> None:
        root = enclosing_root(self.root)
        if root is None:
            raise ProjectError(
                f"{self.root} is in no git checkout and was never indexed",
                Hint("name another as `project`, or, if it is one, index it", "index", project=self.root),
            )
        if is_everything(root):
            raise ProjectError(
                f"{root} holds much more than a project, and its user never indexed it by name",
                Hint("name another as `project`, or, if it is meant, index it", "index", project=root),
            )
        self._registry.add(Path(root), load_settings(Path(root)).project_name or name_of(Path(root)))


def _find_root(path: str) -> str | None:
    try:
        return enclosing_root(path)
    except PathError as error:
        hint = "name another as `project`, or start this server in a folder that exists"
        raise PathError(str(error), hint) from error


def texts_of(root: str) -> Mapping[str, str]:
    """Return the tool descriptions from a project's tuning; none if there is no tuning, at almost no cost."""
    try:
        state = _state_of(Path(root))
        if b'"texts"' in read_own(state / "tuning.json", _MAX_TUNING_BYTES):
            texts: Mapping[str, str] = load("cairn.search.tuning:texts_of")(state)
            return texts
    except (OSError, CairnError):  # missing, or somebody else's
        return {}
    return {}


def _state_of(root: Path) -> Path:
    """Return the state folder of a project; git is only asked in what may be a linked worktree."""
    is_linked = (root / ".git").is_file()
    return default_state(root, find_repository(root) if is_linked else None)


def _root_of(uri: str) -> str | None:
    """Return the project around the folder that a `file:` URI names; None if there is none."""
    try:
        parts = urlsplit(uri)
        return enclosing_root(url2pathname(parts.path)) if parts.scheme == "file" and parts.path else None
    except (ValueError, PathError):  # not a URI, not a path, or not a folder
        return None
