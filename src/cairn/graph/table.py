"""The definitions of all files as arrays: of which kind each is, and where a name is defined."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
# What is read of a definition: the blob it is in, its place in that, its kind and its name.
Row = tuple[int, int, str, str]


@dataclass(frozen=True, eq=False)
class DefinitionTable:
    """Shapes: nodes, kinds (n,), in ascending order of the nodes; hashes, named (n,), in that of the hashes.

    `kinds` are places in `kind_names`; `named` are the nodes by the hashes of their names, in ascending order for each.
    """

    nodes: Ints
    kinds: npt.NDArray[np.uint8]
    kind_names: Sequence[str]
    hashes: Ints
    named: Ints

    @classmethod
    def of(
        cls, rows: Iterable[Row], blobs: Sequence[int], others: Mapping[int, Sequence[tuple[str, str]]], bits: int
    ) -> DefinitionTable:
        """Make the table of the files that show some blobs.

        Args:
            rows: in ascending order of blob and place; those of other blobs are left out.
            blobs: what each file shows, by its number.
            others: (kind, name) of the definitions of files that the rows do not cover, by their numbers.
            bits: how many bits of a node hold the place in a file.
        """
        names: dict[str, int] = {}
        stored = _columns_of_blobs(rows, set(blobs), names, bits)
        parts = [_columns_of_files(stored, blobs, others, bits)]
        for number, definitions in others.items():
            places = np.arange(len(definitions), dtype=np.int64) + (number << bits | 1)
            kinds = [names.setdefault(kind, len(names)) for kind, _ in definitions]
            hashes = [hash(name) for _, name in definitions]
            parts.append((places, np.array(kinds, np.uint8), np.array(hashes, np.int64)))
        nodes, kinds_of, hashes_of = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(nodes, kind="stable")
        nodes, kinds_of, hashes_of = nodes[order], kinds_of[order], hashes_of[order]
        by_name = np.argsort(hashes_of, kind="stable")
        return cls(nodes, kinds_of, tuple(names), hashes_of[by_name], nodes[by_name])

    def nodes_named(self, name: str, *, are_tests: bool = False) -> list[int]:
        """Return the definitions of a name in ascending order, of tests or of all others.

        Names with equal 64-bit hashes are not told apart.
        """
        first, end = np.searchsorted(self.hashes, hash(name)), np.searchsorted(self.hashes, hash(name), "right")
        nodes = self.named[first:end]
        if "test" in self.kind_names:
            is_test = self.kinds[np.searchsorted(self.nodes, nodes)] == self.kind_names.index("test")
            nodes = nodes[is_test == are_tests]
        elif are_tests:
            nodes = nodes[:0]
        found: list[int] = nodes.tolist()
        return found

    def of_kinds(self, kinds: Collection[str]) -> Ints:
        """Return the definitions of some kinds in ascending order."""
        wanted = np.array([name in kinds for name in self.kind_names], np.bool_)
        return self.nodes[wanted[self.kinds]] if len(self.nodes) else self.nodes


_Columns = tuple[Ints, npt.NDArray[np.uint8], Ints]


def _columns_of_blobs(rows: Iterable[Row], wanted: Collection[int], names: dict[str, int], bits: int) -> _Columns:
    """Return what blobs define: a number of blob and place, the kind, the hash of the name."""
    places, kinds, hashes = array("q"), array("B"), array("q")
    for blob, ordinal, kind, name in rows:
        if blob in wanted:
            places.append(blob << bits | ordinal + 1)
            kinds.append(names.setdefault(kind, len(names)))
            hashes.append(hash(name))
    return np.array(places, np.int64), np.array(kinds, np.uint8), np.array(hashes, np.int64)


def _columns_of_files(stored: _Columns, blobs: Sequence[int], others: Collection[int], bits: int) -> _Columns:
    """Return what files define according to their blobs, leaving out some files."""
    places, kinds, hashes = stored
    shown = np.array(blobs, np.int64)
    first, end = np.searchsorted(places, shown << bits), np.searchsorted(places, (shown + 1) << bits)
    counts = end - first
    counts[np.array(list(others), np.int64)] = 0
    total = int(counts.sum())
    at = np.arange(total) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    numbers = np.repeat(np.arange(len(shown)), counts)
    return (places[at] & ((1 << bits) - 1)) | numbers << bits, kinds[at], hashes[at]
