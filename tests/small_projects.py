"""Small projects in files of any language, and who calls what in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cairn.workspace import Workspace

THINGS = [
    *("wallet", "harbour", "lantern", "orchard", "granary", "chimney"),
    *("turbine", "glacier", "meadow", "viaduct", "quarry", "sextant"),
]


def callers(root: Path, symbol: str, files: Mapping[str, str]) -> set[tuple[str, int]]:
    """Write and index a project, and return where a symbol of it is called, as (path, line)."""
    write_files(root, files)
    with Workspace.open(root) as workspace:
        workspace.index()
        return {(link.path, link.line) for link in workspace.graph.callers(symbol).links}


def write_things(root: Path) -> None:
    """Write a class for each of `THINGS`, in a file of its own, all alike."""
    methods = "    def open(self):\n        return 1\n\n    def shut(self):\n        return 2\n"
    write_files(root, {f"{name}.py": f"class {name.title()}:\n{methods}" for name in THINGS})


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write files by their path below a folder, which need not be there yet."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
