"""How control and data flow in the functions of a project, as its files are on disk now."""

from __future__ import annotations

from pathlib import Path

from cairn.structure.flow import FlowGraph, Slice, flow_of, slice_from


class Flows:
    """Reads functions of the files below a root; see `CodeFacet`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def flow(self, path: str | Path, function: str) -> FlowGraph:
        """Return how control and data flow in one function."""
        return flow_of(self._root, path, function)

    def slice(self, path: str | Path, line: int, variable: str, *, forward: bool) -> Slice:
        """Return the lines of a function that a line depends on, or that depend on it."""
        return slice_from(self._root, path, line, variable, forward=forward)
