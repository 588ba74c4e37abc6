"""The inner loops of ranking and indexing in numpy: what each returns, and what runs where none are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cairn.kernels.grouping import largest

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
# An inverted index: the hashes of terms, in ascending order; where the occurrences of each begin, shape (n_terms + 1,);
# and of each occurrence its chunk, its impact and its fields. See `cairn.index.analysis.Postings`.
PostingArrays = tuple[npt.NDArray[np.uint64], Ints, npt.NDArray[np.int32], Bytes, Bytes]

# A file's lexical score is that of this many of its chunks, the best ones.
FILE_CHUNKS = 3
# Rows are widened to float32 a block at a time, into memory that stays in the cache: as fast as a product with float32
# that is kept, in a quarter of the memory, and nothing is done at opening. BLAS starts no threads for a block.
_BLOCK_ROWS = 512
_FAR = 512.0  # larger than any score except the infinity of a row out of scope
_DECIMALS = 4


class TermRows(NamedTuple):
    """Where some terms stand: which term in which row. Shapes: (n,). `impacts` are 0..255, `fields` a bit each."""

    terms: Ints
    rows: Ints
    impacts: Bytes
    fields: Bytes


NOWHERE = TermRows(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint8))


class Sums(NamedTuple):
    """Scores of rows, without and with their cosines, both of shape (n_rows,), and the best of each blob's rows."""

    base: Floats
    total: Floats
    best: Floats


class OfChunks(NamedTuple):
    """Features of files that are those of their chunks, shape (3, n), and the rows of each nearest to a query.

    `near` holds these rows, file by file, `counts` how many each file has, shape (n,).
    """

    values: Floats
    near: Ints
    counts: Ints


class ListedRows(NamedTuple):
    """Rows, best first, with their files, scores, and what these lost because others of the file came before."""

    rows: Ints
    files: Ints
    values: Doubles
    lost: Doubles


def cosines(rows: npt.NDArray[np.int8], query: Floats, unit: float) -> Floats:
    """Return the product of a query with each row, times `unit`.

    Args:
        rows: shape (n, dimensions).
        query: shape (dimensions,), whole numbers so small that float32 holds every sum of products exactly.
    """
    found = np.empty(len(rows), dtype=np.float32)
    buffer = np.empty((min(_BLOCK_ROWS, len(rows)), len(query)), dtype=np.float32)
    for first in range(0, len(rows), _BLOCK_ROWS):
        block = rows[first : first + _BLOCK_ROWS]
        widened = buffer[: len(block)]
        np.copyto(widened, block)
        np.dot(widened, query, out=found[first : first + len(block)])
    found *= np.float32(unit)
    return found


def pair_products(left: npt.NDArray[np.int8], right: npt.NDArray[np.int8]) -> Floats:
    """Return the product of each row of `left` with the same row of `right`, both of shape (n, dimensions)."""
    found: Floats = np.vecdot(left.astype(np.float32), right.astype(np.float32))
    return found


def look_up(
    postings: PostingArrays, wanted: Sequence[int], base: int, row_of: npt.NDArray[np.int32] | None
) -> TermRows:
    """Return where some terms stand in one set of postings, term after term.

    Args:
        postings: the set.
        wanted: the hashes of the terms, each once.
        base: the row of the first chunk, if all chunks have rows, which follow each other.
        row_of: else the row of each chunk, -1 for one without.
    """
    hashes, start, places, impacts, fields = postings
    if not len(hashes) or not wanted:
        return NOWHERE
    found = hashes.searchsorted(np.array(wanted, dtype=np.uint64)).clip(max=len(hashes) - 1)
    known = (hashes[found] == np.array(wanted, dtype=np.uint64)).nonzero()[0]
    first, last = start[found[known]], start[found[known] + 1]
    at = np.concatenate([NOWHERE.rows, *(np.arange(*bounds) for bounds in zip(first, last, strict=True))])
    rows = places[at] + np.int64(base) if row_of is None else row_of[places[at]].astype(np.int64)
    kept = (rows >= 0).nonzero()[0]
    return TermRows(known.repeat(last - first)[kept], rows[kept], impacts[at[kept]], fields[at[kept]])


def count_rows(postings: PostingArrays, wanted: npt.NDArray[np.uint64], row_of: npt.NDArray[np.int32] | None) -> Ints:
    """Return in how many rows each of some terms stands in one set of postings, shape (n,).

    Args:
        postings: the set.
        wanted: the hashes of the terms.
        row_of: as for `look_up`; None: every chunk has a row.
    """
    hashes, start, places, *_ = postings
    counts = np.zeros(len(wanted), np.int64)
    if not len(hashes):
        return counts
    found = hashes.searchsorted(wanted).clip(max=len(hashes) - 1)
    known = (hashes[found] == wanted).nonzero()[0]
    first, lengths = start[found[known]], start[found[known] + 1] - start[found[known]]
    if row_of is None:
        counts[known] = lengths
        return counts
    ends = lengths.cumsum()
    at = np.arange(int(ends[-1]) if len(ends) else 0) + (first - ends + lengths).repeat(lengths)
    shown = row_of[places[at]] >= 0
    return np.bincount(known.repeat(lengths)[shown], minlength=len(wanted))


def sum_occurrences(found: TermRows, by_impact: Doubles, by_field: Doubles, bits: bytes, n_rows: int) -> Floats:
    """Return what occurrences of terms add up to in each row, shape (1 + len(bits), n_rows).

    Args:
        found: the occurrences.
        by_impact: what each term counts, times the impact, in the first result.
        by_field: what each term counts in those after it, each for the occurrences whose fields have one of `bits`.
        bits: one for each further result.
        n_rows: how many rows there are.
    """
    sums = np.empty((1 + len(bits), n_rows), dtype=np.float32)
    sums[0] = np.bincount(found.rows, weights=by_impact[found.terms] * found.impacts, minlength=n_rows)
    values = by_field[found.terms]
    for place, bit in enumerate(bits, 1):
        within = (found.fields & bit).nonzero()[0]
        sums[place] = np.bincount(found.rows[within], weights=values[within], minlength=n_rows)
    return sums


def file_lexical(lexical: Floats, blob_rows: Ints, floor: float) -> Floats:
    """Return for each blob how well its best chunks match together, as a share of the best blob. Shape (n_blobs,).

    Args:
        lexical: shape (n_rows,).
        blob_rows: shape (n_blobs + 1,), where each blob's rows begin; each has one at least.
        floor: rows below this share of the best one count nothing.
    """
    n_blobs = len(blob_rows) - 1
    top = float(lexical.max(initial=0.0))
    if top <= 0:
        return np.zeros(n_blobs, dtype=np.float32)
    rows = (lexical > floor * top).nonzero()[0]
    blobs, values = blob_rows.searchsorted(rows, side="right") - 1, lexical[rows]
    # By blob, best first; rows are in the order of their blobs anyway.
    values = values[(blobs * 2.0 - values / top).argsort(kind="stable")]
    is_among = np.ones(len(rows), dtype=np.bool_)
    np.not_equal(blobs[FILE_CHUNKS:], blobs[:-FILE_CHUNKS], out=is_among[FILE_CHUNKS:])
    sums = np.bincount(blobs, weights=values * is_among, minlength=n_blobs)
    share: Floats = (sums / sums.max()).astype(np.float32)
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
    """Return the scores of all rows, -inf for those without a file.

    Args:
        of_files: shape (n_files,), what each file counts.
        file_of_blob: shape (n_blobs,), -1 for none.
        blob_rows: shape (n_blobs + 1,), where each blob's rows begin; each has one at least.
        standing: shape (n_rows,), what each row counts.
        file_of_row: shape (n_rows,), -1 for a row that is out of scope; None: its blob decides.
        columns: features; the first of blobs, the others of rows.
        weights: of the columns.
        dense: shape (n_rows,), cosines, which count in `total` only.
        dense_weight: of these.
    """
    # Files first, then blobs, so that the long arrays are touched as little as possible.
    by_blob = np.float32(weights[0]) * columns[0] + of_files[file_of_blob]
    by_blob[file_of_blob < 0] = -np.inf
    base = by_blob.repeat(np.diff(blob_rows))
    for values, weight in zip(columns[1:], weights[1:], strict=True):
        base += np.float32(weight) * values
    base += standing
    if file_of_row is not None:
        base[file_of_row < 0] = -np.inf
    total = base.copy() if dense is None else base + np.float32(dense_weight) * dense
    return Sums(base, total, np.maximum.reduceat(total, blob_rows[:-1]))


def best_files(best: Floats, file_of_blob: Ints, count: int) -> Ints:
    """Return the blobs that scored highest, best first, at most `count`; of equal ones the first file's.

    Args:
        best: shape (n_blobs,), -inf for one that is out of scope.
        file_of_blob: shape (n_blobs,).
        count: how many.
    """
    # A difference that only comes from the order of summing is a tie, which the order of the paths decides.
    best = best.round(_DECIMALS)
    least = np.partition(best, -count)[-count] if len(best) > count else -np.inf
    blobs = (best >= least if least > -np.inf else best > least).nonzero()[0]
    order = np.lexsort((file_of_blob[blobs], -best[blobs]))
    return blobs[order[:count]]


def chunk_features(
    blobs: Ints, blob_rows: Ints, total: Floats, lexical: Floats, name: Floats, doc: Floats, dense: Floats, n_near: int
) -> OfChunks:
    """Return the features `lexical`, of the best row of each blob, `name` and `doc`, the highest of any of its rows.

    Args:
        blobs: shape (n,).
        blob_rows: shape (n_blobs + 1,), where each blob's rows begin; each has one at least.
        total: shape (n_rows,), the scores.
        lexical: shape (n_rows,).
        name: shape (n_rows,).
        doc: shape (n_rows,).
        dense: shape (n_rows,), the cosines.
        n_near: how many of each blob's rows with the highest cosines are returned, if it has so many.
    """
    starts, counts = blob_rows[blobs], blob_rows[blobs + 1] - blob_rows[blobs]
    ends = counts.cumsum()
    firsts = ends - counts
    rows = np.arange(int(ends[-1]) if len(ends) else 0) + (starts - firsts).repeat(counts)
    scores = total[rows]
    best = (scores >= np.maximum.reduceat(scores, firsts).repeat(counts)).nonzero()[0]
    values = np.stack(
        [
            lexical[rows[best[best.searchsorted(firsts)]]],
            np.maximum.reduceat(name[rows], firsts),
            np.maximum.reduceat(doc[rows], firsts),
        ]
    )
    # Blob and cosine are sorted as one number, which takes a fifth of the time of sorting by two keys.
    group = np.arange(len(blobs)).repeat(counts)
    order = (group * (2 * _FAR) - np.maximum(dense[rows], -_FAR)).argsort(kind="stable")
    n_chosen = np.minimum(counts, n_near)
    ends = n_chosen.cumsum()
    chosen = np.arange(int(ends[-1]) if len(ends) else 0) + (firsts - ends + n_chosen).repeat(n_chosen)
    return OfChunks(values, rows[order[chosen]], n_chosen)


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
    """Return what some files say of a query's terms, shape (7, n_files).

    That is the share of the query's rarity that each file covers: anywhere, in the two fields of `bits`, in the field
    of its path that is `path_bit`, and in its path; how often it has the terms, and how often a row of it has them.

    Args:
        in_rows: where the terms stand.
        in_paths: where they stand in paths; `rows` are files.
        file_of_row: shape (n_rows,), -1 for none.
        n_all_files: how many files there are.
        files: shape (n_files,), those that count.
        n_chunks: shape (n_files,), how many rows each has.
        rarity: shape (n_terms,), the share of each term.
        bits: two bits.
        path_bit: a bit.
    """
    n_files = len(files)
    place_of_file = np.full(n_all_files, -1)
    place_of_file[files] = np.arange(n_files)
    by_row = _cells(in_rows, np.where(file_of_row < 0, -1, place_of_file[file_of_row])[in_rows.rows], n_files, bits)
    by_path = _cells(in_paths, place_of_file[in_paths.rows], n_files, path_bit)
    size = len(rarity) * n_files
    cells = np.concatenate([place * size + found for place, found in enumerate((*by_row, *by_path))])
    counts = np.bincount(cells, minlength=5 * size).reshape(5, len(rarity), n_files)
    anywhere = counts[0].astype(np.float64)
    found = np.empty((7, n_files))
    found[[0, 1, 2, 4, 3]] = rarity @ (counts > 0)
    found[5], found[6] = rarity @ np.log1p(anywhere), rarity @ anywhere / n_chunks
    return found


def _cells(found: TermRows, columns: Ints, n_files: int, bits: bytes) -> list[Ints]:
    """Return a number for the term and the file of each occurrence, and then of those in each of some fields.

    Args:
        found: where the terms stand.
        columns: the file of each occurrence, -1 for another file.
        n_files: how many files count.
        bits: of the fields.
    """
    within = (columns >= 0).nonzero()[0]
    cells = found.terms[within] * n_files + columns[within]
    fields = found.fields[within]
    return [cells, *(cells[(fields & bit).nonzero()[0]] for bit in bits)]


def predict(features: Ints, thresholds: Floats, values: Floats, table: Floats) -> Floats:
    """Return the sum of all trees for each column of a table, shape (n,).

    All questions of a tree are answered at once; the answers, as bits, give the number of the leaf.

    Args:
        features: shape (n_trees * n_questions,), rows of the table.
        thresholds: shape (n_trees * n_questions,).
        values: shape (n_trees, 2 ** n_questions), for each pattern of answers, the first question the lowest bit.
        table: shape (n_features, n).
    """
    n_trees, n_patterns = values.shape
    answers = (table.take(features, axis=0) <= thresholds[:, None]).view(np.uint8)
    answers = answers.reshape(n_trees, n_patterns.bit_length() - 1, table.shape[1])
    leaves = np.arange(0, n_trees * n_patterns, n_patterns)[:, None] + answers[:, 0]
    for question in range(1, answers.shape[1]):
        leaves += answers[:, question] << np.uint8(question)
    total: Floats = values.take(leaves).sum(axis=0)
    return total


def one_of_each(
    best: Floats, total: Floats, blob_rows: Ints, file_of_blob: Ints, limit: int, saturation: float, tie: float
) -> ListedRows:
    """Return the best rows, where each further row of a file counts less.

    A file's best row keeps its score, so only rows of the `limit` best files can be among the `limit` best.

    Args:
        best: shape (n_blobs,), the highest score of each blob's rows.
        total: shape (n_rows,), -inf for a row that is out of scope.
        blob_rows: shape (n_blobs + 1,), where each blob's rows begin; each has one at least.
        file_of_blob: shape (n_blobs,).
        limit: how many rows.
        saturation: what each further row's score is multiplied by.
        tie: more than rounding can change a score.
    """
    top = largest(best, limit)
    highest = best[top]
    if (least := float(highest.min(initial=np.inf))) == -np.inf:
        is_shown = highest > -np.inf
        top, highest = top[is_shown], highest[is_shown]
    counts = blob_rows[top + 1] - blob_rows[top]
    ends = counts.cumsum()
    rows = np.arange(int(ends[-1]) if len(ends) else 0) + (blob_rows[top] - ends + counts).repeat(counts)
    totals = total[rows]
    if len(top) >= limit and least > 0:
        good = ((totals >= (highest - tie).repeat(counts)) | (totals * saturation >= least - tie)).nonzero()[0]
    else:
        good = (totals > -np.inf).nonzero()[0]
    # File by file, the best row first, of equal ones the first in the file.
    rows, totals, blobs = rows[good], totals[good], np.arange(len(top)).repeat(counts)[good]
    order = np.lexsort((-totals, blobs))
    rows, sums, files = rows[order], totals[order].astype(np.float64), file_of_blob[top][blobs]
    firsts = blobs.searchsorted(np.arange(len(top)))
    places = np.arange(len(rows)) - firsts[blobs]
    # A factor would raise a negative score, so that is lowered.
    values = np.where(sums > 0, sums * saturation**places, sums - places)
    values = values.round(5)  # a difference that only comes from the order of summing is a tie
    # Rows with equal scores are in order of their path, and then of their place in the file.
    order = np.lexsort((rows, files, -values))[:limit]
    return ListedRows(rows[order], files[order], values[order], values[order] - sums[order])


def find_runs(data: bytes, text: bytes, bounds: Ints, may_hold: bytes, counts: bytes, most: int) -> list[list[int]]:
    """Return the longest runs of a text's words that stand in some data as whole words, with what is between them.

    A word that does not count makes no run alone.

    Args:
        data: what is searched.
        text: what is looked for.
        bounds: where each word of the text begins and ends, shape (2 * n_words,).
        may_hold: a byte for each word, 0 for one that does not stand in the data.
        counts: a byte for each word.
        most: how many places of one run at most.

    Returns:
        [offset in the data, first word, last word] of each place, in the order of the text.
    """
    starts, ends = bounds[::2].tolist(), bounds[1::2].tolist()
    found, first, n_words = list[list[int]](), 0, len(starts)
    while first < n_words:
        last = first if counts[first] else min(first + 1, n_words - 1)  # a common word says nothing alone
        may_stand = may_hold[first] and may_hold[last]
        places = _places_of(data, text[starts[first] : ends[last]], most) if may_stand else []
        last = last if places else first
        while places and last + 1 < n_words and may_hold[last + 1]:
            if not (further := _places_of(data, text[starts[first] : ends[last + 1]], most)):
                break
            places, last = further, last + 1
        if last > first or counts[first]:
            found += [[place, first, last] for place in places]
        first = last + 1
    return found


def _places_of(data: bytes, text: bytes, most: int) -> list[int]:
    """Return where a text stands in some data, but not within a longer word of ASCII."""
    places, offset = list[int](), data.find(text)
    while offset >= 0 and len(places) < most:
        behind = offset + len(text)
        if not _is_word(data[max(0, offset - 1) : offset]) and not _is_word(data[behind : behind + 1]):
            places.append(offset)
        offset = data.find(text, offset + 1)
    return places


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_"


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
    """Return the postings of terms that words of some rows have.

    Args:
        sources: shape (n,), which word each term is of, in the order of their rows.
        terms: shape (n,), the number of each.
        rows: shape (n_words,), the row of each word.
        bits: shape (n_words,), that of its field.
        shares: shape (n_words,), what it counts.
        hashes: shape (n_terms,), of the terms by number.
        n_rows: how many rows there are.
        saturation: the sum of shares at which an impact is half of the most.
        scale: the most that an impact is.
    """
    occurs = np.zeros(len(hashes), dtype=np.bool_)
    occurs[terms] = True
    numbers = np.flatnonzero(occurs)
    used, places = np.unique(hashes[numbers], return_inverse=True)
    rank_of = np.zeros(len(hashes), dtype=np.int32)
    rank_of[numbers] = places
    ranks = rank_of[terms]
    order = _stable_order(ranks, len(used))  # the rows are in order, and stay so for each term
    sources, ranks = sources[order], ranks[order]
    rows_in_order = rows[sources]
    keys = ranks.astype(np.int64) * max(1, n_rows) + rows_in_order
    begins = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    firsts = np.flatnonzero(begins)
    if not len(firsts):
        return used, np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.uint8)
    sums = np.add.reduceat(shares[sources], firsts)
    impacts = np.clip(np.round(scale * sums / (saturation + sums)), 1, 255).astype(np.uint8)
    start = np.append(0, np.cumsum(np.bincount(ranks[firsts], minlength=len(used)))).astype(np.int64)
    return used, start, rows_in_order[firsts], impacts, np.bitwise_or.reduceat(bits[sources], firsts)


def _stable_order(ranks: npt.NDArray[np.int32], n_ranks: int) -> Ints:
    """Return what sorts ranks, equal ones as they stand; numpy sorts 16 bits at a time many times as fast as 32."""
    order = np.argsort((ranks & 0xFFFF).astype(np.uint16), kind="stable")
    if n_ranks > 1 << 16:
        order = order[np.argsort((ranks >> 16).astype(np.uint16)[order], kind="stable")]
    return order
