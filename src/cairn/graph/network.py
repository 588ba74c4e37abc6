"""All edges of a project as arrays, to be walked in either direction; kept beside the index."""

from __future__ import annotations

import time
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from cairn import waiting
from cairn.errors import StoreError
from cairn.graph.code import Code
from cairn.graph.entities import How
from cairn.graph.nodes import NODE_BITS
from cairn.graph.resolve import Edge, Resolver, renamings
from cairn.storage.arrays import are_below, are_bounds, load_arrays, save_arrays

Ints = npt.NDArray[np.int64]
_VERSION = 33  # raised whenever resolution changes
_LAYOUT = {
    "version": ("i8", 1), "blobs": ("i8", 1), "identity": ("u1", 1), "path_bytes": ("u1", 1), "needs": ("u4", 1),
    "first_needs": ("i8", 1), "sources": ("i8", 1), "targets": ("i8", 1), "kinds": ("u1", 1), "hows": ("u1", 1),
    "lines": ("i4", 1), "called": ("u4", 1), "order": ("u4", 1), "name_bytes": ("u1", 1), "importing": ("i8", 1),
    "imported": ("i8", 1), "import_lines": ("i4", 1), "import_flags": ("u1", 1), "overriding": ("i8", 1),
    "overridden": ("i8", 1), "renaming": ("i8", 1), "renamed": ("u4", 1), "renamed_to": ("u4", 1),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Network:
    """Edges between nodes, and imports between files, sorted by where they come from.

    Shapes: sources, targets, kinds, hows, lines, called, order (n_edges,); importing, imported, import_lines,
    import_flags (n,); overriding, overridden (n,), methods and those of base types; renaming, renamed, renamed_to (n,),
    files that import or export something under another name, its name and the other; blobs (n_files,), what each file
    showed; needs (n,), what each file needs to keep its rows, and first_needs (n_files + 1,), where those of a file
    begin. `called` is the name that is used there, a place in the names, and `order` the place of an edge among those
    of its file. `path_bytes` and `name_bytes` hold paths and names, a zero byte between two, `identity` what
    `meta_db.identity` gave for the database that the ids of blobs are from. `seconds` is how long it took to make,
    `resolved` how many files were resolved then.
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
    called: npt.NDArray[np.uint32]
    order: npt.NDArray[np.uint32]
    name_bytes: npt.NDArray[np.uint8]
    importing: Ints
    imported: Ints
    import_lines: npt.NDArray[np.int32]
    import_flags: npt.NDArray[np.uint8]
    overriding: Ints
    overridden: Ints
    renaming: Ints
    renamed: npt.NDArray[np.uint32]
    renamed_to: npt.NDArray[np.uint32]
    seconds: float = 0.0
    resolved: int = 0

    @classmethod
    def build(cls, code: Code, resolver: Resolver) -> Network:
        """Resolve every reference; the facts of all files must have been found.

        Raises:
            BusyError: once nobody waits for the answer any more.
        """
        started = time.perf_counter()
        numbers = range(len(code.paths))
        names: dict[str, int] = {}
        tables, needs = Tables.of(resolver, numbers, names)
        return cls._of(code, tables, needs, names, time.perf_counter() - started, len(numbers))

    @classmethod
    def _of(
        cls, code: Code, tables: Tables, needs: Needs, names: Iterable[str], seconds: float, resolved: int
    ) -> Network:
        columns = dict(zip(_COLUMNS.split(), (column for table in tables for column in table), strict=True))
        return cls(
            blobs=np.array(code.snapshot.files.blob_ids),
            identity=np.frombuffer(code.identity.encode(), np.uint8),
            path_bytes=_pack(code.paths),
            needs=needs.all,
            first_needs=needs.first,
            name_bytes=_pack(names),
            seconds=seconds,
            resolved=resolved,
            **columns,
        )

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files, by number."""
        return _unpack(self.path_bytes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that `called`, `renamed` and `renamed_to` are places of."""
        return _unpack(self.name_bytes)

    def needing(self, needs: Collection[int]) -> list[int]:
        """Return the files with any of some needs."""
        rows = np.flatnonzero(np.isin(self.needs, np.array(sorted(needs), np.uint32)))
        files = np.searchsorted(self.first_needs, rows, "right") - 1
        return cast("list[int]", np.unique(files).tolist())

    @property
    def _tables(self) -> Tables:
        return Tables(
            (self.sources, self.targets, self.kinds, self.hows, self.lines, self.called, self.order),
            (self.importing, self.imported, self.import_lines, self.import_flags),
            (self.overriding, self.overridden),
            (self.renaming, self.renamed, self.renamed_to),
        )

    def without(self, code: Code, stale: Collection[int]) -> Network | None:
        """Return the network with the numbers that files have now, and without the rows of some.

        Args:
            code: as it is now.
            stale: by their numbers now; new files are among them.

        Returns:
            None if a row that should stay leads to a file that is gone.
        """
        to = np.array([code.numbers.get(path, -1) for path in self.paths], np.int64)
        kept = self._tables.without(to, stale)
        if kept is None:
            return None
        parts = [_NO_NEEDS] * len(code.paths)
        for old, number in enumerate(to.tolist()):
            if number >= 0 and number not in stale:
                parts[number] = self.needs[self.first_needs[old] : self.first_needs[old + 1]]
        needs = Needs(np.concatenate([_NO_NEEDS, *parts]), np.cumsum([0, *map(len, parts)]))
        return Network._of(code, kept, needs, self.names, 0.0, 0)

    def completed(self, code: Code, resolver: Resolver, stale: Collection[int]) -> Network:
        """Return what `without` gave, with the rows of the files that it lacks, which are resolved."""
        started = time.perf_counter()
        names = {name: place for place, name in enumerate(self.names)}
        tables, of_stale = Tables.of(resolver, sorted(stale), names)
        parts = [self.needs[first:end] for first, end in pairwise(self.first_needs.tolist())]
        for at, number in enumerate(sorted(stale)):
            parts[number] = of_stale.all[of_stale.first[at] : of_stale.first[at + 1]]
        needs = Needs(np.concatenate([_NO_NEEDS, *parts]), np.cumsum([0, *map(len, parts)]))
        whole = self._tables.with_more(tables)
        return Network._of(code, whole, needs, names, time.perf_counter() - started, len(stale))

    def save(self, path: Path) -> None:
        """Write the arrays; if that fails, they are made again next time."""
        names = [name for name in self.__dataclass_fields__ if name not in ("seconds", "resolved")]
        try:
            save_arrays(path, {"version": np.array([_VERSION]), **{name: getattr(self, name) for name in names}})
        except StoreError:
            return

    @classmethod
    def load(cls, path: Path, identity: str) -> Network | None:
        """Map a file that `save` wrote for the same database, None if there is no usable one."""
        try:
            arrays = load_arrays(path, _LAYOUT)
        except StoreError:
            return None
        if arrays["version"].tolist() != [_VERSION] or arrays["identity"].tobytes() != identity.encode():
            return None
        # The names and types are those that were saved.
        found = cls(**{name: arrays[name] for name in _LAYOUT if name != "version"})  # type: ignore[arg-type] # as they were saved
        return found if found._fits() else None

    def _fits(self) -> bool:
        """Tell whether the arrays are consistent and refer to existing files."""
        n_files = len(self.blobs)
        lengths = all(len(column) == len(table[0]) for table in self._tables for column in table)
        lengths = lengths and len(self.paths) == n_files
        nodes = (self.sources, self.targets, self.overriding, self.overridden)
        return (
            lengths
            and are_bounds(self.first_needs, n_files, len(self.needs))
            and all(are_below(column, n_files << NODE_BITS) for column in nodes)
            and all(are_below(column, n_files) for column in (self.importing, self.imported, self.renaming))
            and all(are_below(column, len(self.names)) for column in (self.called, self.renamed, self.renamed_to))
            and are_below(self.hows, len(How))
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

    def importers(self, number: int) -> list[int]:
        """Return the files that import a file, once each."""
        order, imported = self._imports_into
        first, end = np.searchsorted(imported, (number, number + 1))
        return list(dict.fromkeys(self.importing[order[first:end]].tolist()))

    @cached_property
    def _imports_into(self) -> tuple[Ints, Ints]:
        """The imports in the order of what they import, and that."""
        order = np.argsort(self.imported, kind="stable")
        return order, self.imported[order]


Columns = tuple[npt.NDArray[Any], ...]
# Of edges: source, target, kind, how, line, name used and place in the file; of imports: importing and imported file,
# line and flags; of overrides: a method and that of a base type; of renamings: file, name and other name.
_EDGES, _IMPORTS, _OVERRIDES, _RENAMINGS = "qqBBiII", "qqiB", "qq", "qII"
_COLUMNS = """sources targets kinds hows lines called order importing imported import_lines import_flags
    overriding overridden renaming renamed renamed_to"""
_NO_NEEDS = np.zeros(0, np.uint32)


class Needs(NamedTuple):
    """What files need, one file after the other. Shapes: all (n,), first (n_files + 1,), where those of each begin."""

    all: npt.NDArray[np.uint32]
    first: Ints


class Tables(NamedTuple):
    """What files contribute to a network, as columns: edges by their sources, imports, overrides, renamings."""

    edges: Columns
    imports: Columns
    overrides: Columns
    renamings: Columns

    @classmethod
    def of(cls, resolver: Resolver, numbers: Iterable[int], names: dict[str, int]) -> tuple[Tables, Needs]:
        """Resolve some files, given in ascending order; also return what each of them needs.

        Args:
            resolver: resolves them.
            numbers: of the files.
            names: the places of names; new ones are added.
        """
        edges, imports, overrides, others = map(_Growing, (_EDGES, _IMPORTS, _OVERRIDES, _RENAMINGS))
        needs, first = array("I"), [0]
        for number in numbers:
            waiting.check()
            edges.extend(_by_source(resolver.edges(number), names))
            imports.extend(resolver.imports(number))
            overrides.extend_columns(resolver.overrides(number))
            others.extend(
                (number, names.setdefault(name, len(names)), names.setdefault(alias, len(names)))
                for name, alias in renamings(resolver.code.file(number))
            )
            needs.extend(sorted(resolver.needs(number)))
            first.append(len(needs))
        tables = cls(edges.columns(), imports.columns(), overrides.columns(), others.columns())
        return tables, Needs(np.array(needs, np.uint32), np.array(first, np.int64))

    def without(self, to: Ints, stale: Collection[int]) -> Tables | None:
        """Return the rows of all files except the stale ones, by the numbers that files have now.

        Args:
            to: shape (n_files,), by the number that a file had, that which it has now; -1 for one that is gone.
            stale: by their numbers now.

        Returns:
            None if a row that should stay leads to a file that is gone.
        """
        stays = to >= 0
        stays[np.isin(to, np.array(sorted(stale), np.int64))] = False
        kept = []
        for columns, bits, n_ends in zip(self, (NODE_BITS, 0, NODE_BITS, 0), (2, 2, 2, 1), strict=True):
            stay = np.flatnonzero(stays[columns[0] >> bits])
            ends = [column[stay] for column in columns[:n_ends]]
            moved = [to[nodes >> bits] << bits | nodes & ((1 << bits) - 1) for nodes in ends]
            if (moved[-1] < 0).any():
                return None
            kept.append((*moved, *(column[stay] for column in columns[n_ends:])))
        return Tables(*kept)

    def with_more(self, other: Tables) -> Tables:
        """Return the rows of both in the order in which they would stand if all had been resolved again."""
        tables = []
        for own, more in zip(self, other, strict=True):
            columns = tuple(np.concatenate(pair) for pair in zip(own, more, strict=True))
            order = np.argsort(columns[0], kind="stable")
            tables.append(tuple(column[order] for column in columns))
        return Tables(*tables)


def _by_source(edges: Sequence[Edge], names: dict[str, int]) -> list[tuple[int, ...]]:
    rows = [(*edge[:5], names.setdefault(edge.called, len(names)), order) for order, edge in enumerate(edges)]
    return sorted(rows, key=lambda row: row[0])


def _pack(texts: Iterable[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\0".join(texts).encode("utf-8", "surrogateescape"), np.uint8)


def _unpack(data: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    text = data.tobytes().decode("utf-8", "surrogateescape")
    return tuple(text.split("\0")) if text else ()


class _Growing:
    """Columns that rows are added to; `types` are type codes as `array` has them."""

    def __init__(self, types: str) -> None:
        self._columns = [array(code) for code in types]

    def extend(self, rows: Iterable[Sequence[int]]) -> None:
        """Add rows."""
        for column, values in zip(self._columns, zip(*rows, strict=True), strict=False):
            column.extend(values)

    def extend_columns(self, columns: Iterable[array[int]]) -> None:
        """Add rows that are columns already."""
        for column, values in zip(self._columns, columns, strict=True):
            column.extend(values)

    def columns(self) -> Columns:
        """Return the columns."""
        return tuple(np.array(column, column.typecode) for column in self._columns)
