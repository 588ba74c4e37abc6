"""Compares Cairn's call edges with those of a reference, which `call_reference.py` makes for Python.

    python bench/call_edges.py FOLDER REFERENCE.jsonl [--wrong N] [--missed N]

A call site counts once: right where one of the definitions that the reference names has the edge's file and name.
Precision is over the sites for which the reference has an answer; recall over those it leads inside the folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from cairn.graph.nodes import file_of, place_of
from cairn.graph.resolve import CALL, CONSTRUCT, DECORATE
from cairn.workspace import Workspace

Site = tuple[str, int, str]


def cairn_edges(folder: Path) -> dict[Site, tuple[str, str, str]]:
    """Return {(path, line, name called): (how, path, name of the target)}."""
    found: dict[Site, tuple[str, str, str]] = {}
    with tempfile.TemporaryDirectory() as state, Workspace.open(folder, state_dir=state) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        code = graph.code
        code.load_all()
        for number, path in enumerate(code.paths):
            for edge in graph.resolver.edges(number):
                if edge.kind not in (CALL, CONSTRUCT, DECORATE) or place_of(edge.target) < 0:
                    continue
                target = (code.paths[file_of(edge.target)], code.definition(edge.target).name)
                found[path, edge.line, edge.called] = (edge.how.name.lower(), *target)
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--wrong", type=int, default=0, help="show so many wrong edges")
    parser.add_argument("--missed", type=int, default=0, help="show so many sites without an edge")
    options = parser.parse_args()
    edges = cairn_edges(options.folder)
    right, answered, unanswered = Counter[str](), Counter[str](), Counter[str]()
    inside = found_inside = 0
    wrong, missed = [], []
    for text in options.reference.read_text(encoding="utf-8").splitlines():
        path, line, name, targets = json.loads(text)
        edge = edges.get((path, line, name))
        good = edge is not None and any((target[0], target[2]) == edge[1:] for target in targets or ())
        if targets:
            inside += 1
            found_inside += good
        if edge is None:
            if targets:
                missed.append((path, line, name, targets))
        elif targets is None:
            unanswered[edge[0]] += 1
        else:
            answered[edge[0]] += 1
            right[edge[0]] += good
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
