"""All edges of a project at once, as arrays that are walked in either direction and kept beside the index."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from cairn.errors import StoreError
from cairn.graph.code import NODE_BITS, Code
from cairn.graph.resolve import Resolver
from cairn.storage.arrays import load_arrays, save_arrays

Ints = npt.NDArray[np.int64]
_VERSION = 2  # raised whenever resolution changes


@dataclass(frozen=True, eq=False)
class Network:
    """Edges between nodes, and imports between files, sorted by where they come from.

    Shapes: sources, targets, kinds, hows, lines (n_edges,); importing, imported, import_lines, import_flags (n,);
    blobs (n_files,), what each file showed. `paths` is what `hash_of` gives for the files. `seconds` is
    how long it took to make.
    """

    blobs: Ints
    paths: npt.NDArray[np.uint8]

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
        numbers = range(len(code.paths))
        edges, imports = _tables(resolver, numbers)
        seconds = time.perf_counter() - started
        return cls._of(code.snapshot.files.blob_ids, hash_of(code), edges, imports, seconds)

    @classmethod
    def _of(cls, blobs: Ints, paths: npt.NDArray[np.uint8], edges: Ints, imports: Ints, seconds: float) -> Network:
        edges = edges[np.argsort(edges[:, 0], kind="stable")]
        return cls(
            blobs,
            paths,
            edges[:, 0].copy(),
            edges[:, 1].copy(),
            edges[:, 2].astype(np.uint8),
            edges[:, 3].astype(np.uint8),
            edges[:, 4].astype(np.int32),
            imports[:, 0].copy(),
            imports[:, 1].copy(),
            imports[:, 2].astype(np.int32),
            imports[:, 3].astype(np.uint8),
            seconds,
        )

    def patched(self, resolver: Resolver, numbers: Sequence[int]) -> Network:
        """Return the same with the references of some files resolved anew."""
        edges, imports = _tables(resolver, numbers)
        stay = ~np.isin(self.sources >> NODE_BITS, numbers)
        columns = (self.sources, self.targets, self.kinds, self.hows, self.lines)
        edges = np.concatenate([np.stack([column[stay].astype(np.int64) for column in columns], axis=1), edges])
        stay = ~np.isin(self.importing, numbers)
        among = (self.importing, self.imported, self.import_lines, self.import_flags)
        imports = np.concatenate([np.stack([column[stay].astype(np.int64) for column in among], axis=1), imports])
        return Network._of(self.blobs, self.paths, edges, imports, self.seconds)

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


def hash_of(code: Code) -> npt.NDArray[np.uint8]:
    """Return what tells one list of paths in one index from another. Shape (16,)."""
    text = "\0".join([code.identity, *code.paths]).encode("utf-8", "surrogateescape")
    return np.frombuffer(blake2b(text, digest_size=16).digest(), dtype=np.uint8)


def _tables(resolver: Resolver, numbers: Iterable[int]) -> tuple[Ints, Ints]:
    """Return the edges of some files, shape (n, 5), and their imports, shape (n, 4)."""
    edges = [np.array([edge[:5] for edge in resolver.edges(number)], np.int64).reshape(-1, 5) for number in numbers]
    imports = [np.array(resolver.imported(number), np.int64).reshape(-1, 4) for number in numbers]
    none = np.zeros((0, 5), np.int64)
    return np.concatenate([none, *edges]), np.concatenate([none[:, :4], *imports])
