"""All edges of a project at once, as arrays that are walked in either direction and kept beside the index."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from cairn.errors import StoreError
from cairn.graph.code import Code
from cairn.graph.resolve import Resolver
from cairn.storage.arrays import load_arrays, save_arrays

Ints = npt.NDArray[np.int64]
_VERSION = 1  # raised whenever resolution changes


@dataclass(frozen=True, eq=False)
class Network:
    """Edges between nodes, and imports between files, sorted by where they come from.

    Shapes: sources, targets, kinds, hows, lines (n_edges,); importing, imported, import_lines, import_flags (n,).
    `seconds` is how long it took to make.
    """

    sources: Ints
    targets: Ints
    kinds: npt.NDArray[np.uint8]
    hows: npt.NDArray[np.uint8]
    lines: npt.NDArray[np.int32]
    importing: Ints
    imported: Ints
    import_lines: npt.NDArray[np.int32]
    import_flags: npt.NDArray[np.uint8]
    seconds: float = 0.0

    @classmethod
    def build(cls, code: Code, resolver: Resolver) -> Network:
        """Resolve every reference; all files are loaded."""
        started = time.perf_counter()
        edges = [edge[:5] for number in range(len(code.paths)) for edge in resolver.edges(number)]
        imports = [one for number in range(len(code.paths)) for one in resolver.imported(number)]
        table = np.array(edges, dtype=np.int64).reshape(-1, 5)
        table = table[np.argsort(table[:, 0], kind="stable")]
        among = np.array(imports, dtype=np.int64).reshape(-1, 4)
        return cls(
            table[:, 0].copy(),
            table[:, 1].copy(),
            table[:, 2].astype(np.uint8),
            table[:, 3].astype(np.uint8),
            table[:, 4].astype(np.int32),
            among[:, 0].copy(),
            among[:, 1].copy(),
            among[:, 2].astype(np.int32),
            among[:, 3].astype(np.uint8),
            time.perf_counter() - started,
        )

    def save(self, path: Path) -> None:
        """Write the arrays; where that cannot be done, they are made again next time."""
        names = [name for name in self.__dataclass_fields__ if name != "seconds"]
        try:
            save_arrays(path, {"version": np.array([_VERSION]), **{name: getattr(self, name) for name in names}})
        except StoreError:
            return

    @classmethod
    def load(cls, path: Path) -> Network | None:
        """Map a file that `save` wrote; None if there is none that can be used."""
        try:
            arrays = load_arrays(path)
        except StoreError:
            return None
        if int(cast("Ints", arrays.pop("version"))[0]) != _VERSION:
            return None
        return cls(**arrays)  # type: ignore[arg-type]  # the names and types are those that were saved

    # -- walking ------------------------------------------------------------------------------------------------------

    @cached_property
    def _into(self) -> tuple[Ints, Ints]:
        """The edges in the order of their targets, and those targets."""
        order = np.argsort(self.targets, kind="stable")
        return order, self.targets[order]

    def into(self, node: int) -> Ints:
        """Return the numbers of the edges that lead to a node."""
        order, targets = self._into
        first, end = np.searchsorted(targets, (node, node + 1))
        return order[first:end]

    def out_of(self, node: int) -> Ints:
        """Return the numbers of the edges that leave a node."""
        first, end = np.searchsorted(self.sources, (node, node + 1))
        return np.arange(first, end)

    @cached_property
    def importers(self) -> dict[int, list[int]]:
        """The files that import each file, once each."""
        found: dict[int, dict[int, None]] = {}
        for source, target in zip(self.importing.tolist(), self.imported.tolist(), strict=True):
            found.setdefault(target, {})[source] = None
        return {target: list(sources) for target, sources in found.items()}
