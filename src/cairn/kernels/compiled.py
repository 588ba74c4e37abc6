"""The compiled inner loops, with results of their own making; `plain` says what each returns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import cairn.kernels._compiled as _compiled
from cairn.kernels.plain import (
    NOWHERE,
    Bytes,
    Doubles,
    Floats,
    Ints,
    ListedRows,
    OfChunks,
    PostingArrays,
    Sums,
    TermRows,
)


def cosines(rows: npt.NDArray[np.int8], query: Floats, unit: float) -> Floats:
    """See `plain.cosines`."""
    found = np.empty(len(rows), np.float32)
    _compiled.cosines(np.ascontiguousarray(rows), query, unit, found)
    return found


def pair_products(left: npt.NDArray[np.int8], right: npt.NDArray[np.int8]) -> Floats:
    """See `plain.pair_products`."""
    found = np.empty(len(left), np.float32)
    _compiled.pair_products(np.ascontiguousarray(left), np.ascontiguousarray(right), found)
    return found


def find_runs(data: bytes, text: bytes, bounds: Ints, may_hold: bytes, counts: bytes, most: int) -> list[list[int]]:
    """See `plain.find_runs`."""
    runs = np.empty((most * len(counts), 3), np.int64)
    found: list[list[int]] = runs[: _compiled.find_runs(data, text, bounds, may_hold, counts, most, runs)].tolist()
    return found


def look_up(
    postings: PostingArrays, wanted: Sequence[int], base: int, row_of: npt.NDArray[np.int32] | None
) -> TermRows:
    """See `plain.look_up`."""
    hashes, start, named, known_impacts, known_fields = postings
    bounds = np.empty((2, len(wanted)), np.int64)
    count = _compiled.find_terms(hashes, start, np.array(wanted, np.uint64), len(named), bounds)
    if not count:
        return NOWHERE
    # Taking one array of two rows apart takes twice as long.
    terms, rows = np.empty(count, np.int64), np.empty(count, np.int64)
    impacts, fields = np.empty(count, np.uint8), np.empty(count, np.uint8)
    kept = _compiled.take_postings(
        bounds, named, known_impacts, known_fields, base, row_of, terms, rows, impacts, fields
    )
    return TermRows(terms[:kept], rows[:kept], impacts[:kept], fields[:kept])


def count_rows(postings: PostingArrays, wanted: npt.NDArray[np.uint64], row_of: npt.NDArray[np.int32] | None) -> Ints:
    """See `plain.count_rows`."""
    hashes, start, named, *_ = postings
    bounds = np.empty((2, len(wanted)), np.int64)
    _compiled.find_terms(hashes, start, wanted, len(named), bounds)
    counts: Ints = bounds[1] - bounds[0]
    if row_of is not None:
        _compiled.count_shown(bounds, named, row_of, counts)
    return counts


def sum_occurrences(found: TermRows, by_impact: Doubles, by_field: Doubles, bits: bytes, n_rows: int) -> Floats:
    """See `plain.sum_occurrences`."""
    sums = np.empty((1 + len(bits), n_rows), np.float32)
    _compiled.sum_occurrences(found.terms, found.rows, found.impacts, found.fields, by_impact, by_field, bits, sums)
    return sums


def file_lexical(lexical: Floats, blob_rows: Ints, floor: float) -> Floats:
    """See `plain.file_lexical`."""
    share = np.empty(len(blob_rows) - 1, np.float32)
    _compiled.file_lexical(lexical, blob_rows, floor, share)
    return share


def add_up(
    of_files: Floats,
    file_of_blob: Ints,
    blob_rows: Ints,
    standing: Floats,
    file_of_row: Ints | None,
    columns: Sequence[Floats],
    weights: Sequence[float],
    dense: Floats | None,
    dense_weight: float,
) -> Sums:
    """See `plain.add_up`."""
    n_rows = len(standing)
    sums = Sums(np.empty(n_rows, np.float32), np.empty(n_rows, np.float32), np.empty(len(file_of_blob), np.float32))
    _compiled.add_up(
        of_files,
        file_of_blob,
        blob_rows,
        standing,
        file_of_row,
        tuple(columns),
        np.array(weights, np.float64),
        dense,
        dense_weight,
        *sums,
    )
    return sums


def best_files(best: Floats, file_of_blob: Ints, count: int) -> Ints:
    """See `plain.best_files`."""
    blobs = np.empty(count, np.int64)
    return blobs[: _compiled.best_files(best, file_of_blob, blobs)]


def chunk_features(
    blobs: Ints, blob_rows: Ints, total: Floats, lexical: Floats, name: Floats, doc: Floats, dense: Floats, n_near: int
) -> OfChunks:
    """See `plain.chunk_features`."""
    n_blobs = len(blobs)
    values, near, counts = (
        np.empty((3, n_blobs), np.float32),
        np.empty(n_near * n_blobs, np.int64),
        np.empty(n_blobs, np.int64),
    )
    found = _compiled.chunk_features(blobs, blob_rows, total, lexical, name, doc, dense, values, near, counts)
    return OfChunks(values, near[:found], counts)


def term_features(
    in_rows: TermRows,
    in_paths: TermRows,
    file_of_row: Ints,
    n_all_files: int,
    files: Ints,
    n_chunks: Ints,
    rarity: Doubles,
    bits: bytes,
    path_bit: bytes,
) -> Doubles:
    """See `plain.term_features`."""
    found = np.empty((7, len(files)), np.float64)
    terms, rows, _, fields = in_rows
    path_terms, path_files, _, path_fields = in_paths
    _compiled.term_features(
        terms,
        rows,
        fields,
        path_terms,
        path_files,
        path_fields,
        file_of_row,
        n_all_files,
        files,
        n_chunks,
        rarity,
        bits,
        path_bit,
        found,
    )
    return found


def predict(features: Ints, thresholds: Floats, values: Floats, table: Floats) -> Floats:
    """See `plain.predict`."""
    total = np.empty(table.shape[1], np.float32)
    _compiled.predict(features, thresholds, values, len(values), table, total)
    return total


def one_of_each(
    best: Floats, total: Floats, blob_rows: Ints, file_of_blob: Ints, limit: int, saturation: float, tie: float
) -> ListedRows:
    """See `plain.one_of_each`."""
    limit = min(limit, len(total))
    rows, files = np.empty(limit, np.int64), np.empty(limit, np.int64)
    values, lost = np.empty(limit, np.float64), np.empty(limit, np.float64)
    count = _compiled.one_of_each(best, total, blob_rows, file_of_blob, saturation, tie, rows, files, values, lost)
    return ListedRows(rows[:count], files[:count], values[:count], lost[:count])


def make_postings(
    sources: npt.NDArray[np.int32],
    terms: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int32],
    bits: Bytes,
    shares: Doubles,
    hashes: npt.NDArray[np.uint64],
    n_rows: int,
    saturation: float,
    scale: float,
) -> PostingArrays:
    """See `plain.make_postings`."""
    used, start = np.empty(len(hashes), np.uint64), np.empty(len(hashes) + 1, np.int64)
    out_rows, (impacts, out_bits) = np.empty(len(sources), np.int32), np.empty((2, len(sources)), np.uint8)
    n_used, n = _compiled.make_postings(
        sources,
        terms,
        rows,
        bits,
        shares,
        hashes,
        n_rows,
        saturation,
        scale,
        used,
        start,
        out_rows,
        impacts,
        out_bits,
    )
    return (
        used[:n_used].copy(),
        start[: n_used + 1].copy(),
        out_rows[:n].copy(),
        impacts[:n].copy(),
        out_bits[:n].copy(),
    )
