"""Writes what jedi says each call of a Python package is to; run with a Python that has jedi, apart from Cairn's own.

    python bench/call_reference.py PACKAGE_FOLDER > reference.jsonl

One JSON line a call site: [path, line, name, targets]. `targets` lists [path, line, name] of definitions inside
the folder; it is empty where jedi finds only definitions outside, and null where it finds nothing.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any


def call_sites(tree: ast.AST) -> list[tuple[int, int, str]]:
    """Return (line, column, name) of the last name of each callee; lines from 1, columns in characters from 0."""
    sites = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        callee = node.func
        if isinstance(callee, ast.Name):
            sites.append((callee.lineno, callee.col_offset, callee.id))
        elif isinstance(callee, ast.Attribute) and callee.end_lineno is not None and callee.end_col_offset is not None:
            sites.append((callee.end_lineno, callee.end_col_offset - len(callee.attr), callee.attr))
    return sorted(set(sites))


def main() -> int:
    import jedi  # type: ignore[import-not-found]  # noqa: PLC0415 - only in the environment this runs in

    root = Path(sys.argv[1]).resolve()
    project: Any = jedi.Project(root)
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        try:
            sites = call_sites(ast.parse(text))
        except SyntaxError:
            continue
        script: Any = jedi.Script(text, path=path, project=project)
        lines = text.splitlines()
        for line, column, name in sites:
            # `ast` counts bytes, jedi characters.
            characters = len(lines[line - 1].encode()[:column].decode())
            targets: list[list[object]] | None
            try:
                found = script.goto(line, characters, follow_imports=True)
            except Exception:  # noqa: BLE001 - jedi fails on some code in many ways; such a site has no answer
                found = []
            known = [target for target in found if target.type in ("function", "class") and target.line is not None]
            inside = [
                [target.module_path.relative_to(root).as_posix(), target.line, target.name]
                for target in known
                if target.module_path is not None and target.module_path.is_relative_to(root)
            ]
            targets = inside if inside or known or any(target.in_builtin_module() for target in found) else None
            print(json.dumps([path.relative_to(root).as_posix(), line, name, targets]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
