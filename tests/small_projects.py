"""Small projects in files of any language, and who calls what in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cairn.workspace import Workspace


def callers(root: Path, symbol: str, files: Mapping[str, str]) -> set[tuple[str, int]]:
    """Write and index a project, and return where a symbol of it is called, as (path, line)."""
    write_files(root, files)
    with Workspace.open(root) as workspace:
        workspace.index()
        return {(link.path, link.line) for link in workspace.graph.callers(symbol).links}


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write files by their path below a folder, which need not be there yet."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
