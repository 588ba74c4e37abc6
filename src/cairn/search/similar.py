"""Finds code that does the same as a piece of code: copies first, then what is alike in words, form and meaning.

Candidates are the chunks nearest in meaning, and the definitions of about the same length, among which is any copy
whose names were all changed. They are read from the files as they are now and compared token by token.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cairn import waiting
from cairn.answers import Answer, CodeHit
from cairn.index.words import ParsedText
from cairn.protocol.requests import SimilarRequest
from cairn.search.confidence import confidence_word
from cairn.search.filters import filter_files
from cairn.search.hits import Focus, Verdict, make_hit
from cairn.search.library import Library, coverage_of, read_files
from cairn.search.near import best_rows, compare
from cairn.search.query import MINOR_KINDS
from cairn.search.sample import Sample, chunk_vectors, take_sample
from cairn.search.score import Floats, Ints
from cairn.source.clones import MAX_ALL_CHARS, MAX_CHARS, Tokenizer, Tokens, compare_tokens
from cairn.source.languages import BY_NAME
from cairn.storage.index import chunk_db
from cairn.storage.index.chunk_db import MAX_ORDINAL, ORDINAL_BITS, ChunkRow
from cairn.types import Match, Span

# How many chunks, nearest in meaning, and definitions, nearest in length, are compared.
NEAREST_ROWS, NEAREST_LENGTHS = 150, 400
MAX_BESIDE = 600  # definitions in the sample's own file that are nearest in meaning
MAX_OF_CHUNK = 100  # definitions that begin in one chunk; more are data
LENGTH_SHARE = 0.35  # how much longer or shorter than the sample such a definition may be
# Code of fewer tokens, such as a getter, looks like a lot of code that is not a copy of it.
MIN_RENAMED_TOKENS = 24
# The weights of shared runs of tokens, of shared words, and of the cosine; bench/README.md says how they were chosen.
GRAMS, WORDS, COSINE = 0.4, 0.25, 0.35
EDITED = 0.7  # from this share of common runs of tokens on, code counts as an edited copy
LEAST = 0.4  # what is less similar is not shown
RENAMED, MOST = (0.95, 0.99), 0.94  # the similarity of renamed copies, and the most that any lesser match can have


@dataclass(frozen=True, slots=True)
class Candidate:
    """A definition, or a chunk without one, that may be similar. `row` is the chunk in which it begins."""

    file: int
    row: ChunkRow
    focus: Focus
    cosine: float
    fresh: bool = False  # parsed on the spot, not taken from the index


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with how similar it is, 0 to 1, and in which way."""

    candidate: Candidate
    similarity: float
    match: Match


def answer_similar(library: Library, request: SimilarRequest, root: Path, max_bytes: int) -> Answer:
    """Take the request's sample and answer; errors as `take_sample`."""
    return find_similar(library, take_sample(root, request, library.snapshot, library.model, max_bytes), request)


def find_similar(library: Library, sample: Sample, request: SimilarRequest) -> Answer:
    """Return the code most similar to a sample, without the sample itself; nothing similar gives an empty answer."""
    started = time.perf_counter()
    snapshot = library.snapshot
    judged = _judge_all(library, sample, request)
    limit = request.limit or len(judged)
    hits = [_hit(library, candidate) for candidate in judged[:limit]]
    return Answer(
        query=sample.label,
        mode="similar",
        branch=snapshot.branch,
        generation=snapshot.generation,
        code=tuple(hits),
        coverage=coverage_of(snapshot),
        took_ms=round((time.perf_counter() - started) * 1000, 2),
        total_tokens_available=sum(hit.tokens for hit in hits),
        omitted=len(judged) - len(hits),
        notes=sample.notes,
    )


def _judge_all(library: Library, sample: Sample, request: SimilarRequest) -> list[Judged]:
    """Return everything that is similar enough, most similar first, ties in path order."""
    files, kinds = library.snapshot.files, request.kinds
    candidates = [
        candidate for candidate in _candidates(library, sample, request) if not kinds or candidate.focus.kind in kinds
    ]
    texts = read_files(library, {candidate.file for candidate in candidates})
    tokenizers = {name: Tokenizer(BY_NAME[name]) for name in files.language_names}
    tokens: dict[tuple[int, Span, bool], Tokens] = {}  # files with equal content share their tokens
    max_chars = _max_chars(candidates)
    judged = []
    for candidate in candidates:
        waiting.check()
        text, span = texts[candidate.file], candidate.focus.span
        key = (candidate.file if text.stale else candidate.row.blob_id, span, text.stale)
        if key not in tokens:
            tokenizer = tokenizers[files.language_names[files.languages[candidate.file]]]
            code = text.whole(span, moved=text.stale and not candidate.fresh).decode("utf-8", "replace")
            tokens[key] = tokenizer(code, max_chars)
        verdict = _judge(sample, tokens[key], candidate)
        if verdict.similarity >= LEAST:
            judged.append(verdict)

    def order(verdict: Judged) -> tuple[float, str, Span]:
        return -verdict.similarity, files.paths[verdict.candidate.file], verdict.candidate.focus.span

    return sorted(judged, key=order)


def _max_chars(candidates: Sequence[Candidate]) -> int:
    """Return how many characters of each candidate are compared, so that the answer comes in a bearable time."""
    spans = [candidate.focus.span for candidate in candidates]
    sizes = [min(MAX_CHARS, span.end_byte - span.start_byte) for span in spans]
    return MAX_CHARS if sum(sizes) <= MAX_ALL_CHARS else MAX_ALL_CHARS // len(sizes)


def _judge(sample: Sample, tokens: Tokens, candidate: Candidate) -> Judged:
    if not tokens.written:
        return Judged(candidate, 0.0, "related")
    likeness = compare_tokens(sample.tokens, tokens)
    if likeness.same:
        return Judged(candidate, 1.0, "exact")
    if likeness.renamed and len(tokens.written) >= MIN_RENAMED_TOKENS:
        least, most = RENAMED
        return Judged(candidate, least + (most - least) * likeness.words, "renamed")
    similarity = GRAMS * likeness.grams + WORDS * likeness.words + COSINE * max(0.0, candidate.cosine)
    edited = likeness.grams >= EDITED and len(tokens.written) >= MIN_RENAMED_TOKENS
    return Judged(candidate, min(MOST, similarity), "edited" if edited else "related")


def _hit(library: Library, judged: Judged) -> CodeHit:
    candidate = judged.candidate
    text = read_files(library, {candidate.file})[candidate.file]
    share = round(judged.similarity, 3)
    verdict = Verdict(judged.similarity, judged.similarity, confidence_word(judged.similarity))
    hit = make_hit(library.snapshot, candidate.row, candidate.focus, candidate.file, text, verdict, 0)
    if candidate.fresh and text.stale:  # the index does not have this chunk, but its place can be fetched
        hit = hit._replace(id=f"{hit.path}#{hit.start_line}", stale=False)
    return hit._replace(similarity=share, match=judged.match)


# -- candidates --------------------------------------------------------------------------------------------------------


def _candidates(library: Library, sample: Sample, request: SimilarRequest) -> Iterator[Candidate]:
    """Yield what may be similar, each place once, except the sample, what encloses it and what is inside it."""
    snapshot = library.snapshot
    chosen = filter_files(snapshot.files, request)
    files = np.arange(len(snapshot.files.paths)) if chosen is None else chosen
    own = next((file for file in files.tolist() if snapshot.files.paths[file] == sample.path), None)
    if own is not None and sample.file is not None:
        yield from _beside(library, sample, sample.file, own)
        files = files[files != own]
    file_of_blob, file_of_row = snapshot.restrict(files)
    ids = _chunk_ids(library, sample, file_of_blob, file_of_row)
    chunks = list(chunk_db.read_chunks(library.connection, ids).values())
    places = snapshot.rows_of_chunks(np.array([row.id for row in chunks], dtype=np.int64))
    cosines = np.zeros(len(chunks), dtype=np.float32)
    if sample.vector is not None:
        cosines = snapshot.vectors.similarities_of(places, sample.vector)
    files_of_blob = _files_of_blobs(library, files, {row.blob_id for row in chunks})
    for row, cosine in zip(chunks, cosines.tolist(), strict=True):
        for focus in _focuses(row):
            for file in files_of_blob[row.blob_id]:
                yield Candidate(file, row, focus, cosine)


def _beside(library: Library, sample: Sample, parsed_text: ParsedText, file: int) -> Iterator[Candidate]:
    """Yield the other candidates in the sample's own file, as it is now."""
    parsed = parsed_text.parsed
    blob_id = int(library.snapshot.files.blob_ids[file])
    vectors = chunk_vectors(library.model, parsed_text)
    cosines = np.zeros(len(parsed.chunks)) if sample.vector is None else vectors @ sample.vector
    for number in sorted(np.argsort(-cosines, kind="stable")[:MAX_BESIDE].tolist()):
        chunk, key = parsed.chunks[number], parsed_text.keys[number]
        owner = parsed.definitions[chunk.owner] if chunk.owner >= 0 else None
        row = ChunkRow(
            (blob_id << ORDINAL_BITS) + number, key, chunk, parsed.definitions[slice(*chunk.definitions)], owner
        )
        cosine = float(cosines[number])
        for focus in _focuses(row):
            if focus.span.end_line < sample.first_line or focus.span.start_line > sample.last_line:
                yield Candidate(file, row, focus, cosine, fresh=True)


def _focuses(row: ChunkRow) -> Iterator[Focus]:
    """Yield the definitions that begin in a chunk, or the chunk itself when it is not part of one."""
    places = [place for place, definition in enumerate(row.definitions) if definition.kind not in MINOR_KINDS]
    for place in places[:MAX_OF_CHUNK]:
        yield Focus.on(row.definitions[place], place if len(row.definitions) > 1 else None)
    if not places and (row.owner is None or row.owner.kind in MINOR_KINDS):
        yield Focus.on_text(row.chunk.kind, row.chunk.span)


def _chunk_ids(library: Library, sample: Sample, file_of_blob: Ints, file_of_row: Ints) -> list[int]:
    """Return the chunks in which the candidates begin."""
    snapshot, connection = library.snapshot, library.connection
    cosines = np.zeros(snapshot.n_rows, dtype=np.float32)
    if sample.vector is not None:
        nearness = compare(snapshot, sample.vector, file_of_blob)
        cosines = nearness.cosines if nearness.known is None else np.where(nearness.known, nearness.cosines, 0)
    cosines = np.where(file_of_row >= 0, cosines, np.float32(-1))
    nearest = best_rows(snapshot, cosines, NEAREST_ROWS)
    chunks = set(snapshot.chunk_ids(nearest[cosines[nearest] > 0]))
    # A later piece of a long definition stands for the whole definition, which begins in another chunk.
    owners = [
        (row.blob_id << ORDINAL_BITS) + row.chunk.owner
        for row in chunk_db.read_chunks(connection, sorted(chunks)).values()
        if row.chunk.owner >= 0 and not row.chunk.definitions[0] <= row.chunk.owner < row.chunk.definitions[1]
    ]
    chunks |= chunk_db.chunks_of_definitions(connection, owners)
    return sorted(chunks | _of_same_length(library, sample, cosines))


def _of_same_length(library: Library, sample: Sample, cosines: Floats) -> set[int]:
    """Return the chunks of the definitions in the sample's language that are nearest to it in length, then meaning.

    Args:
        cosines: shape (n_rows,), -1 for rows out of scope.
    """
    snapshot, files = library.snapshot, library.snapshot.files
    if len(sample.tokens.written) < MIN_RENAMED_TOKENS or sample.language.name not in files.language_names:
        return set()
    least, most = sample.n_lines * (1 - LENGTH_SHARE), sample.n_lines * (1 + LENGTH_SHARE)
    pairs = chunk_db.chunks_of_length(library.connection, int(least), int(most) + 1)
    chunks, lengths = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    places = snapshot.places_of_blobs(chunks >> ORDINAL_BITS)
    rows = snapshot.blob_rows[places] + (chunks & MAX_ORDINAL)
    language = files.language_names.index(sample.language.name)
    shown = (places >= 0) & (cosines[np.where(places >= 0, rows, 0)] >= -0.5)
    shown &= files.languages[snapshot.file_of_blob[places]] == language
    chunks, lengths, rows = chunks[shown], lengths[shown], rows[shown]
    blobs = snapshot.blob_of_row[rows]
    by_place = (rows - snapshot.blob_rows[blobs], snapshot.file_of_blob[blobs])
    order = np.lexsort((*by_place, -cosines[rows], np.abs(lengths - sample.n_lines)))
    return set(chunks[order[:NEAREST_LENGTHS]].tolist())


def _files_of_blobs(library: Library, files: Ints, blob_ids: Iterable[int]) -> dict[int, list[int]]:
    """Return the files in scope with each content: a copy of a file is a copy of everything in it."""
    shown: dict[int, list[int]] = {blob_id: [] for blob_id in blob_ids}
    for file, blob_id in zip(files.tolist(), library.snapshot.files.blob_ids[files].tolist(), strict=True):
        if blob_id in shown:
            shown[blob_id].append(file)
    return shown
