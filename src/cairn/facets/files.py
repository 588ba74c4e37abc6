"""Outlines of a project's files and the definitions in them, as the files are on disk now."""

from __future__ import annotations

from pathlib import Path

from cairn.answers import Fetched, Outline
from cairn.hints import HintStyle
from cairn.structure.answer import Surroundings, make_outline
from cairn.structure.locate import fetch_symbol
from cairn.types import OutlineMode


class Files:
    """Reads single files below a root; see `CodeFacet`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def fetch(self, text_id: str) -> Fetched | None:
        """Return the text that an outline's id names, None if it is another kind of id."""
        return fetch_symbol(self._root, text_id)

    def outline(
        self,
        path: str | Path,
        mode: OutlineMode,
        symbol: str | None,
        max_tokens: int | None,
        surroundings: Surroundings,
        hints: HintStyle,
    ) -> Outline:
        """Return what a file defines; `surroundings` are for a context."""
        return make_outline(self._root, path, mode, symbol, max_tokens, surroundings, hints)
