"""What is done to an index now and then: examining, mending, tidying, linking near chunks, embedding."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import closing
from functools import partial

from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.embedding.keys import warnings_of
from cairn.errors import DerivedFileError
from cairn.facets.project_index import ProjectIndex
from cairn.index import background, gc, health
from cairn.index.embed import embed_chain
from cairn.index.estimate import estimate_chain
from cairn.index.gc import GarbageReport
from cairn.index.health import Finding
from cairn.index.hnsw import build_graphs
from cairn.index.limits import Progress
from cairn.index.status import read_status
from cairn.storage.lock import write_lock
from cairn.types import EmbeddingReport, Estimate


class Maintenance:
    """Looks after the index of a project; see `UpkeepFacet`."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._background: subprocess.Popen[bytes] | None = None

    def status(self) -> dict[str, object]:
        """Return what the index holds, as plain values for display."""
        index = self._index
        status = read_status(index.root, index.state, index.settings, index.views.checkout)
        return {**status, "asks_for": "" if index.asked is None else index.asked.words}

    def collect(self, *, dry_run: bool) -> GarbageReport:
        """Drop garbage. Damaged files are redone first, from the checkout."""
        try:
            return self._collect(dry_run)
        except DerivedFileError:
            self._index.writer.update(self._index.views.checkout, verify=True)
        return self._collect(dry_run)

    def _collect(self, dry_run: bool) -> GarbageReport:
        state, settings = self._index.state, self._index.settings
        state.open_for_reading().close()  # there is an index
        with (
            write_lock(state.lock, settings.lock_timeout_seconds),
            closing(state.open_for_writing()) as connection,
        ):
            return gc.collect(connection, state, settings, self._index.root, dry_run=dry_run)

    def doctor(self, *, fix: bool) -> list[Finding]:
        """Examine everything, and `fix` what can be."""
        findings = health.examine(self._index.state, bundled_fingerprint())
        if not fix or not any(one.repair for one in findings):
            return findings
        self._index.close()
        return self._repair(findings)

    def _repair(self, findings: list[Finding]) -> list[Finding]:
        """Mend what can be, examine again, and return what was mended, marked so, before what is left."""
        state, update = self._index.state, partial(self._index.writer.update, self._index.views.checkout)
        fixed: list[Finding] = []
        for _ in range(3):  # what is in the way hides what is behind
            health.repair(state, findings, update, partial(update, verify=True))
            left = health.examine(state, bundled_fingerprint())
            repairs = {one.repair for one in left}
            fixed += [one._replace(fixed=True) for one in findings if one.repair and one.repair not in repairs]
            findings = left
            if not any(repairs):
                break
        return [*fixed, *findings]

    def build_graphs(self, progress: Progress | None) -> int:
        """Build the neighbour graphs that are missing, and return for how many chunks."""
        settings = self._index.settings
        return build_graphs(self._index.state, settings.exact_chunks, settings.lock_timeout_seconds, progress)

    def embed(
        self, branch: str | None, *, full: bool, progress: Callable[[str, int, int], None] | None
    ) -> tuple[EmbeddingReport, ...]:
        """Complete the vectors of the configured models."""
        with closing(self._index.views.named(branch)) as view:
            return embed_chain(view, self._index.state, self._index.settings, full=full, progress=progress)

    def warnings(self) -> list[str]:
        """Return what the user should know before that."""
        return [text for settings in self._index.settings.chain for text in warnings_of(settings)]

    def estimate(self, branch: str | None) -> tuple[Estimate, ...]:
        """Return what that would take."""
        with closing(self._index.views.named(branch)) as view:
            return estimate_chain(view, self._index.state, self._index.settings.chain)

    def complete_in_background(self) -> bool:
        """Start a process that embeds, unless one does already, and tell whether that was done."""
        if self._background is not None and self._background.poll() is None:
            return False
        self._background = background.start(self._index.root, self._index.state, self._index.settings)
        return self._background is not None
