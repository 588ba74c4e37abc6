from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cairn.index.analysis import quantize
from cairn.index.overlay import KnownVectors, OverlayFile, concatenate
from cairn.index.vectors import Vectors

RANDOM = np.random.default_rng(7)


def unit(n_rows: int, dimensions: int = 24) -> npt.NDArray[np.float32]:
    rows = RANDOM.normal(size=(n_rows, dimensions)).astype(np.float32)
    scaled: npt.NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def test_similarities_are_cosines_up_to_the_rounding_of_a_byte() -> None:
    rows, query = unit(50), unit(1)[0]
    found = Vectors([quantize(rows[:20]), quantize(rows[20:])], 24).similarities(query)
    np.testing.assert_allclose(found, rows @ query, atol=0.02)


def test_rows_are_found_at_their_places_and_others_are_zero() -> None:
    rows, query = unit(3), unit(1)[0]
    places = np.array([2, -1, 0, 0])
    found = Vectors([quantize(rows)], 24, places).similarities(query)
    np.testing.assert_allclose(found, [rows[2] @ query, 0, rows[0] @ query, rows[0] @ query], atol=0.02)


def test_more_rows_than_a_block_and_several_parts_give_what_one_product_gives() -> None:
    parts, query = [quantize(unit(1_300)), quantize(unit(7))], unit(1)[0]
    whole = np.concatenate(parts).astype(np.float32) / 127 @ query
    np.testing.assert_allclose(Vectors(parts, 24).similarities(query), whole, atol=2e-5)


def test_a_cosine_does_not_depend_on_where_its_row_lies() -> None:
    stored, query = quantize(unit(3_000, 256)), unit(1, 256)[0]
    order = RANDOM.permutation(len(stored))
    moved = Vectors([stored[order[:7]], stored[order[7:1_000]], stored[order[1_000:]]], 256)
    together = Vectors([stored], 256)
    np.testing.assert_array_equal(moved.similarities(query), together.similarities(query)[order])
    some = order[:333]
    np.testing.assert_array_equal(together.similarities_of(some, query), together.similarities(query)[some])


def test_rows_among_those_of_other_views_compare_as_by_themselves() -> None:
    stored, query = [quantize(unit(300)), quantize(unit(200))], unit(1)[0]
    whole = np.concatenate(stored)
    for count in (30, 480):
        places = RANDOM.permutation(500)[:count]
        among, alone = Vectors(stored, 24, places), Vectors([whole[places]], 24)
        rows = np.array([7, 0, count - 1])
        np.testing.assert_array_equal(among.similarities(query), alone.similarities(query))
        np.testing.assert_array_equal(among.similarities_of(rows, query), alone.similarities(query)[rows])
        np.testing.assert_array_equal(among.take(rows), alone.take(rows))


def test_the_vectors_of_some_rows_are_those_of_all() -> None:
    vectors, chosen = Vectors([quantize(unit(9)), quantize(unit(5))], 24), np.array([13, 0, 9, 8])
    np.testing.assert_array_equal(vectors.take(chosen), vectors.take(np.arange(14))[chosen])


def test_no_rows_have_no_similarities() -> None:
    assert Vectors([], 24).similarities(unit(1)[0]).shape == (0,)


def overlay(blobs: dict[int, list[int]]) -> OverlayFile:
    """Return a file in which the vector of a chunk is its key, three times."""
    keys = [key for group in blobs.values() for key in group]
    return OverlayFile(
        np.array(list(blobs), dtype=np.int64),
        np.cumsum([0, *map(len, blobs.values())]).astype(np.int64),
        np.array(keys, dtype=np.uint64),
        np.repeat(np.array(keys, dtype=np.int8), 3).reshape(len(keys), 3),
    )


def blobs_of(file: OverlayFile) -> dict[int, list[int]]:
    pairs = zip(file.blob_start[:-1], file.blob_start[1:], strict=True)
    assert (file.vectors == file.keys.astype(np.int8)[:, None]).all()
    return {int(blob): file.keys[a:b].tolist() for blob, (a, b) in zip(file.blob_ids, pairs, strict=True)}


def test_files_are_joined_and_thinned_out_blob_by_blob() -> None:
    first, second = overlay({4: [1, 2], 7: [3]}), overlay({9: [], 2: [4, 5, 6]})
    joined = concatenate([first, second])
    assert blobs_of(joined) == {4: [1, 2], 7: [3], 9: [], 2: [4, 5, 6]}
    assert blobs_of(joined.only({2, 7, 1})) == {7: [3], 2: [4, 5, 6]}
    assert blobs_of(joined.only(set())) == {}


def test_vectors_are_found_by_their_text_in_any_file() -> None:
    known = KnownVectors([overlay({4: [11, 2]}), overlay({7: [5, 90]})], 3)
    for key in (11, 2, 5, 90):
        found = known.find(key)
        assert found is not None
        assert found.tolist() == [key] * 3
    assert known.find(3) is None
    assert known.find(2**64 - 1) is None
    assert KnownVectors([], 0).find(1) is None
