#!/usr/bin/env python3
"""Measure what a warm `impact` costs: of definitions drawn at random, and of those that most definitions refer to.

Processor time of this process counts, so that other load matters little. It covers all of a question: whether a file
changed, what feels the change, and the tests. What the first question costs, which resolves everything, is shown apart.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from cairn import Workspace
from cairn.graph.graph import Graph
from cairn.graph.impact import impact
from cairn.graph.nodes import file_of, place_of
from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from metrics import percentile


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("state", type=Path, metavar="STATE", help="where the index is, or shall be")
    parser.add_argument("--sample", type=int, default=300, help="definitions of each kind of draw (default 300)")
    parser.add_argument(
        "--limit", type=int, default=100, help="affected symbols shown (default 100, as in the command)"
    )
    parser.add_argument("--slowest", type=int, default=5, help="show so many")
    options = parser.parse_args()
    with Workspace.open(options.folder, state_dir=options.state) as workspace:
        workspace.index()
        graph = workspace.graph.current()
        started = time.process_time()
        edges = len(graph.network.sources)
        print(
            f"{len(graph.code.paths):,} files, {edges:,} edges, made or read in {time.process_time() - started:.1f} s"
        )
        print("| definitions | asked | affected, p50 / p95 / most | ms, p50 / p95 / p99 / most | under 100 ms |")
        print("|---|---:|---:|---:|---:|")
        ask(workspace, "at random", drawn(graph, options.sample), options)
        ask(workspace, "referred to most", hottest(graph, options.sample), options)


def drawn(graph: Graph, count: int) -> list[int]:
    """Return functions and types of the project at random, the same ones in every run."""
    nodes = [
        node
        for node in np.unique(graph.network.targets).tolist()
        if place_of(node) >= 0 and graph.code.definition(node).kind in FUNCTION_KINDS | TYPE_KINDS
    ]
    return random.Random(7).sample(nodes, min(count, len(nodes)))


def hottest(graph: Graph, count: int) -> list[int]:
    """Return the definitions with the most edges into them."""
    nodes, edges = np.unique(graph.network.targets, return_counts=True)
    return [node for node in nodes[np.argsort(-edges, kind="stable")].tolist() if place_of(node) >= 0][:count]


def ask(workspace: Workspace, title: str, nodes: Sequence[int], options: argparse.Namespace) -> None:
    """Print a row about the impact of some definitions, and the slowest of them."""
    graph = workspace.graph.current()
    impact(graph, nodes[:1], options.limit)
    taken: list[tuple[float, int, int]] = []
    for node in nodes:
        started = time.process_time()
        answer = impact(workspace.graph.current(), graph.code.group(node), options.limit)
        taken.append((1000 * (time.process_time() - started), len(answer.affected) + answer.omitted, node))
    milliseconds, affected = sorted(row[0] for row in taken), sorted(row[1] for row in taken)
    under = sum(value < 100 for value in milliseconds) / len(taken)
    print(
        f"| {title} | {len(taken)} | {median(affected):.0f} / {percentile(affected, 95):.0f} / {affected[-1]} "
        f"| {median(milliseconds):.0f} / {percentile(milliseconds, 95):.0f} / {percentile(milliseconds, 99):.0f} "
        f"/ {milliseconds[-1]:.0f} | {under:.1%} |"
    )
    for spent, count, node in sorted(taken, reverse=True)[: options.slowest]:
        definition = graph.code.definition(node)
        print(f"  {spent:.0f} ms, {count} affected: {graph.code.paths[file_of(node)]}:{definition.qualified_name}")


if __name__ == "__main__":
    main()
