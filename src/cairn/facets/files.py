"""Outlines of a project's files and the definitions in them, as the files are on disk now."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

from cairn.answers import Fetched, Outline
from cairn.hints import HintStyle
from cairn.structure.answer import Surroundings, make_outline
from cairn.structure.locate import fetch_symbol, read_outlined
from cairn.types import OutlineMode

_READ_FILES = 4  # that a question keeps


class Files:
    """Reads single files below a root; see `CodeFacet`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def fetcher(self) -> Callable[[str], Fetched | None]:
        """Return what gives the text that an outline's id names, None for another kind of id.

        It is for one question: a file is read once for ids that follow each other.
        """
        return partial(fetch_symbol, self._root, read=lru_cache(_READ_FILES)(read_outlined))

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
