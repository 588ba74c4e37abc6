#!/usr/bin/env python3
"""Ask for definitions by their names, and count how often the first hits are they, with their exact lines.

    python bench/symbols.py REPOS --only flask gson --sample 50 [--state INDEXES] [--misses]

REPOS holds repositories side by side; each is indexed into INDEXES, or a temporary folder. Of each, names that one
definition has are sampled, and names that two to eight definitions share. A unique name is found when the first hit is
its definition with its lines, asked for by the name and by the qualified name; shared ones when the first hits are
exactly their definitions.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from cairn import Workspace
from cairn.answers import CodeHit
from cairn.config import Settings
from cairn.storage.index import chunk_db, view_db
from cairn.types import Mode

MOST_NAMESAKES = 8
_NAME = re.compile(r"[A-Za-z_]\w*")
_QUALIFIED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


class Place(NamedTuple):
    """Where a definition is, and what it is called."""

    path: str
    start_line: int
    end_line: int
    kind: str
    qualified_name: str


def definitions(workspace: Workspace) -> dict[str, list[Place]]:
    """Return the definitions of the indexed view, by name."""
    named: dict[str, list[Place]] = defaultdict(list)
    with closing(workspace.state.open_for_reading()) as connection:
        view = view_db.find_view(connection, str(workspace.root))
        assert view is not None
        blobs: dict[int, list[str]] = defaultdict(list)
        for row in view_db.iter_files(connection, view.id):
            if row.blob_id is not None:
                blobs[row.blob_id].append(row.path)
        for blob, found in chunk_db.read_definitions(connection, sorted(blobs)).items():
            for path in blobs[blob]:
                for definition in found:
                    place = Place(
                        path,
                        definition.span.start_line,
                        definition.span.end_line,
                        definition.kind,
                        definition.qualified_name,
                    )
                    named[definition.name].append(place)
    return named


def is_at(hit: CodeHit, place: Place) -> bool:
    return (hit.path, hit.start_line, hit.end_line, hit.kind) == place[:4]


def ask(workspace: Workspace, text: str, mode: Mode, limit: int) -> tuple[CodeHit, ...]:
    return workspace.search(text, mode=mode, limit=limit).code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--sample", type=int, default=50, help="names of each sort in each repository")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    chosen = options.only or sorted(path.name for path in options.repos.iterdir() if path.is_dir())
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    print(f"{'repository':<20} {'unique':>12} {'qualified':>12} {'--mode symbol':>14} {'shared':>12}")
    with tempfile.TemporaryDirectory() as temporary:
        for name in chosen:
            state = (options.state or Path(temporary)) / name
            with Workspace.open(options.repos / name, state_dir=state, settings=Settings()) as workspace:
                workspace.index()
                counts = evaluate(workspace, options.sample, show=options.misses)
            print(
                f"{name:<20} " + " ".join(f"{found:>5} of {asked:<4}" for found, asked in counts.values()), flush=True
            )
            for sort, (found, asked) in counts.items():
                totals[sort][0] += found
                totals[sort][1] += asked
    print(f"{'all':<20} " + " ".join(f"{found:>5} of {asked:<4}" for found, asked in totals.values()))
    return 0


def evaluate(workspace: Workspace, sample: int, *, show: bool) -> dict[str, tuple[int, int]]:
    """Return {sort of question: (answered right, asked)}."""
    named = definitions(workspace)
    chance = random.Random(0)
    unique = sorted(name for name, places in named.items() if len(places) == 1 and _NAME.fullmatch(name))
    shared = sorted(n for n, places in named.items() if 2 <= len(places) <= MOST_NAMESAKES and _NAME.fullmatch(n))
    unique = chance.sample(unique, min(sample, len(unique)))
    shared = chance.sample(shared, min(sample, len(shared)))
    scoped = [name for name in unique if _QUALIFIED.fullmatch(named[name][0].qualified_name)]
    found = {"unique": 0, "qualified": 0, "mode": 0, "shared": 0}

    def check(sort: str, text: str, mode: Mode, places: list[Place]) -> None:
        hits = ask(workspace, text, mode, len(places))
        right = len(hits) == len(places) and all(any(is_at(hit, place) for hit in hits) for place in places)
        found[sort] += right
        if show and not right:
            print(f"  {sort}: {text!r} is {places}; found {[(h.path, h.start_line, h.kind, h.name) for h in hits]}")

    for name in unique:
        check("unique", name, "auto", named[name])
        check("mode", name, "symbol", named[name])
    for name in scoped:
        check("qualified", named[name][0].qualified_name, "auto", named[name])
    for name in shared:
        check("shared", name, "auto", named[name])
    asked = {"unique": len(unique), "qualified": len(scoped), "mode": len(unique), "shared": len(shared)}
    return {sort: (found[sort], asked[sort]) for sort in asked}


if __name__ == "__main__":
    sys.exit(main())
