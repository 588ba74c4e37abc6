#!/usr/bin/env python3
"""Compare the graph search of a large index with exact search, on a real index; see README.md beside this file."""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from statistics import mean

import numpy as np
import numpy.typing as npt

from cairn.embedding.static import StaticModel
from cairn.index.hnsw import NEAREST, NeighbourGraph
from cairn.index.segment import Segment
from cairn.index.snapshot import Snapshot
from cairn.index.vectors import Vectors
from cairn.protocol.requests import SearchRequest
from cairn.search.query import understand
from cairn.search.rank import rank
from cairn.search.rank_files import query_vector
from cairn.search.score import Weights
from cairn.storage.index import segment_db
from cairn.workspace import Workspace
from metrics import percentile
from processes import peak_mb, resident_mb

Floats = npt.NDArray[np.float32]
TOP = 10
MAX_FILE_BYTES = 500_000
# A sentence that begins a docstring, a comment of the Javadoc kind, or one in three slashes.
_DOCUMENTATION = re.compile(r'(?:"""|/\*\*\s+\*?\s*|///\s+)([A-Z][a-z]+ [^\n.@<{*]{20,120})\.\s')


def read_questions(root: Path, count: int) -> list[str]:
    """Return first sentences of documentation comments in the files below `root`, the same ones every time."""
    files = sorted(file for file in root.rglob("*") if file.is_file() and file.stat().st_size < MAX_FILE_BYTES)
    random.Random(1).shuffle(files)
    found: list[str] = []
    for file in files:
        if match := _DOCUMENTATION.search(file.read_text(encoding="utf-8", errors="replace")):
            found.append(match.group(1))
            if len(found) == count:
                break
    return found


def time_calls(call: Callable[[Floats], object], queries: Sequence[Floats]) -> str:
    """Return the median and the 95th percentile of what a call costs, in milliseconds of processor time."""
    taken = []
    for query in queries:
        started = time.process_time()
        call(query)
        taken.append(1000 * (time.process_time() - started))
    return f"p50 {percentile(taken, 50):.1f} ms, p95 {percentile(taken, 95):.1f} ms"


def measure_building(vectors: npt.NDArray[np.int8], queries: Sequence[Floats]) -> None:
    """Build the graph of some vectors, and print what it costs and how much it finds."""
    before = resident_mb(os.getpid())
    wall, cpu = time.perf_counter(), time.process_time()
    graph = NeighbourGraph.build(vectors)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"graph of {len(vectors):,} vectors: built in {wall:.0f} s, {cpu:.0f} s of processor time", end="")
    print(f", {resident_mb(os.getpid()) - before:.0f} MB more in memory")
    measure_recall(graph, vectors, queries)


def measure_recall(graph: NeighbourGraph, vectors: npt.NDArray[np.int8], queries: Sequence[Floats]) -> None:
    """Print how many of the ten nearest a graph of some vectors finds, and what that costs."""
    exact = Vectors([vectors], vectors.shape[1])
    tenths = [float(np.partition(exact.similarities(query), -TOP)[-TOP]) for query in queries]
    for count in (250, 500, 1000, NEAREST):

        def near(query: Floats, count: int = count) -> Floats:
            return exact.similarities_of(graph.nearest(query, count), query)

        pairs = zip(queries, tenths, strict=True)
        shares = [min(TOP, int((near(query) >= tenth - 1e-6).sum())) / TOP for query, tenth in pairs]
        note = "<- what a search asks for" if count == NEAREST else ""
        print(
            f"  nearest {count:>5}: recall@{TOP} {mean(shares):.4f}, worst {min(shares):.1f},",
            time_calls(near, queries),
            note,
        )
    print(f"  every row: {time_calls(exact.similarities, queries)}")


def measure_ranking(workspace: Workspace, questions: Sequence[str], label: str) -> list[list[int]]:
    """Rank the whole index for each question, print what it costs, and return the rows of the best ten."""
    model, weights = StaticModel.load(), Weights()
    with closing(workspace.state.open_for_reading()) as connection:
        started = time.process_time()
        snapshot = Snapshot.open(connection, workspace.state, str(workspace.root))
        opened = 1000 * (time.process_time() - started)
        taken, tens = [], []
        for question in ["warm up", *questions]:
            query = understand(question, "auto")
            started = time.process_time()
            ranking = rank(
                snapshot, connection, query, query_vector(model, query), SearchRequest(query=""), TOP, weights
            )
            taken.append(1000 * (time.process_time() - started))
            tens.append([ranked.row for ranked in ranking.rows])
    p50, p95 = percentile(taken[1:], 50), percentile(taken[1:], 95)
    print(
        f"ranking {snapshot.n_rows:,} rows, {label}: p50 {p50:.1f} ms, p95 {p95:.1f} ms; first {taken[0]:.0f} ms",
        end="",
    )
    print(f", opening {opened:.0f} ms, memory {resident_mb(os.getpid()):.0f} MB")
    return tens[1:]


def compare(exact: Sequence[Sequence[int]], actual: Sequence[Sequence[int]]) -> str:
    """Return how far the rows of the best ten agree."""
    pairs = list(zip(exact, actual, strict=True))
    same = mean(ten == other for ten, other in pairs)
    shared = mean(len(set(ten) & set(other)) / max(1, len(ten)) for ten, other in pairs)
    first = mean(ten[:1] == other[:1] for ten, other in pairs)
    return f"all ten the same in order: {same:.3f} of questions; first {first:.4f}; share of the ten {shared:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="a folder with a million chunks or more, such as unpacked packages")
    parser.add_argument("state", type=Path, help="where its index is, or is to be")
    parser.add_argument("--sizes", type=int, nargs="*", default=[600_000], help="vectors to build graphs of")
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()

    model = StaticModel.load()
    questions = read_questions(options.root, options.questions)
    vectors = [query_vector(model, understand(question, "auto")) for question in questions]
    queries = [vector for vector in vectors if vector is not None]
    with Workspace.open(options.root, state_dir=options.state) as workspace:
        print(f"{len(queries)} questions such as {questions[0]!r}", file=sys.stderr)
        workspace.index()
        for file in workspace.state.derived.glob("*.hnsw"):
            file.unlink()
        exact = measure_ranking(workspace, questions, "every row")
        started = time.perf_counter()
        n_chunks = workspace.upkeep.build_graphs()
        taken = time.perf_counter() - started
        print(f"graphs for {n_chunks:,} chunks in {taken:.0f} s, peak {peak_mb(os.getpid()):.0f} MB")
        print(compare(exact, measure_ranking(workspace, questions, "by graphs")))
        with closing(workspace.state.open_for_reading()) as connection:
            rows = segment_db.read_segments(connection)
        segments = [Segment.load(workspace.state.segment(row.name)) for row in rows]
        for row, segment in zip(rows, segments, strict=True):
            if (file := workspace.state.neighbours(row.name)).exists():
                started = time.process_time()
                graph = NeighbourGraph.load(file)
                taken = 1000 * (time.process_time() - started)
                print(f"graph of {len(segment):,} rows, {file.stat().st_size / 1e6:.0f} MB, opened in {taken:.0f} ms")
                measure_recall(graph, segment.vectors, queries)
        for size in options.sizes:
            measure_building(np.concatenate([segment.vectors for segment in segments])[:size], queries)


if __name__ == "__main__":
    main()
