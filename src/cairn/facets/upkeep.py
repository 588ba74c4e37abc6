"""Keeps the index of a project: follows edits, repairs, collects garbage, and completes the vectors of other models.

What few runs need is in `cairn.facets.maintenance`, `cairn.facets.models` and `cairn.index.watch`, which are imported
when there is work for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cairn.errors import PathError, StoreError
from cairn.facets.project_index import Follower, ProjectIndex
from cairn.graph.patience import LEAST_FILES
from cairn.index.limits import run_behind
from cairn.index.past_files import is_complete, past_file
from cairn.index.plan import missing_graphs
from cairn.loading import load
from cairn.storage.connection import store_errors
from cairn.storage.index.schema import INDEX
from cairn.storage.index.view_db import count_files, find_view
from cairn.types import EmbeddingReport, Estimate, IndexReport

if TYPE_CHECKING:
    import subprocess

    from cairn.facets.maintenance import Maintenance
    from cairn.facets.memory import MemoryFacet
    from cairn.facets.models import ModelUpkeep
    from cairn.index.gc import GarbageReport
    from cairn.index.health import Finding
    from cairn.index.limits import Progress
    from cairn.index.views import CheckoutView
    from cairn.index.watch import Batch, Update, Watcher
    from cairn.memory.salvage import Salvaged


class UpkeepFacet:
    """Keeps the index of a project in order; get it as `Workspace.upkeep`."""

    def __init__(self, index: ProjectIndex, memory: Callable[[], MemoryFacet]) -> None:
        self._index, self._memory = index, memory
        self._prepared = 0  # the last generation of which the symbol graph was prepared

    @cached_property
    def _maintenance(self) -> Maintenance:
        from cairn.facets.maintenance import Maintenance  # noqa: PLC0415 - start-up time: numpy, for what is rarely due

        return Maintenance(self._index)

    @cached_property
    def _models(self) -> ModelUpkeep:
        from cairn.facets.models import ModelUpkeep  # noqa: PLC0415 - start-up time: most projects need no other model

        return ModelUpkeep(self._index)

    def watcher(self) -> Watcher:
        """Return a watcher of this project's files, as the settings say."""
        self._index.check_named()
        settings, state = self._index.settings, self._index.state.path
        watcher: Watcher = load("cairn.index.watch:watcher_of")(
            self._index.root, self._index.repository, settings, state
        )
        return watcher

    def watch(self, watcher: Watcher) -> Iterator[Update]:
        """Keep the index up to date until the watcher is stopped, and yield each update; see `watcher`.

        Edits are indexed at once, and so is what an answer waits for. Other work, as after the start or a switch of
        branches, runs at low priority on some of the cores (see `Settings`).

        Raises:
            PathError: if the folder is gone.
        """

        def update(batch: Batch) -> IndexReport:
            if batch.is_edit or batch.is_awaited:
                root = self._index.root
                changed = {os.path.relpath(path, root) for path in batch.paths} if batch.is_exact else None
                return self._index.update(background=True, changed=changed)
            return run_behind(
                self._index.settings, lambda progress: self._index.update(background=True, progress=progress)
            )

        updates: Iterator[Update] = load("cairn.index.watch:follow")(watcher, update, StoreError, PathError)
        return updates

    def knows_history(self) -> bool:
        """Tell whether no commit of the checkout is left to be read, as far as times tell; also if none is wanted."""
        index = self._index
        if index.repository is None or not index.settings.history:
            return True
        file = past_file(index.state, index.views.checkout.name)
        return is_complete(file, index.repository, index.settings.history_commits)

    def rely_on(self, follower: Follower, checkout: CheckoutView | None = None) -> None:
        """Answer from now on without comparing the files whenever a follower says that the index is up to date.

        Args:
            checkout: reads the files from now on, if anything else than the folder has them.
        """
        self._index.follower = follower
        if checkout is not None:
            self._index.views.checkout = checkout

    def status(self) -> dict[str, Any]:
        """Return what the index and the memory hold, as plain values for display."""
        index = self._index
        status = load("cairn.index.status:read_status")(index.root, index.state, index.settings, index.views.checkout)
        memory = load("cairn.facets.memory_status:read_memory_status")(index, self._memory())
        asks_for = "" if index.consent_request is None else index.consent_request.words
        return {**status, "memory": memory, "asks_for": asks_for}

    def collect(self, *, dry_run: bool = False) -> GarbageReport:
        """Drop what no branch and no worktree has had for `Settings.garbage_days`.

        Args:
            dry_run: only report what would be dropped.

        Raises:
            IndexMissingError: if nothing is indexed yet.
        """
        return self._maintenance.collect(dry_run=dry_run)

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """Examine the index and what it depends on, from the disk to every row and file.

        Args:
            fix: repair what can be repaired, and examine again. A damaged database is kept beside the new one.

        Returns:
            everything that was examined; what was repaired is marked as `fixed`.
        """
        return self._maintenance.doctor(fix=fix)

    def adopt_memory(self) -> int:
        """Take over a memory that was made elsewhere, such as one from a backup, once the user confirmed it.

        Returns:
            how many memories it holds; -1 if it was made here.

        Raises:
            NotFoundError: if there is none.
            StoreDamagedError: if it is damaged; then nothing is changed.
        """
        return self._maintenance.adopt_memory()

    def salvage_memory(self) -> Salvaged:
        """Save what can be read of a damaged memory into a new one, once the user confirmed it.

        Raises:
            NotFoundError: if there is none.
            RequestError: if it is whole.
            StoreDamagedError: if nothing of it can be read; then nothing is changed.
        """
        return self._maintenance.salvage_memory()

    def build_graphs(self, progress: Progress | None = None) -> int:
        """Build the neighbour graphs that make a large index faster, and return for how many chunks.

        Without them search is exact. For an index of up to `Settings.exact_chunks` chunks there is nothing to do. An
        interruption loses the graph that is being built and nothing else.

        Args:
            progress: called with (chunks done, chunks to do); equal chunks count once.

        Raises:
            IndexMissingError: if nothing is indexed yet.
            NotAvailableError: if there is something to do, but the extra `large` is not installed.
        """
        state = self._index.state
        with closing(state.open_for_reading()) as connection, store_errors(state.database, INDEX):
            if not missing_graphs(connection, state, self._index.settings.exact_chunks):
                return 0
        return self._maintenance.build_graphs(progress)

    def prepare_graph(self) -> subprocess.Popen[bytes] | None:
        """Start a process that resolves the symbol graph of a large project, once for each generation of its index.

        Then the first question about all of it takes no longer than the next. None if there is nothing to do.
        """
        index = self._index
        with closing(index.state.open_for_reading()) as connection, store_errors(index.state.database, INDEX):
            view = find_view(connection, index.views.checkout.name)
            if view is None or view.generation <= self._prepared or view.pending:
                return None
            self._prepared = view.generation
            if count_files(connection, view.id) < LEAST_FILES:
                return None
        process: subprocess.Popen[bytes] | None = load("cairn.index.background:start_graph")(
            index.root, index.state, index.settings
        )
        return process

    # -- other models -------------------------------------------------------------------------------------------------

    def embed(
        self,
        *,
        branch: str | None = None,
        full: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> tuple[EmbeddingReport, ...]:
        """Complete the vectors of the models that `Settings.embedding` names; the bundled model needs no such run.

        Every batch is committed, so an interruption loses at most one. A failing model is reported, not raised.

        Args:
            branch: as for `Workspace.index`.
            full: drop the vectors of these models and start over.
            progress: called with (model, chunks done, chunks to do).

        Raises:
            IndexMissingError: if nothing is indexed yet.
            IndexLockedError: if another process is embedding.
        """
        return self._models.embed(branch, full=full, progress=progress) if self._index.settings.chain else ()

    def warnings(self) -> list[str]:
        """Return what the user should know before texts are sent to the configured models, in sentences."""
        memory = self._index.settings.memory
        of_embedding = self._models.warnings() if self._index.settings.chain else []
        return [*of_embedding, *(memory.warnings if memory is not None else [])]

    def estimate(self, branch: str | None = None) -> tuple[Estimate, ...]:
        """Return what `index` and then `embed` would take for each model; nothing is sent or changed."""
        return self._models.estimate(branch) if self._index.settings.chain else ()

    def complete_in_background(self) -> bool:
        """Start a process that completes the vectors that the last answer lacked; return whether it was started.

        `cairn.index.background.start` says when it is not.
        """
        embedding = self._index.settings.embedding
        is_wanted = embedding is not None and embedding.background and self._index.lacks_vectors
        return is_wanted and self._models.complete_in_background()
