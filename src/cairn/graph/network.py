"""All edges of a project at once, as arrays that are walked in either direction and kept beside the index."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from cairn.errors import StoreError
from cairn.graph.code import NODE_BITS, Code
from cairn.graph.resolve import Resolver
from cairn.storage.arrays import are_below, are_bounds, load_arrays, save_arrays

Ints = npt.NDArray[np.int64]
_VERSION = 4  # raised whenever resolution changes
_LAYOUT = {
    "version": ("i8", 1), "blobs": ("i8", 1), "identity": ("u1", 1), "path_bytes": ("u1", 1), "needs": ("u4", 1),
    "first_needs": ("i8", 1), "sources": ("i8", 1), "targets": ("i8", 1), "kinds": ("u1", 1), "hows": ("u1", 1),
    "lines": ("i4", 1), "importing": ("i8", 1), "imported": ("i8", 1), "import_lines": ("i4", 1),
    "import_flags": ("u1", 1), "overriding": ("i8", 1), "overridden": ("i8", 1),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Network:
    """Edges between nodes, and imports between files, sorted by where they come from.

    Shapes: sources, targets, kinds, hows, lines (n_edges,); importing, imported, import_lines, import_flags (n,);
    overriding, overridden (n,), methods and those of base types; blobs (n_files,), what each file showed; needs (n,),
    what each file needs to keep its rows, and first_needs (n_files + 1,), where those of a file begin. `path_bytes`
    holds the paths, a zero byte between two, `identity` what `cairn.storage.meta_db.identity` gave for the database
    that the ids of blobs are from. `seconds` is how long it took to make, `resolved` how many files were resolved then.
    """

    blobs: Ints
    identity: npt.NDArray[np.uint8]
    path_bytes: npt.NDArray[np.uint8]
    needs: npt.NDArray[np.uint32]
    first_needs: Ints

    sources: Ints
    targets: Ints
    kinds: npt.NDArray[np.uint8]
    hows: npt.NDArray[np.uint8]
    lines: npt.NDArray[np.int32]
    importing: Ints
    imported: Ints
    import_lines: npt.NDArray[np.int32]
    import_flags: npt.NDArray[np.uint8]
    overriding: Ints
    overridden: Ints
    seconds: float = 0.0
    resolved: int = 0

    @classmethod
    def build(cls, code: Code, resolver: Resolver) -> Network:
        """Resolve every reference; all files are loaded."""
        started = time.perf_counter()
        numbers = range(len(code.paths))
        tables, needs = Tables.of(resolver, numbers), [resolver.needs(number) for number in numbers]
        return cls._of(code, tables, needs, time.perf_counter() - started, len(numbers))

    @classmethod
    def _of(
        cls, code: Code, tables: Tables, needs: Sequence[Collection[int]], seconds: float, resolved: int
    ) -> Network:
        # Whatever was resolved anew, rows stand as if all had been.
        edges, imports, overrides = (rows[np.argsort(rows[:, 0], kind="stable")] for rows in tables)
        return cls(
            np.array(code.snapshot.files.blob_ids),
            np.frombuffer(code.identity.encode(), np.uint8),
            np.frombuffer("\0".join(code.paths).encode("utf-8", "surrogateescape"), np.uint8),
            np.array([need for one in needs for need in sorted(one)], np.uint32),
            np.cumsum([0, *map(len, needs)]),
            edges[:, 0].copy(),
            edges[:, 1].copy(),
            edges[:, 2].astype(np.uint8),
            edges[:, 3].astype(np.uint8),
            edges[:, 4].astype(np.int32),
            imports[:, 0].copy(),
            imports[:, 1].copy(),
            imports[:, 2].astype(np.int32),
            imports[:, 3].astype(np.uint8),
            overrides[:, 0].copy(),
            overrides[:, 1].copy(),
            seconds,
            resolved,
        )

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files, by number."""
        text = self.path_bytes.tobytes().decode("utf-8", "surrogateescape")
        return tuple(text.split("\0")) if text else ()

    def needing(self, needs: Collection[int]) -> list[int]:
        """Return the files that need any of some things."""
        rows = np.flatnonzero(np.isin(self.needs, np.array(sorted(needs), np.uint32)))
        files = np.searchsorted(self.first_needs, rows, "right") - 1
        return cast("list[int]", np.unique(files).tolist())

    @property
    def _tables(self) -> Tables:
        edges = (self.sources, self.targets, self.kinds, self.hows, self.lines)
        imports = (self.importing, self.imported, self.import_lines, self.import_flags)
        return Tables(_stacked(edges), _stacked(imports), _stacked((self.overriding, self.overridden)))

    def patched(self, code: Code, resolver: Resolver, stale: Collection[int]) -> Network | None:
        """Return the network of now, where some files are resolved anew and the rows of all others stay.

        Args:
            stale: by their numbers now; new files are among them.

        Returns:
            None if a row that should stay leads to a file that is gone.
        """
        started = time.perf_counter()
        to = np.array([code.numbers.get(path, -1) for path in self.paths], np.int64)
        kept = self._tables.kept(to, stale)
        if kept is None:
            return None
        tables = kept.with_more(Tables.of(resolver, sorted(stale)))
        needs: list[Collection[int]] = [()] * len(code.paths)
        for old, number in enumerate(to.tolist()):
            if number >= 0 and number not in stale:
                needs[number] = self.needs[self.first_needs[old] : self.first_needs[old + 1]].tolist()
        for number in stale:
            needs[number] = resolver.needs(number)
        return Network._of(code, tables, needs, time.perf_counter() - started, len(stale))

    def save(self, path: Path) -> None:
        """Write the arrays; where that cannot be done, they are made again next time."""
        names = [name for name in self.__dataclass_fields__ if name not in ("seconds", "resolved")]
        try:
            save_arrays(path, {"version": np.array([_VERSION]), **{name: getattr(self, name) for name in names}})
        except StoreError:
            return

    @classmethod
    def load(cls, path: Path, identity: str) -> Network | None:
        """Map a file that `save` wrote for the same database; None if there is none that can be used."""
        try:
            arrays = load_arrays(path, _LAYOUT)
        except StoreError:
            return None
        if arrays["version"].tolist() != [_VERSION] or arrays["identity"].tobytes() != identity.encode():
            return None
        # The names and types are those that were saved.
        found = cls(**{name: arrays[name] for name in _LAYOUT if name != "version"})  # type: ignore[arg-type]
        return found if found._fits() else None

    def _fits(self) -> bool:
        """Tell whether the arrays fit each other, and lead to files that are there."""
        n_files, n_edges, n_imports = len(self.blobs), len(self.sources), len(self.importing)
        lengths = (
            all(len(one) == n_edges for one in (self.targets, self.kinds, self.hows, self.lines))
            and all(len(one) == n_imports for one in (self.imported, self.import_lines, self.import_flags))
            and len(self.overriding) == len(self.overridden)
            and len(self.paths) == n_files
        )
        nodes = (self.sources, self.targets, self.overriding, self.overridden)
        return (
            lengths
            and are_bounds(self.first_needs, n_files, len(self.needs))
            and all(are_below(one, n_files << NODE_BITS) for one in nodes)
            and all(are_below(one, n_files) for one in (self.importing, self.imported))
        )

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


class Tables(NamedTuple):
    """What files contribute to a network, one row each.

    Shapes: edges (n, 5), source, target, kind, how and line; imports (n, 4), importing and imported file, line and
    flags; overrides (n, 2), a method and that of a base type.
    """

    edges: Ints
    imports: Ints
    overrides: Ints

    @classmethod
    def of(cls, resolver: Resolver, numbers: Iterable[int]) -> Tables:
        """Resolve some files."""
        edges, imports, overrides = [], [], []
        for number in numbers:
            edges.append(_rows([edge[:5] for edge in resolver.edges(number)], 5))
            imports.append(_rows(resolver.imported(number), 4))
            overrides.append(_rows(resolver.overrides(number), 2))
        return Tables(
            np.concatenate([_rows([], 5), *edges]),
            np.concatenate([_rows([], 4), *imports]),
            np.concatenate([_rows([], 2), *overrides]),
        )

    def kept(self, to: Ints, stale: Collection[int]) -> Tables | None:
        """Return the rows of all files but the stale ones, by the numbers that files have now.

        Args:
            to: shape (n_files,), by the number that a file had, that which it has now; -1 for one that is gone.
            stale: by their numbers now.

        Returns:
            None if a row that should stay leads to a file that is gone.
        """
        leaving = np.array(sorted(stale), np.int64)
        kept = []
        for rows, bits in ((self.edges, NODE_BITS), (self.imports, 0), (self.overrides, NODE_BITS)):
            sources, targets = to[rows[:, 0] >> bits], to[rows[:, 1] >> bits]
            stay = (sources >= 0) & ~np.isin(sources, leaving)
            if (targets[stay] < 0).any():
                return None
            places = rows[stay, :2] & ((1 << bits) - 1)
            ends = np.stack([sources[stay], targets[stay]], axis=1) << bits | places
            kept.append(np.concatenate([ends, rows[stay, 2:]], axis=1))
        return Tables(*kept)

    def with_more(self, other: Tables) -> Tables:
        """Return the rows of both."""
        return Tables(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


def _rows(rows: Sequence[Sequence[int]], width: int) -> Ints:
    return np.array(rows, np.int64).reshape(-1, width)


def _stacked(columns: Iterable[npt.NDArray[np.integer[Any]]]) -> Ints:
    return np.stack([column.astype(np.int64) for column in columns], axis=1)
