"""Compares Cairn's call edges with those of a reference: a compiler or a language server, asked by `call_reference*`.

    python bench/call_edges.py FOLDER REFERENCE.jsonl [--lines] [--symbols 30] [--seed 1] [--wrong N] [--missed N]

A call site counts once: right where one of the definitions that the reference names has the edge's file and name.
Precision is over the sites for which the reference has an answer; recall over those it leads inside the folder.
With `--lines`, the qualified names count, by the lines that the reference gives, so that only overloads are one.
With `--symbols`, the same for the callers of functions and methods chosen at random among those that are called.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cairn.graph.code import Code
from cairn.graph.nodes import file_of, place_of
from cairn.graph.resolve import CALL, CONSTRUCT, DECORATE
from cairn.workspace import Workspace

Site = tuple[str, int, str]
Target = tuple[str, str]  # its path and name


class Found(NamedTuple):
    """Where Cairn says that a call leads, and how it knows."""

    how: str
    target: Target


@dataclass(slots=True)
class Score:
    """Counts of call sites; `right` and `answered` by how Cairn knows, for those that the reference answers."""

    right: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)
    inside: int = 0
    found: int = 0
    wrong: list[object] = field(default_factory=list)
    missed: list[object] = field(default_factory=list)

    def add(self, site: Site, edges: Collection[Found], targets: Collection[Target] | None) -> None:
        """Count a site: Cairn's edges and what the reference says, None for no answer."""
        edge = next((edge for edge in edges if edge.target in (targets or ())), next(iter(edges), None))
        is_right = edge is not None and edge.target in (targets or ())
        if targets:
            self.inside += 1
            self.found += is_right
        if edge is None:
            if targets:
                self.missed.append((*site, targets))
        elif targets is None:
            self.unanswered[edge.how] += 1
        else:
            self.answered[edge.how] += 1
            self.right[edge.how] += is_right
            if not is_right:
                self.wrong.append((*site, edge, targets))

    def precision(self, ways: Collection[str]) -> float:
        """Return the share of right sites among those known in some ways."""
        return sum(self.right[how] for how in ways) / max(1, sum(self.answered[how] for how in ways))

    @property
    def recall(self) -> float:
        """Return the share of found sites among those that lead inside."""
        return self.found / max(1, self.inside)


class Names:
    """What definitions are called: their names, or their qualified names by the lines they are on."""

    def __init__(self, code: Code, *, by_line: bool) -> None:
        self.paths = set(code.paths)
        self._code = code
        self._by_line = by_line
        self._spans: dict[Target, list[tuple[int, int, str]]] = defaultdict(list)
        for number, path in enumerate(code.paths if by_line else ()):
            for definition in code.file(number).definitions:
                span = definition.span
                self._spans[path, definition.name].append((span.start_line, span.end_line, definition.qualified_name))

    def of_node(self, node: int) -> Target:
        """Return the path and the name of a definition."""
        definition = self._code.definition(node)
        return self._code.paths[file_of(node)], definition.qualified_name if self._by_line else definition.name

    def at(self, path: str, line: int, name: str) -> Target:
        """Return the same of the definition with a name around a line of a file."""
        around = [span for span in self._spans.get((path, name), ()) if span[0] <= line <= span[1]]
        return path, max(around)[2] if around else name


def cairn_edges(folder: Path, *, by_line: bool) -> tuple[dict[Site, list[Found]], Names]:
    """Return {(path, line, name called): where it leads}, and what the definitions are called."""
    found: dict[Site, list[Found]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as state, Workspace.open(folder, state_dir=state) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        code = graph.code
        code.load_all()
        names = Names(code, by_line=by_line)
        for number, path in enumerate(code.paths):
            for edge in graph.resolver.edges(number):
                if edge.kind not in (CALL, CONSTRUCT, DECORATE) or place_of(edge.target) < 0:
                    continue
                found[path, edge.line, edge.called].append(Found(edge.how.name.lower(), names.of_node(edge.target)))
        return found, names


def read_reference(path: Path, names: Names) -> dict[Site, list[Target] | None]:
    """Return {site: where it leads} in the files of the index.

    A site leads to None where the reference has no answer for any call of that name on the line. What leads to files
    that Cairn leaves out, such as vendored ones, leads outside.
    """
    sites: dict[Site, list[Target] | None] = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        file, line, name, targets = json.loads(text)
        if file not in names.paths:
            continue
        known = sites.get((file, line, name))
        if targets is not None:
            known = [*(known or ()), *(names.at(*target) for target in targets if target[0] in names.paths)]
        sites[file, line, name] = known
    return sites


def score_of_symbols(
    edges: Mapping[Site, list[Found]], reference: Mapping[Site, list[Target] | None], count: int, seed: int
) -> Score:
    """Return the score of the callers of some definitions that are called, chosen at random."""
    callers: dict[tuple[Target, ...], set[Site]] = defaultdict(set)  # one may be declared in several places
    for site, targets in reference.items():
        if targets:
            callers[tuple(sorted(set(targets)))].add(site)
    chosen = random.Random(seed).sample(sorted(callers), min(count, len(callers)))
    score = Score()
    for symbol in chosen:
        for site, found in edges.items():
            own = [edge for edge in found if edge.target in symbol]
            if own and site in reference and site not in callers[symbol]:
                score.add(site, own, reference[site])
        for site in sorted(callers[symbol]):
            score.add(site, [edge for edge in edges.get(site, ()) if edge.target in symbol], symbol)
    return score


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--lines", action="store_true", help="tell apart what has one name in one file")
    parser.add_argument("--symbols", type=int, default=0, help="score the callers of so many definitions only")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of definitions")
    parser.add_argument("--wrong", type=int, default=0, help="show so many wrong edges")
    parser.add_argument("--missed", type=int, default=0, help="show so many sites without an edge")
    options = parser.parse_args()
    edges, names = cairn_edges(options.folder, by_line=options.lines)
    reference = read_reference(options.reference, names)
    score = Score()
    if options.symbols:
        score = score_of_symbols(edges, reference, options.symbols, options.seed)
    else:
        for site, targets in reference.items():
            score.add(site, edges.get(site, ()), targets)
    for how in ("exact", "import", "receiver", "name"):
        counts = f"{score.right[how]} of {score.answered[how]}; no answer for {score.unanswered[how]}"
        print(f"{how:<9} precision {score.precision([how]):.3f} ({counts})")
    print(f"without name: precision {score.precision(['exact', 'import', 'receiver']):.3f}")
    precision = score.precision(list(score.answered))
    print(f"precision {precision:.3f} recall {score.recall:.3f} ({score.found} of {score.inside})")
    chance = random.Random(options.seed)
    for title, sites, most in (("wrong ", score.wrong, options.wrong), ("missed", score.missed, options.missed)):
        for shown in chance.sample(sites, min(most, len(sites))):
            print(title, shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
