from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from cairn.index.analysis import Postings, quantize
from cairn.index.hnsw import NEAREST, Graph
from cairn.index.segment import Segment
from cairn.index.snapshot import Snapshot
from cairn.index.view import ViewFile, build_view
from cairn.search.near import NARROW, SETTLED_FILES, cosines, settle

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
    Graph.build(segments[0].vectors, threads=1).save(folder / "a.hnsw")
    paths = [ViewFile(f"f{blob:04}.py", blob, "python") for blob in range(1, N_BLOBS + 21)]
    files = build_view(paths, lambda words: np.zeros((len(words), DIMENSIONS), np.float32), DIMENSIONS)
    return Snapshot(1, "", 0, segments, files, [folder / "a.hnsw", folder / "b.hnsw"])


def test_what_is_known_is_exact_and_the_rest_is_hardly_ever_exceeded(snapshot: Snapshot) -> None:
    query = unit(1)[0]
    exact = snapshot.similarities(query)
    found, known = cosines(snapshot, query, snapshot.file_of_blob)
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
        wanted = others + WEIGHT * snapshot.similarities(query)
        dense, known = cosines(snapshot, query, snapshot.file_of_blob)
        assert known is not None
        total = others + np.float32(WEIGHT) * dense
        settle(snapshot, query, total, dense, known, WEIGHT)

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
    found, known = cosines(snapshot, query, few)
    assert known is None
    in_scope = np.repeat(few >= 0, ROWS)
    np.testing.assert_allclose(found[in_scope], snapshot.similarities(query)[in_scope], atol=1e-5)


def test_without_a_graph_every_row_is_compared(snapshot: Snapshot) -> None:
    plain = Snapshot(1, "", 0, [make_segment(1, 5)], snapshot.files)
    query = unit(1)[0]
    found, known = cosines(plain, query, plain.file_of_blob)
    assert known is None
    np.testing.assert_array_equal(found, plain.similarities(query))
