"""Completes an index with the vectors of other embedding models, and estimates what that costs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import closing

from cairn.embedding.keys import warnings_of
from cairn.facets.project_index import ProjectIndex
from cairn.index import background
from cairn.index.embed import embed_chain
from cairn.index.estimate import estimate_chain
from cairn.loading import load
from cairn.types import EmbeddingReport, Estimate


class ModelUpkeep:
    """Runs the configured models; see `UpkeepFacet`."""

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._background: subprocess.Popen[bytes] | None = None

    def embed(
        self, branch: str | None, *, full: bool, progress: Callable[[str, int, int], None] | None
    ) -> tuple[EmbeddingReport, ...]:
        """Complete the vectors of the configured models."""
        with closing(
            load("cairn.facets.memory:MemoryFacet")(self._index)
        ) as memory:  # loaded now: few projects need it
            memory.recall.models.complete()
        with closing(self._index.views.find(branch)) as view:
            return embed_chain(view, self._index.state, self._index.settings, full=full, progress=progress)

    def warnings(self) -> list[str]:
        """Return what the user should know before texts are sent."""
        return [text for settings in self._index.settings.chain for text in warnings_of(settings)]

    def estimate(self, branch: str | None) -> tuple[Estimate, ...]:
        """Return what embedding would take."""
        with closing(self._index.views.find(branch)) as view:
            return estimate_chain(view, self._index.state, self._index.settings.chain)

    def complete_in_background(self) -> bool:
        """Start a process that embeds unless one is running already; return whether it was started."""
        if self._background is not None and self._background.poll() is None:
            return False
        self._background = background.start(self._index.root, self._index.state, self._index.settings)
        return self._background is not None
