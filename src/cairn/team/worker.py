"""A worker: finds new commits, indexes them, and publishes what nodes need to answer from them."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

from cairn.config import Settings
from cairn.errors import CairnError, CatalogError, LeaseError, ObjectStoreError
from cairn.index.views import CheckoutView
from cairn.source.mirror import Mirror
from cairn.team.catalog import Catalog, Claim, WorkList, condemned
from cairn.team.generation import PublishedFile, publish
from cairn.team.objects import Objects, hash_of
from cairn.team.state import Problems
from cairn.team.texts import Tree
from cairn.workspace import Workspace

_log = logging.getLogger("cairn.team")
_FAILURE_REST = timedelta(seconds=30)  # after a first failure; then twice as long each time
_POLL_SECONDS = 0.05
GRACE = timedelta(days=1)  # before an object without a generation is deleted
_BATCH, _BATCH_LASTS = 500, timedelta(minutes=10)  # of objects that are deleted


class Worker:
    """Publishes one branch after the other.

    Args:
        catalog: with the role of a worker.
        objects: where generations go.
        folder: where repositories are kept between two publications of a branch; only this worker writes to it.
        name: what this worker is called.
        settings: how to index. Those of repositories have no effect.
        lease: how long another one waits for this one when it falls silent.
    """

    def __init__(
        self, catalog: Catalog, objects: Objects, folder: Path, name: str, settings: Settings, lease: timedelta
    ) -> None:
        self._list = WorkList(catalog, name, lease)
        self._objects = objects
        self._folder = folder
        self._settings = settings
        self._lease = lease
        self._problems = Problems()
        self._n_published = 0

    def figures(self) -> Mapping[str, object]:
        """Return what this worker did since the start, as JSON."""
        return {
            "published": self._n_published,
            "failed": self._problems.count,
            "problems": self._problems.rows(),
        }

    def look(self, rest: timedelta) -> bool:
        """Ask one repository for its newest commit; return whether one was due.

        Args:
            rest: between two looks for news of a branch, whoever looks.

        Raises:
            CatalogError: if the database cannot be reached.
        """
        found = self._list.look(rest)
        if found is None:
            return False
        branch_id, url, name = found
        try:
            self._list.want(branch_id, Mirror(self._place(branch_id) / "files", url, name).newest())
        except CatalogError:
            raise
        except CairnError as error:
            _log.warning("branch %d: %s", branch_id, error)
            self._problems.note(error.code, str(error))
            self._list.not_seen(branch_id, str(error))
        return True

    def work(self) -> bool:
        """Publish one branch that waits for it; return whether there was one.

        Raises:
            CatalogError: if the database cannot be reached.
        """
        claim = self._list.claim()
        if claim is None:
            return False
        try:
            with self._holding(claim) as lost:
                self._publish(claim, lost)
            self._n_published += 1
            _log.info("branch %d: published %s", claim.branch_id, claim.wanted)
        except LeaseError as error:
            _log.warning("branch %d: %s", claim.branch_id, error)
        except CatalogError:
            raise
        except (CairnError, OSError) as error:
            _log.warning("branch %d: %s", claim.branch_id, error)
            self._problems.note(getattr(error, "code", type(error).__name__), str(error))
            self._list.give_up(claim, str(error), _FAILURE_REST)
        return True

    def _publish(self, claim: Claim, lost: threading.Event) -> None:
        place = self._place(claim.branch_id)
        root = place / "files"
        Mirror(root, claim.url, claim.name).check_out(claim.wanted, self._settings.max_file_bytes)
        with Workspace.open(root, state_dir=place / "state", settings=self._settings) as workspace:
            workspace.index()
            _check(lost)
            self._resolve_graph(workspace, lost)
            with tempfile.TemporaryDirectory(dir=place) as scratch:
                pieces = self._store(workspace, Path(scratch), claim)
        if not self._list.publish(claim, pieces):
            raise LeaseError(_LOST, "there is nothing to do")

    def _store(self, workspace: Workspace, scratch: Path, claim: Claim) -> list[PublishedFile]:
        earlier = None
        if claim.tree is not None:
            self._objects.get(claim.tree, scratch / "earlier")
            earlier = Tree.load((scratch / "earlier").read_bytes())
        view = CheckoutView(workspace.root, None, self._settings.max_file_bytes)
        return publish(workspace.state, view, scratch, partial(self._keep, claim), earlier)

    def _keep(self, claim: Claim, file: Path) -> str:
        """Store an object that nobody deletes before it is published."""
        if not self._list.hold(claim, hash_of(file)):
            raise ObjectStoreError("an object of this generation is being deleted", "there is nothing to do")
        return self._objects.put(file, again=claim.again)

    def _resolve_graph(self, workspace: Workspace, lost: threading.Event) -> None:
        """Resolve the symbol graph, so that no node has to: in a process of its own, for that takes memory."""
        process = workspace.upkeep.prepare_graph()
        while process is not None and process.poll() is None:
            if lost.wait(_POLL_SECONDS):
                process.terminate()
                process.wait()
        _check(lost)

    @contextmanager
    def _holding(self, claim: Claim) -> Iterator[threading.Event]:
        """Renew the lease meanwhile; yield what is set once it was lost."""
        lost, done = threading.Event(), threading.Event()

        def renew() -> None:
            while not done.wait(self._lease.total_seconds() / 3):
                try:
                    if not self._list.renew(claim):
                        lost.set()
                        return
                except CatalogError as error:  # it may be back before the lease ends
                    _log.warning("branch %d: %s", claim.branch_id, error)

        thread = threading.Thread(target=renew, name="cairn-lease", daemon=True)
        thread.start()
        try:
            yield lost
        finally:
            done.set()
            thread.join()

    def _place(self, branch_id: int) -> Path:
        return self._folder / f"branch-{branch_id}"


def collect(catalog: Catalog, objects: Objects, grace: timedelta = GRACE) -> int:
    """Delete objects that no generation names; return how many.

    What was stored within the grace period stays, and what a worker is about to publish.

    Raises:
        CatalogError, ObjectStoreError: if the database or the store cannot be reached.
    """
    n_deleted = 0
    old = list(objects.older_than(grace))
    for start in range(0, len(old), _BATCH):
        with condemned(catalog, old[start : start + _BATCH], _BATCH_LASTS) as free:
            objects.delete(free)
        n_deleted += len(free)
    return n_deleted


_LOST = "another worker has taken over"


def _check(lost: threading.Event) -> None:
    if lost.is_set():
        raise LeaseError(_LOST, "there is nothing to do")
