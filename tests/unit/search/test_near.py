from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from cairn.index.analysis import Postings, quantize
from cairn.index.hnsw import NEAREST, NeighbourGraph
from cairn.index.segment import Segment
from cairn.index.snapshot import Snapshot
from cairn.index.view import ViewFile, build_view
from cairn.search.near import EXACT_ROWS, NARROW, SETTLED_FILES, SHARPENED_ROWS, compare
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


def test_the_best_files_are_those_of_an_exact_search_whatever_else_speaks_for_them(snapshot: Snapshot) -> None:
    for spread in (0.0, 0.1, 1.0):
        query = unit(1)[0]
        others = RANDOM.normal(scale=spread, size=snapshot.n_rows).astype(np.float32)
        others[RANDOM.integers(0, snapshot.n_rows, 50)] = -np.inf
        wanted = others + WEIGHT * snapshot.vectors.similarities(query)
        near = compare(snapshot, query, snapshot.file_of_blob)
        known = near.known
        assert known is not None
        total = others + np.float32(WEIGHT) * near.cosines
        near.sharpen(snapshot, query, total, WEIGHT)

        best, best_wanted = total.reshape(-1, ROWS).max(axis=1), wanted.reshape(-1, ROWS).max(axis=1)
        top = np.argsort(-best_wanted)[:SETTLED_FILES]
        assert len(set(top) & set(np.argsort(-best)[:SETTLED_FILES])) >= 0.98 * SETTLED_FILES
        settled = known.reshape(-1, ROWS)[top].all(axis=1)
        np.testing.assert_allclose(
            total.reshape(-1, ROWS)[top[settled]], wanted.reshape(-1, ROWS)[top[settled]], atol=1e-5
        )
        assert settled.mean() >= 0.98


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


def test_a_small_index_is_compared_row_by_row() -> None:
    few, query = without_graph(5), unit(1)[0]
    near = compare(few, query, few.file_of_blob)
    np.testing.assert_array_equal(near.cosines, few.vectors.similarities(query))
    total = near.cosines.copy()
    near.sharpen(few, query, total, WEIGHT)
    np.testing.assert_array_equal(total, near.cosines)


def test_in_a_larger_index_the_rows_that_score_best_are_exact() -> None:
    many, query = without_graph(EXACT_ROWS // ROWS + 10), unit(1)[0]
    near = compare(many, query, many.file_of_blob)
    others = RANDOM.normal(size=many.n_rows).astype(np.float32)
    total = others + np.float32(WEIGHT) * near.cosines
    chosen = np.argsort(-total)[:SHARPENED_ROWS]
    near.sharpen(many, query, total, WEIGHT)
    exact = many.vectors.similarities(query)
    np.testing.assert_allclose(near.cosines[chosen], exact[chosen], atol=1e-5)
    np.testing.assert_allclose(total, others + WEIGHT * near.cosines, atol=1e-5)
