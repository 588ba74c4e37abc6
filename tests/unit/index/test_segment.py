from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.embedding.static import StaticModel
from cairn.errors import DerivedFileError
from cairn.index.analysis import Analyzer, Postings
from cairn.index.segment import Form, Segment, form_of, merge_segments
from cairn.index.words import Words
from cairn.types import Chunk, Definition, Span

WORDS = ("get", "user", "name", "parse", "HTTP", "file", "open", "close")
Blobs = dict[int, list[str]]  # the bodies of each blob's chunks


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    """An analyzer with the bundled model."""
    model = StaticModel.load()
    return Analyzer(model.word_vectors, model.dimensions)


def build(analyzer: Analyzer, blobs: Blobs) -> Segment:
    bodies = [body for number in sorted(blobs) for body in blobs[number]]
    postings, vectors = analyzer.analyze([Words.of([("", "", "", body) for body in bodies])])
    return Segment(
        blob_ids=np.array(sorted(blobs), dtype=np.int64),
        blob_start=np.r_[0, np.cumsum([len(blobs[number]) for number in sorted(blobs)])].astype(np.int64),
        forms=np.array([len(body) % len(Form) for body in bodies], dtype=np.uint8),
        vectors=vectors,
        postings=postings,
    )


def check_same(actual: Segment, wanted: Segment) -> None:
    for name in ("blob_ids", "blob_start", "forms", "vectors"):
        np.testing.assert_array_equal(getattr(actual, name), getattr(wanted, name), err_msg=name)
    for name in Postings._fields:
        left, right = getattr(actual.postings, name), getattr(wanted.postings, name)
        np.testing.assert_array_equal(left, right, err_msg=name)
        assert left.dtype == right.dtype


BODIES = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=4)


@given(
    st.lists(st.tuples(BODIES, st.integers(0, 2), st.booleans()), min_size=1, max_size=12),
    st.sampled_from([1, 3, 1_000]),
)
@settings(max_examples=60)
def test_merging_equals_building_at_once(
    analyzer: Analyzer,
    tmp_path_factory: pytest.TempPathFactory,
    blobs: list[tuple[list[str], int, bool]],
    block_postings: int,
) -> None:
    """Whatever the order of the segments' blobs, whichever are dropped, and however little is held at a time."""
    parts: list[Blobs] = [{}, {}, {}]
    for number, (bodies, part, _) in enumerate(blobs):
        parts[part][number] = bodies
    kept = {number: bodies for number, (bodies, _, keep) in enumerate(blobs) if keep}
    file = tmp_path_factory.mktemp("merged") / "a.seg"
    n_rows, n_bytes = merge_segments(file, [build(analyzer, part) for part in parts], kept, block_postings)
    check_same(Segment.load(file), build(analyzer, kept))
    assert (n_rows, n_bytes) == (len(Segment.load(file)), file.stat().st_size)


def test_merging_holds_a_part_of_the_segments_at_a_time(tmp_path: Path) -> None:
    """In 24 segments of 2 MB of vectors and as much of postings each."""
    parts = []
    for number in range(24):
        write_large(tmp_path / f"{number}.seg", number)
        parts.append(Segment.load(tmp_path / f"{number}.seg"))
    tracemalloc.start()
    n_rows, n_bytes = merge_segments(tmp_path / "all.seg", parts, range(24), block_postings=20_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_rows == 24 * LARGE_ROWS
    assert n_bytes > 90_000_000
    assert peak < n_bytes / 3
    check_same_postings(Segment.load(tmp_path / "all.seg"), parts)


LARGE_ROWS, LARGE_TERMS = 8_000, 50


def write_large(file: Path, number: int) -> None:
    """Write a segment of one blob, of which every row has the same terms."""
    n_postings = LARGE_ROWS * LARGE_TERMS
    Segment(
        blob_ids=np.array([number], np.int64),
        blob_start=np.array([0, LARGE_ROWS], np.int64),
        forms=np.zeros(LARGE_ROWS, np.uint8),
        vectors=np.full((LARGE_ROWS, 256), number, np.int8),
        postings=Postings(
            np.arange(LARGE_TERMS, dtype=np.uint64),
            np.arange(LARGE_TERMS + 1, dtype=np.int64) * LARGE_ROWS,
            np.tile(np.arange(LARGE_ROWS, dtype=np.int32), LARGE_TERMS),
            np.full(n_postings, number, np.uint8),
            np.ones(n_postings, np.uint8),
        ),
    ).save(file)


def check_same_postings(merged: Segment, parts: list[Segment]) -> None:
    """Check a term in the middle, which every row of every segment has."""
    own = slice(merged.postings.start[7], merged.postings.start[8])
    np.testing.assert_array_equal(merged.postings.rows[own], np.arange(len(parts) * LARGE_ROWS))
    np.testing.assert_array_equal(merged.postings.impacts[own], np.repeat(np.arange(len(parts)), LARGE_ROWS))
    np.testing.assert_array_equal(merged.vectors[::LARGE_ROWS, 0], np.arange(len(parts)))


def test_a_segment_comes_back_as_it_was_saved(analyzer: Analyzer, tmp_path: Path) -> None:
    segment = build(analyzer, {3: ["open file", "close file"], 7: [], 9: ["parse"]})
    segment.save(tmp_path / "a.seg")
    check_same(Segment.load(tmp_path / "a.seg"), segment)
    assert len(segment) == 3


def test_a_lost_segment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DerivedFileError):
        Segment.load(tmp_path / "lost.seg")


@pytest.mark.parametrize(
    ("kind", "owner", "part", "form"),
    [
        ("function", 0, 0, Form.FUNCTION),
        ("method", 0, 0, Form.FUNCTION),
        ("class", 0, 0, Form.TYPE),
        ("trait", 0, 0, Form.TYPE),
        ("constant", 0, 0, Form.VALUE),
        ("section", 0, 0, Form.SECTION),
        ("module", -1, 0, Form.MODULE),
        ("text", -1, 0, Form.MODULE),
        ("function", 0, 1, Form.CONTINUATION),
    ],
)
def test_a_chunk_has_the_form_of_its_definition(kind: str, owner: int, part: int, form: Form) -> None:
    span = Span(1, 1, 0, 1)
    of = Definition(kind, "parse", "reader.parse", "", "", -1, span) if owner >= 0 else None
    assert form_of(Chunk(kind, owner, part, (0, 0), "", span, ((1, 1),)), of) is form


@pytest.mark.parametrize(
    ("kind", "name", "part"), [("test", "empty input", 0), ("function", "tests.parses", 0), ("module", "tests", 3)]
)
def test_a_test_beside_the_code_is_one_whatever_part_of_it_a_chunk_is(kind: str, name: str, part: int) -> None:
    span = Span(1, 1, 0, 1)
    owner = Definition(kind, name.rpartition(".")[2], name, "", "", -1, span)
    assert form_of(Chunk(kind, 0, part, (0, 0), "", span, ((1, 1),)), owner) is Form.TEST


def test_a_function_called_like_a_scope_of_tests_is_none() -> None:
    span = Span(1, 1, 0, 1)
    owner = Definition("function", "tests", "tests", "", "", -1, span)
    assert form_of(Chunk("function", 0, 0, (0, 1), "", span, ((1, 1),)), owner) is Form.FUNCTION
