from typing import Any

import numpy.typing as npt

Buffer = npt.NDArray[Any] | bytes

VERSION: int

def cosines(rows: Buffer, query: Buffer, unit: float, out: Buffer, /) -> None: ...
def pair_products(left: Buffer, right: Buffer, out: Buffer, /) -> None: ...
def find_terms(hashes: Buffer, start: Buffer, wanted: Buffer, n_postings: int, bounds: Buffer, /) -> int: ...
def take_postings(
    bounds: Buffer,
    rows: Buffer,
    impacts: Buffer,
    fields: Buffer,
    base: int,
    row_of: Buffer | None,
    out_terms: Buffer,
    out_rows: Buffer,
    out_impacts: Buffer,
    out_fields: Buffer,
    /,
) -> int: ...
def count_shown(bounds: Buffer, rows: Buffer, row_of: Buffer, out: Buffer, /) -> None: ...
def sum_occurrences(
    terms: Buffer,
    rows: Buffer,
    impacts: Buffer,
    fields: Buffer,
    by_impact: Buffer,
    by_field: Buffer,
    bits: Buffer,
    out: Buffer,
    /,
) -> None: ...
def file_lexical(lexical: Buffer, blob_rows: Buffer, floor: float, out: Buffer, /) -> None: ...
def add_up(
    of_files: Buffer,
    file_of_blob: Buffer,
    blob_rows: Buffer,
    standing: Buffer,
    file_of_row: Buffer | None,
    columns: tuple[Buffer, ...],
    weights: Buffer,
    dense: Buffer | None,
    dense_weight: float,
    base: Buffer,
    total: Buffer,
    best: Buffer,
    /,
) -> None: ...
def best_files(best: Buffer, file_of_blob: Buffer, out: Buffer, /) -> int: ...
def chunk_features(
    blobs: Buffer,
    blob_rows: Buffer,
    total: Buffer,
    lexical: Buffer,
    name: Buffer,
    doc: Buffer,
    dense: Buffer,
    out: Buffer,
    near: Buffer,
    counts: Buffer,
    /,
) -> int: ...
def term_features(
    terms: Buffer,
    rows: Buffer,
    fields: Buffer,
    path_terms: Buffer,
    path_files: Buffer,
    path_fields: Buffer,
    file_of_row: Buffer,
    n_all_files: int,
    files: Buffer,
    n_chunks: Buffer,
    rarity: Buffer,
    bits: Buffer,
    path_bit: Buffer,
    out: Buffer,
    /,
) -> None: ...
def predict(
    features: Buffer, thresholds: Buffer, values: Buffer, n_trees: int, table: Buffer, out: Buffer, /
) -> None: ...
def one_of_each(
    best: Buffer,
    total: Buffer,
    blob_rows: Buffer,
    file_of_blob: Buffer,
    saturation: float,
    tie: float,
    rows: Buffer,
    files: Buffer,
    values: Buffer,
    lost: Buffer,
    /,
) -> int: ...
def count_words(texts: list[str], seed: int, /) -> tuple[str, bytes, bytes, bytes]: ...
def make_postings(
    sources: Buffer,
    terms: Buffer,
    rows: Buffer,
    bits: Buffer,
    shares: Buffer,
    hashes: Buffer,
    n_rows: int,
    saturation: float,
    scale: float,
    out_hashes: Buffer,
    out_start: Buffer,
    out_rows: Buffer,
    out_impacts: Buffer,
    out_bits: Buffer,
    /,
) -> tuple[int, int]: ...
def split_identifiers(lines: str, seed: int, /) -> tuple[str, bytes]: ...
def split_words(table: Buffer, width: int, lines: bytes, most_chars: int, /) -> tuple[bytes, bytes]: ...
def find_runs(
    data: bytes, text: bytes, bounds: Buffer, may_hold: Buffer, counts: Buffer, most: int, out: Buffer, /
) -> int: ...
def first_lines(data: bytes, start: int, n_lines: int, most_bytes: int, most_chars: int, /) -> str | None: ...
def read_below(root: str, path: str, most: int, /) -> bytes | None: ...
