from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from cairn.errors import DerivedFileError
from cairn.index.analysis import quantize
from cairn.index.hnsw import NeighbourGraph, open_graph
from cairn.index.vectors import Vectors
from cairn.storage.arrays import save_arrays

DIMENSIONS = 64


def clustered(n_rows: int, seed: int) -> npt.NDArray[np.float32]:
    """Return unit vectors around common centres, as those of code lie around its topics."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(size=(60, DIMENSIONS))
    rows = centres[random.integers(0, len(centres), n_rows)] + random.normal(scale=0.7, size=(n_rows, DIMENSIONS))
    unit: npt.NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


@pytest.fixture(scope="module")
def stored() -> npt.NDArray[np.int8]:
    """6,000 vectors, of which 1,000 repeat others and 10 are zero."""
    rows = quantize(clustered(5_000, 2))
    return np.concatenate([rows, rows[:990], np.zeros((10, DIMENSIONS), np.int8)])


@pytest.fixture(scope="module")
def graph(stored: npt.NDArray[np.int8]) -> NeighbourGraph:
    return NeighbourGraph.build(stored, threads=1)


def test_nearly_all_of_the_ten_nearest_are_found(stored: npt.NDArray[np.int8], graph: NeighbourGraph) -> None:
    found = wanted = 0
    for query in clustered(200, 3):
        cosines = Vectors([stored], DIMENSIONS).similarities(query)
        tenth = np.sort(cosines)[-10]
        near = graph.nearest(query, 100)
        found += min(10, int((cosines[near] >= tenth).sum()))
        wanted += 10
    assert found / wanted >= 0.98


def test_no_row_is_found_twice(graph: NeighbourGraph) -> None:
    for query in clustered(20, 4):
        near = graph.nearest(query, 300)
        assert len(near) >= 300
        assert len(np.unique(near)) == len(near)


def test_rows_with_equal_vectors_are_found_together(graph: NeighbourGraph, stored: npt.NDArray[np.int8]) -> None:
    query = stored[7].astype(np.float32) / 127
    assert set(graph.nearest(query, 1).tolist()) == {7, 5_007}


def test_more_than_there_are_gives_all_that_have_a_direction(
    graph: NeighbourGraph, stored: npt.NDArray[np.int8]
) -> None:
    found = graph.nearest(clustered(1, 5)[0], 10_000)
    np.testing.assert_array_equal(np.sort(found), np.flatnonzero(stored.any(axis=1)))


def test_vectors_without_any_direction_make_a_graph_that_finds_nothing() -> None:
    graph = NeighbourGraph.build(np.zeros((3, DIMENSIONS), np.int8))
    assert len(graph.nearest(clustered(1, 5)[0])) == 0


def test_a_stored_graph_finds_what_the_built_one_found(graph: NeighbourGraph, tmp_path: Path) -> None:
    file = tmp_path / "a.hnsw"
    assert graph.save(file) == file.stat().st_size
    opened = open_graph(file)
    assert opened is not None
    for query in clustered(20, 6):
        np.testing.assert_array_equal(opened.nearest(query), graph.nearest(query))


def test_equal_vectors_give_equal_files_on_one_thread(
    graph: NeighbourGraph, stored: npt.NDArray[np.int8], tmp_path: Path
) -> None:
    files = [tmp_path / name / "a.hnsw" for name in ("one", "other")]
    for file, one in zip(files, (graph, NeighbourGraph.build(stored, threads=1)), strict=True):
        file.parent.mkdir()
        one.save(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_graph_is_not_written_through_a_link(graph: NeighbourGraph, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / f"a.hnsw.{os.getpid()}.graph").symlink_to(victim)
    graph.save(tmp_path / "a.hnsw")
    assert victim.read_bytes() == b"mine"
    assert {entry.name for entry in tmp_path.iterdir()} == {"a.hnsw", "victim"}


def test_progress_reaches_all_distinct_vectors(stored: npt.NDArray[np.int8]) -> None:
    told: list[tuple[int, int]] = []
    NeighbourGraph.build(stored[:300], progress=lambda done, total: told.append((done, total)))
    assert told == [(300, 300)]


def test_a_damaged_graph_is_refused_and_removed(graph: NeighbourGraph, tmp_path: Path) -> None:
    file = tmp_path / "a.hnsw"
    graph.save(file)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(DerivedFileError):
        NeighbourGraph.load(file)
    assert open_graph(file) is None
    assert not file.exists()


def test_a_file_that_holds_no_graph_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.hnsw"
    nothing = np.zeros(8, np.int64)
    save_arrays(file, {"graph": np.zeros(5_000, np.uint8), "rows": nothing, "start": nothing})
    with pytest.raises(DerivedFileError):
        NeighbourGraph.load(file)
