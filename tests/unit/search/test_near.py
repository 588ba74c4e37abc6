from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from cairn.index.analysis import Postings, quantize
from cairn.index.hnsw import NEAREST, NeighbourGraph
from cairn.index.segment import Segment
from cairn.index.snapshot import Snapshot
from cairn.index.view import ViewFile, build_view
from cairn.search.near import NARROW, SETTLED_FILES, Nearness, Totals, compare
from cairn.storage.index import meta_db

N_BLOBS, ROWS, DIMENSIONS = 1_500, 4, 32
WEIGHT = 0.8
RANDOM = np.random.default_rng(5)

Floats = npt.NDArray[np.float32]


def unit(n_rows: int) -> Floats:
    rows = RANDOM.normal(size=(n_rows, DIMENSIONS)).astype(np.float32)
    scaled: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def make_segment(first: int, n_blobs: int) -> Segment:
    nothing = np.zeros(0, np.uint8)
    return Segment(
        np.arange(first, first + n_blobs, dtype=np.int64),
        np.arange(0, n_blobs * ROWS + 1, ROWS, dtype=np.int64),
        np.zeros(n_blobs * ROWS, np.uint8),
        quantize(unit(n_blobs * ROWS)),
        Postings(np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.int32), nothing, nothing),
    )


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """A large segment with a graph and a small one without."""
    folder = tmp_path_factory.mktemp("derived")
    segments = [make_segment(1, N_BLOBS), make_segment(N_BLOBS + 1, 20)]
    NeighbourGraph.build(segments[0].vectors, threads=1).save(folder / "a.hnsw")
    paths = [ViewFile(f"f{blob:04}.py", blob, "python") for blob in range(1, N_BLOBS + 21)]
    files = build_view(paths, lambda words: np.zeros((len(words), DIMENSIONS), np.float32), DIMENSIONS)
    return Snapshot(meta_db.State("", 1), "", 0, segments, files, [folder / "a.hnsw", folder / "b.hnsw"])


def test_what_is_known_is_exact_and_the_rest_is_hardly_ever_exceeded(snapshot: Snapshot) -> None:
    query = unit(1)[0]
    exact = snapshot.vectors.similarities(query)
    near = compare(snapshot, query, snapshot.file_of_blob)
    found, known = near.cosines, near.known
    assert known is not None
    assert known[N_BLOBS * ROWS :].all()
    assert NEAREST <= np.count_nonzero(known) < snapshot.n_rows / 2
    np.testing.assert_allclose(found[known], exact[known], atol=1e-5)
    # Vectors without any clusters, of which the graph is to find a third, are the hardest case.
    assert np.count_nonzero(exact[~known] > found[~known]) < 0.05 * NEAREST


def settled_scores(snapshot: Snapshot, query: Floats, others: Floats) -> tuple[Nearness, Totals]:
    """Score rows by their cosines and what else speaks for them, and settle the best files."""
    near = compare(snapshot, query, snapshot.file_of_blob)
    total = others + np.float32(WEIGHT) * near.cosines
    totals = Totals(others, np.float32(WEIGHT), total, total.reshape(-1, ROWS).max(axis=1))
    near.settle(totals)
    return near, totals


def test_the_best_files_are_those_of_an_exact_search_whatever_else_speaks_for_them(snapshot: Snapshot) -> None:
    for spread in (0.0, 0.1, 1.0):
        query = unit(1)[0]
        others = RANDOM.normal(scale=spread, size=snapshot.n_rows).astype(np.float32)
        others[RANDOM.integers(0, snapshot.n_rows, 50)] = -np.inf
        wanted = others + np.float32(WEIGHT) * snapshot.vectors.similarities(query)
        near, totals = settled_scores(snapshot, query, others)
        assert near.known is not None

        best_wanted = wanted.reshape(-1, ROWS).max(axis=1)
        top = np.argsort(-best_wanted)[:SETTLED_FILES]
        assert len(set(top) & set(np.argsort(-totals.of_blobs)[:SETTLED_FILES])) >= 0.95 * SETTLED_FILES
        settled = near.known.reshape(-1, ROWS)[top].all(axis=1)
        np.testing.assert_array_equal(
            totals.of_rows.reshape(-1, ROWS)[top[settled]], wanted.reshape(-1, ROWS)[top[settled]]
        )
        assert settled.mean() >= 0.95


def test_a_narrow_scope_is_compared_row_by_row(snapshot: Snapshot) -> None:
    query = unit(1)[0]
    few = snapshot.file_of_blob.copy()
    few[int(NARROW * len(few)) // 2 :] = -1
    near = compare(snapshot, query, few)
    assert near.known is None
    in_scope = np.repeat(few >= 0, ROWS)
    np.testing.assert_allclose(near.cosines[in_scope], snapshot.vectors.similarities(query)[in_scope], atol=1e-5)


def without_graph(n_blobs: int) -> Snapshot:
    files = build_view(
        [ViewFile(f"f{blob:04}.py", blob, "python") for blob in range(1, n_blobs + 1)],
        lambda words: np.zeros((len(words), DIMENSIONS), np.float32),
        DIMENSIONS,
    )
    return Snapshot(meta_db.State("", 1), "", 0, [make_segment(1, n_blobs)], files)


def test_an_index_without_graphs_is_compared_row_by_row() -> None:
    few, query = without_graph(5), unit(1)[0]
    near = compare(few, query, few.file_of_blob)
    assert near.known is None
    np.testing.assert_array_equal(near.cosines, few.vectors.similarities(query))


def test_what_is_settled_stays_so_until_a_file_of_bounds_comes_up(snapshot: Snapshot) -> None:
    query = unit(1)[0]
    near, totals = settled_scores(snapshot, query, np.zeros(snapshot.n_rows, np.float32))
    assert near.known is not None
    known = near.known.copy()
    near.settle(totals, 15)
    np.testing.assert_array_equal(near.known, known)

    unknown = ~near.known.reshape(-1, ROWS).all(axis=1)
    last = int(np.argmin(np.where(unknown, totals.of_blobs, np.inf)))
    rows = slice(last * ROWS, last * ROWS + ROWS)
    totals.base[rows] += 5
    totals.of_rows[rows] += 5
    totals.of_blobs[last] += 5
    near.settle(totals, 15)
    assert near.known[rows].all()
    np.testing.assert_allclose(totals.of_rows[rows], 5 + WEIGHT * snapshot.vectors.similarities(query)[rows], atol=1e-5)


def test_with_nothing_in_scope_there_is_nothing_to_settle(snapshot: Snapshot) -> None:
    near, totals = settled_scores(snapshot, unit(1)[0], np.full(snapshot.n_rows, -np.inf, np.float32))
    near.settle(totals, 15)
    assert np.isneginf(totals.of_rows).all()
