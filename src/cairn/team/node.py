"""A node: fetches published generations on demand, and caches those that are asked about most."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from cairn.config import Settings
from cairn.errors import CatalogError, NotFoundError
from cairn.sharing import Shared
from cairn.team.capabilities import Capability, Signer
from cairn.team.catalog import Catalog, Manifest, read_manifest
from cairn.team.generation import PublishedFile, plant
from cairn.team.objects import Objects
from cairn.workspace import Workspace

_log = logging.getLogger("cairn.team")
FRESH_SECONDS = 8.0  # how long to trust the database's answer on permissions and the newest generation
_LOOK_SECONDS = 2.0  # between two checks whether the database is back


class Unchanging:
    """A follower for the immutable files of a generation: the index always has them all."""

    def catch_up(self, *, waits: bool = True) -> str | None:
        """Return that the index is up to date."""
        return ""


class _LastWord(NamedTuple):
    """The database's last answer and its time on the monotonic clock; a capability if it was yes."""

    manifest: Manifest | None
    capability: Capability | None
    asked_at: float


_Asked = tuple[bytes, str, str | None]  # the hash of a token, a project, a branch
_Generation = tuple[int, int, bytes]  # of a branch, its number, and what it is


class _OpenProject:
    """An open generation, only handed out for a capability."""

    def __init__(self, workspace: Workspace, generation: _Generation, signer: Signer) -> None:
        self.workspace = workspace
        self._is = generation
        self._signer = signer

    def read(self, capability: Capability, holder: bytes) -> Workspace:
        """Return the project, if the bearer of the token may read it.

        Raises:
            AccessError, BusyError: if they may not, as `Signer.check`.
        """
        self._signer.check(capability, holder, *self._is)
        return self.workspace


class SearchNode:
    """Opens published projects. Close it when done.

    Args:
        catalog: with the role of a node.
        objects: the object store.
        folder: for this node's copies; emptied at the start.
        max_open: the maximal number of open projects.
        max_bytes: of objects on disk.
        clock: a monotonic clock, in seconds; a seam for tests.
    """

    def __init__(
        self,
        catalog: Catalog,
        objects: Objects,
        folder: Path,
        *,
        max_open: int = 64,
        max_bytes: int = 20_000_000_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._catalog = catalog
        self._folder = folder
        self._max_open = max_open
        self._clock = clock
        self._lock = threading.Lock()
        self._signer = Signer(clock)
        self._known: OrderedDict[_Asked, _LastWord] = OrderedDict()
        self._is_away = False
        self._closed = threading.Event()
        self._open: OrderedDict[_Generation, Shared[_OpenProject]] = OrderedDict()
        self._opening: dict[int, threading.Lock] = {}  # by branch
        shutil.rmtree(folder, ignore_errors=True)
        self._cache = _Cache(folder / "objects", objects, max_bytes)
        self._n_planted = 0

    @contextmanager
    def project(self, token: bytes, name: str, branch: str | None) -> Iterator[tuple[Manifest, Workspace]]:
        """Open the newest generation of a project during the block.

        Args:
            token: the hash of the asker's token.
            name: `ORGANISATION/NAME`.
            branch: by default the default one.

        Raises:
            NotFoundError: if there is none, or the bearer may not read it; the error does not tell which.
            AccessError: if the token is not valid.
            CatalogError: if the database was away for too long to know who may read what.
            ObjectStoreError, ObjectDamagedError: if it is not here yet and cannot be fetched.
        """
        manifest, capability, _ = self._ask((token, name, branch))
        if manifest is None or capability is None:
            of_branch = "" if branch is None else f" with a branch {branch}"
            raise NotFoundError(
                f"there is no project {name}{of_branch} that you may read", "list them: GET /api/projects"
            )
        with ExitStack() as stack:
            yield manifest, self._use(manifest, stack).read(capability, token)

    def _ask(self, asked: _Asked) -> _LastWord:
        now = self._clock()
        with self._lock:
            known = self._known.get(asked)
            if known is not None and (now - known.asked_at < FRESH_SECONDS or (self._is_away and self._holds(known))):
                return known
        try:
            found = read_manifest(self._catalog, *asked)
        except CatalogError:
            self._note_away()
            if known is None or not self._holds(known):
                raise
            return known
        allowed = None if found is None else self._signer.issue(asked[0], *_generation(found))
        word = _LastWord(found, allowed, now)
        with self._lock:
            self._known[asked] = word
            self._known.move_to_end(asked)
            while len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
        return word

    def _holds(self, known: _LastWord) -> bool:
        return known.capability is not None and not self._signer.is_over(known.capability)

    def _note_away(self) -> None:
        """Answer known questions without the database until a thread finds that it is back."""
        with self._lock:
            if self._is_away:
                return
            self._is_away = True
        threading.Thread(target=self._wait_for_database, name="cairn-away", daemon=True).start()

    def _wait_for_database(self) -> None:
        answers = False
        while not answers and not self._closed.wait(_LOOK_SECONDS):
            with suppress(CatalogError):
                self._catalog.ping()
                answers = True
        self._is_away = False

    def _use(self, manifest: Manifest, stack: ExitStack) -> _OpenProject:
        """Return an open generation that stays open as long as the stack."""
        key = _generation(manifest)
        with self._lock:
            if (opened := self._open.get(key)) is not None:
                self._open.move_to_end(key)
                return stack.enter_context(opened.use())
            opening = self._opening.setdefault(manifest.branch_id, threading.Lock())
        with opening:  # one thread fetches it for all
            with self._lock:
                if (opened := self._open.get(key)) is not None:
                    return stack.enter_context(opened.use())
            opened = Shared(_OpenProject(self._plant(manifest), key, self._signer), _close)
            with self._lock:
                self._open[key] = opened
                project = stack.enter_context(opened.use())
                leaving = self._make_room(key)
        for one in leaving:
            one.retire()
        return project

    def _make_room(self, newest: _Generation) -> list[Shared[_OpenProject]]:
        """Remove what to close from the list: older generations of a branch, and the least recently used."""
        others = [other for other in self._open if other != newest]
        older = [other for other in others if other[0] == newest[0] and other[1] <= newest[1]]
        others = [other for other in others if other not in older]
        excess = len(self._open) - len(older) - self._max_open
        return [self._open.pop(other) for other in (*older, *others[: max(0, excess)])]

    def _plant(self, manifest: Manifest) -> Workspace:
        with self._lock:
            self._n_planted += 1
            folder = self._folder / f"open-{self._n_planted}"
        try:
            with self._cache.holding(manifest.pieces) as cached:
                planted = plant(manifest.pieces, cached, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        workspace = Workspace.open(planted.view.root, state_dir=planted.state, settings=Settings())
        workspace.upkeep.rely_on(Unchanging(), planted.view)
        _log.info("opened %s %s at %s", manifest.project, manifest.branch, manifest.commit)
        return workspace

    def projects_open(self) -> int:
        """Return how many projects are open."""
        return len(self._open)

    def projects_opened(self) -> int:
        """Return how often a project was opened since the start."""
        return self._n_planted

    def close(self) -> None:
        """Close all projects once nobody uses them."""
        self._closed.set()
        with self._lock:
            leaving = list(self._open.values())
            self._open.clear()
        for one in leaving:
            one.retire()


_MAX_KNOWN = 100_000
_FETCHES = 4  # parallel downloads per generation, since each waits for the store


def _generation(manifest: Manifest) -> _Generation:
    return manifest.branch_id, manifest.generation, manifest.digest


def _close(project: _OpenProject) -> None:
    """Close a project, and delete its files."""
    project.workspace.close()
    shutil.rmtree(project.workspace.root.parent, ignore_errors=True)


class _Cache:
    """The most recently used objects on disk.

    Args:
        folder: for the files; those linked from elsewhere survive deletion here.
        objects: where they come from.
        max_bytes: how much is kept.
    """

    def __init__(self, folder: Path, objects: Objects, max_bytes: int) -> None:
        self._folder = folder
        self._objects = objects
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._held: dict[str, int] = {}
        folder.mkdir(parents=True)

    @contextmanager
    def holding(self, pieces: tuple[PublishedFile, ...]) -> Iterator[Callable[[str], Path]]:
        """Fetch the objects of a generation, and keep them during the block."""
        names = sorted({piece.object for piece in pieces})
        with self._lock:
            for name in names:
                self._held[name] = self._held.get(name, 0) + 1
        try:
            self._fetch_all(names)
            yield lambda name: self._folder / name
        finally:
            with self._lock:
                for name in names:
                    self._held[name] -= 1
                    if not self._held[name]:
                        del self._held[name]
                self._evict()

    def _fetch_all(self, names: Sequence[str]) -> None:
        """Fetch objects in parallel; stop after an error, because each attempt waits long for an unreachable store."""
        is_over = threading.Event()

        def fetch(name: str) -> None:
            if is_over.is_set():
                return
            try:
                self._fetch(name)
            except BaseException:
                is_over.set()
                raise

        with ThreadPoolExecutor(_FETCHES, thread_name_prefix="cairn-fetch") as threads:
            list(threads.map(fetch, names))

    def _fetch(self, name: str) -> None:
        with self._lock:
            if name in self._sizes:
                self._sizes.move_to_end(name)
                return
        target = self._folder / name
        self._objects.get(name, target)  # concurrent fetches of the same object write the same content
        with self._lock:
            self._sizes[name] = target.stat().st_size

    def _evict(self) -> None:
        excess = sum(self._sizes.values()) - self._max_bytes
        for name in [name for name in self._sizes if name not in self._held]:
            if excess <= 0:
                return
            excess -= self._sizes.pop(name)
            with suppress(FileNotFoundError):
                os.unlink(self._folder / name)
