"""Outlines of a project's files, and what an id of one names, as the files are on disk now."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.answers import Fetched, Outline, OutlineSymbol
from cairn.structure.answer import make_outline
from cairn.structure.context import Section
from cairn.structure.locate import fetch_symbol
from cairn.types import OutlineMode

if TYPE_CHECKING:
    from cairn.graph.graph import Graph


class Files:
    """Reads single files below a root; see `CodeFacet`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def fetch(self, text_id: str) -> Fetched | None:
        """Return the text that an id of an outline names, None if it is no such id."""
        return fetch_symbol(self._root, text_id)

    def outline(
        self,
        path: str | Path,
        mode: OutlineMode,
        symbol: str | None,
        max_tokens: int | None,
        open_graph: Callable[[], AbstractContextManager[Graph]],
    ) -> Outline:
        """Return what a file defines; `open_graph` is for a context."""
        return make_outline(self._root, path, mode, symbol, max_tokens, partial(_surroundings, open_graph))


def _surroundings(
    open_graph: Callable[[], AbstractContextManager[Graph]], path: str, symbol: OutlineSymbol
) -> tuple[list[Section], tuple[str, ...]]:
    from cairn.graph.surroundings import surroundings  # noqa: PLC0415 - start-up time: only a context needs numpy

    return surroundings(open_graph, path, symbol)
