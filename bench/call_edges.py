"""Compares Cairn's call edges with those of a reference, which `call_reference*` make.

    python bench/call_edges.py FOLDER REFERENCE.jsonl [--lines] [--wrong N] [--missed N]

A call site counts once: right where one of the definitions that the reference names has the edge's file and name; with
`--lines`, also its qualified name, by the line that the reference gives, so that only overloads are one. Precision is
over the sites for which the reference has an answer; recall over those it leads inside the folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.graph.code import Code
from cairn.graph.nodes import file_of, place_of
from cairn.graph.resolve import CALL, CONSTRUCT, DECORATE
from cairn.workspace import Workspace

Site = tuple[str, int, str]
Target = tuple[str, int, str]


class Found(NamedTuple):
    """An edge: how it was resolved, and where its target is; `named` is the qualified name."""

    how: str
    path: str
    name: str
    named: str


class Definitions:
    """The definitions of a project by file and name: (first line, last line, qualified name)."""

    def __init__(self, code: Code) -> None:
        self._places: dict[tuple[str, str], list[tuple[int, int, str]]] = defaultdict(list)
        for number, path in enumerate(code.paths):
            for definition in code.file(number).definitions:
                span = definition.span
                row = (span.start_line, span.end_line, definition.qualified_name)
                self._places[path, definition.name].append(row)

    def are(self, edge: Found, targets: Sequence[Target], *, by_line: bool) -> bool:
        """Tell whether one of the definitions that the reference names is the edge's, or an overload of it."""
        for path, line, name in targets:
            if (path, name) != (edge.path, edge.name):
                continue
            around = [row for row in self._places[path, name] if row[0] <= line <= row[1]]
            if not by_line or (around and max(around)[2] == edge.named):
                return True
        return False


def cairn_edges(folder: Path) -> tuple[dict[Site, Found], Definitions]:
    """Return {(path, line, name called): edge}, and the definitions of the project."""
    found: dict[Site, Found] = {}
    with tempfile.TemporaryDirectory() as state, Workspace.open(folder, state_dir=state) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        code = graph.code
        code.load_all()
        for number, path in enumerate(code.paths):
            for edge in graph.resolver.edges(number):
                if edge.kind not in (CALL, CONSTRUCT, DECORATE) or place_of(edge.target) < 0:
                    continue
                where, target = code.paths[file_of(edge.target)], code.definition(edge.target)
                named = Found(edge.how.name.lower(), where, target.name, target.qualified_name)
                found[path, edge.line, edge.called] = named
        return found, Definitions(code)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--lines", action="store_true", help="tell apart what has one name in one file")
    parser.add_argument("--wrong", type=int, default=0, help="show so many wrong edges")
    parser.add_argument("--missed", type=int, default=0, help="show so many sites without an edge")
    options = parser.parse_args()
    edges, definitions = cairn_edges(options.folder)
    right, answered, unanswered = Counter[str](), Counter[str](), Counter[str]()
    inside = found_inside = 0
    wrong, missed = [], []
    for text in options.reference.read_text(encoding="utf-8").splitlines():
        path, line, name, targets = json.loads(text)
        edge = edges.get((path, line, name))
        good = edge is not None and definitions.are(edge, targets or (), by_line=options.lines)
        if targets:
            inside += 1
            found_inside += good
        if edge is None:
            if targets:
                missed.append((path, line, name, targets))
        elif targets is None:
            unanswered[edge.how] += 1
        else:
            answered[edge.how] += 1
            right[edge.how] += good
            if not good:
                wrong.append((path, line, name, edge, targets))
    for how in ("exact", "import", "receiver", "name"):
        share = right[how] / answered[how] if answered[how] else 0.0
        print(f"{how:<9} precision {share:.3f} ({right[how]} of {answered[how]}; no answer for {unanswered[how]})")
    sure = [how for how in answered if how != "name"]
    print(f"without name: precision {sum(right[how] for how in sure) / max(1, sum(answered[how] for how in sure)):.3f}")
    print(f"recall {found_inside / max(1, inside):.3f} ({found_inside} of {inside})")
    for edge_site in wrong[: options.wrong]:
        print("wrong ", *edge_site)
    for site in missed[: options.missed]:
        print("missed", *site)
    return 0


if __name__ == "__main__":
    sys.exit(main())
