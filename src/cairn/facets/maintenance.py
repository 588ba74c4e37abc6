"""Occasional work on an index: examining, repairing, collecting garbage, building neighbour graphs."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing, suppress
from functools import partial

from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.errors import DerivedFileError, StoreDamagedError
from cairn.facets.project_index import ProjectIndex
from cairn.hints import Hint
from cairn.index import gc, health
from cairn.index.gc import GarbageReport
from cairn.index.health import Finding
from cairn.index.hnsw import build_graphs
from cairn.index.limits import Progress
from cairn.kernels.build import IS_COMPILED
from cairn.memory.salvage import Salvaged, salvage_memory
from cairn.memory.spool import Spool
from cairn.memory.upkeep import (
    adopt_memory,
    examine_memory,
    examine_shared,
    examine_spool,
    rebuild_memory,
    redate_memory,
    reshare,
)
from cairn.search.tuning import find_tuning
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock


class Maintenance:
    """Looks after the index of a project; see `UpkeepFacet`."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index

    def collect(self, *, dry_run: bool) -> GarbageReport:
        """Drop garbage. Damaged derived files are first rebuilt from the checkout."""
        try:
            return self._collect(dry_run)
        except DerivedFileError:
            self._index.writer.update(self._index.views.checkout, verify=True)
        return self._collect(dry_run)

    def _collect(self, dry_run: bool) -> GarbageReport:
        state, settings = self._index.state, self._index.settings
        state.open_for_reading().close()  # there is an index
        with (
            write_lock(state.lock, settings.lock_timeout_seconds, INDEX),
            closing(state.open_for_writing()) as connection,
        ):
            return gc.collect(connection, state, settings, self._index.root, dry_run=dry_run)

    def doctor(self, *, fix: bool) -> list[Finding]:
        """Examine everything, and `fix` what can be."""
        findings = self._examine()
        if not fix or not any(finding.repair for finding in findings):
            return findings
        self._index.close()
        return self._repair(findings)

    def _examine(self) -> list[Finding]:
        state = self._index.state
        waiting = examine_spool(Spool(self._index.root))
        index = health.examine(state, bundled_fingerprint())
        memory = [*examine_memory(state), *examine_shared(state, self._index.root)]
        return [health.examine_git(self._index.root), *index, *memory, *waiting, *self._tuning(), _examine_kernels()]

    def _tuning(self) -> list[Finding]:
        """Tell of a tuning whether answers use it; nothing where there is none."""
        tuning, problem = find_tuning(self._index.state)
        if problem:
            words = f"a tuning is there, but not used: {problem}"
            return [Finding("tuning", "warning", words, hint=Hint("tune it again", "optimize run"))]
        return [Finding("tuning", "ok", f"version {tuning.number} is used")] if tuning.number else []

    def adopt_memory(self) -> int:
        """Take over a memory that was made elsewhere."""
        return adopt_memory(self._index.state)

    def salvage_memory(self) -> Salvaged:
        """Save what can be read of a damaged memory."""
        return salvage_memory(self._index.state)

    def _repair(self, findings: list[Finding]) -> list[Finding]:
        """Repair what can be repaired, examine again, and return what was fixed, marked so, before what is left."""
        state, update = self._index.state, partial(self._index.writer.update, self._index.views.checkout)
        fixed: list[Finding] = []
        for _ in range(3):  # a problem may hide others
            health.repair(state, findings, update, partial(update, verify=True))
            self._repair_memory({finding.repair for finding in findings})
            left = self._examine()
            repairs = {finding.repair for finding in left}
            done = [finding for finding in findings if finding.repair and finding.repair not in repairs]
            fixed += [finding._replace(fixed=True) for finding in done]
            findings = left
            if not any(repairs):
                break
        return [*fixed, *findings]

    def _repair_memory(self, wanted: Collection[str]) -> None:
        state = self._index.state
        if "refold" in wanted:
            with suppress(StoreDamagedError):  # what is left is told
                rebuild_memory(state)
        if "redate" in wanted:
            redate_memory(state)
        if "reshare" in wanted:
            reshare(state, self._index.root)

    def build_graphs(self, progress: Progress | None) -> int:
        """Build the missing neighbour graphs, and return for how many chunks."""
        settings = self._index.settings
        return build_graphs(self._index.state, settings.exact_chunks, settings.lock_timeout_seconds, progress)


def _examine_kernels() -> Finding:
    """Tell whether searches run as fast as they can on this machine."""
    if IS_COMPILED:
        return Finding("ranking", "ok", "compiled for this machine")
    return Finding(
        "ranking", "ok", "not compiled, so that searches take longer; with a C compiler, install Cairn again"
    )
