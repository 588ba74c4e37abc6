"""The compiled inner loops against those in numpy, on made-up projects."""

import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.kernels import counting, plain
from cairn.kernels.build import IS_COMPILED
from cairn.kernels.files import first_lines, read_below
from cairn.kernels.plain import Floats, Ints, TermRows
from cairn.source.text import split_identifier

if IS_COMPILED:
    from cairn.kernels import _compiled, compiled

needs_build = pytest.mark.skipif(not IS_COMPILED, reason="the inner loops were not compiled")
_BITS, _PATH_BIT = bytes([1, 4]), bytes([2])


class Project(NamedTuple):
    """A made-up snapshot: two files may show one blob, some blobs are shown by none."""

    blob_rows: Ints
    file_of_blob: Ints
    n_files: int
    random: np.random.Generator

    @property
    def n_rows(self) -> int:
        return int(self.blob_rows[-1])

    @property
    def file_of_row(self) -> Ints:
        return self.file_of_blob.repeat(np.diff(self.blob_rows))

    def values(self, size: int) -> Floats:
        """Return numbers with many ties among them, for these decide what comes first."""
        return (self.random.integers(-3, 12, size) / 8).astype(np.float32)

    def terms(self, n_terms: int, n_places: int) -> TermRows:
        terms = np.sort(self.random.integers(0, n_terms, 3 * n_places))
        rows = self.random.integers(0, n_places, len(terms))
        impacts, fields = (self.random.integers(0, 256, len(terms)).astype(np.uint8) for _ in range(2))
        return TermRows(terms, rows, impacts, fields)


@st.composite
def projects(draw: st.DrawFn) -> Project:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    counts = random.integers(1, draw(st.integers(2, 30)), draw(st.integers(1, 60)))
    n_files = draw(st.integers(1, 50))
    file_of_blob = random.integers(-1 if draw(st.booleans()) else 0, n_files, len(counts))
    return Project(np.concatenate([[0], counts.cumsum()]), file_of_blob, n_files, random)


def unit_vectors(random: np.random.Generator, count: int, width: int) -> npt.NDArray[np.float64]:
    vectors = random.normal(size=(count, width))
    scaled: npt.NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def test_the_inner_loops_are_compiled_where_they_can_be() -> None:
    compiler = str(sysconfig.get_config_var("CC") or "cc").split()[0]
    has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    if shutil.which(compiler) is None or not has_headers:
        pytest.skip("no compiler, or no headers of Python")
    assert IS_COMPILED


@needs_build
@given(st.integers(0, 2**32), st.integers(0, 40), st.integers(1, 300))
def test_cosines_are_the_same_to_the_bit(seed: int, n_rows: int, width: int) -> None:
    random = np.random.default_rng(seed)
    *vectors, query = unit_vectors(random, n_rows + 1, width)
    rows = (127 * np.array(vectors).reshape(n_rows, width)).round().astype(np.int8)
    whole = (120_000 * query).round().astype(np.float32)
    np.testing.assert_array_equal(compiled.cosines(rows, whole, 1e-7), plain.cosines(rows, whole, 1e-7))
    others = rows[::-1]
    np.testing.assert_array_equal(compiled.pair_products(rows, others.copy()), plain.pair_products(rows, others))
    spread = np.repeat(rows, 2, axis=0)[::2]  # rows that do not follow each other in memory
    np.testing.assert_array_equal(compiled.cosines(spread, whole, 1e-7), plain.cosines(rows, whole, 1e-7))


@needs_build
@given(projects(), st.lists(st.integers(0, 12), unique=True))
def test_terms_stand_in_the_same_rows(project: Project, wanted: list[int]) -> None:
    found = project.terms(10, project.n_rows)
    hashes, starts = np.unique(found.terms, return_index=True)
    postings = (
        hashes.astype(np.uint64),
        np.append(starts, len(found.terms)),
        found.rows.astype(np.int32),
        found.impacts,
        found.fields,
    )
    some = np.where(project.random.random(project.n_rows) < 0.5, np.arange(project.n_rows), -1).astype(np.int32)
    for base, row_of in ((0, None), (7, None), (0, some)):
        own, other = (part.look_up(postings, wanted, base, row_of) for part in (compiled, plain))
        for values, others in zip(own, other, strict=True):
            np.testing.assert_array_equal(values, others, strict=True)
        counts = [part.count_rows(postings, np.array(wanted, np.uint64), row_of) for part in (compiled, plain)]
        np.testing.assert_array_equal(*counts, strict=True)
        np.testing.assert_array_equal(counts[1], np.bincount(other.terms, minlength=len(wanted)))


@needs_build
@given(projects(), st.integers(1, 8))
def test_the_first_stage_is_the_same_to_the_bit(project: Project, n_terms: int) -> None:
    found = project.terms(n_terms, project.n_rows)
    gains = project.random.random((2, n_terms))
    sums = [part.sum_occurrences(found, gains[0], gains[1], _BITS, project.n_rows) for part in (compiled, plain)]
    np.testing.assert_array_equal(*sums)

    lexical, name, _ = sums[0]
    shares = [part.file_lexical(lexical, project.blob_rows, 0.2) for part in (compiled, plain)]
    np.testing.assert_allclose(
        shares[0], shares[1], rtol=1e-6
    )  # of values that differ in their last bit only, any may be left out

    within = np.where(project.random.random(project.n_rows) < 0.5, project.file_of_row, -1)
    of_files, standing = project.values(project.n_files), project.values(project.n_rows)
    for file_of_row, dense in ((None, None), (within, project.values(project.n_rows))):
        totals = [
            part.add_up(
                of_files,
                project.file_of_blob,
                project.blob_rows,
                standing,
                file_of_row,
                [shares[0], lexical, name],
                [0.5, 0.4, 0.05],
                dense,
                0.8,
            )
            for part in (compiled, plain)
        ]
        for own, other in zip(*totals, strict=True):
            np.testing.assert_array_equal(own, other)


@needs_build
@given(projects(), st.integers(1, 40))
def test_the_best_files_and_what_their_chunks_say_are_the_same(project: Project, count: int) -> None:
    best = project.values(len(project.file_of_blob))
    best[project.file_of_blob < 0] = -np.inf
    chosen = [part.best_files(best, project.file_of_blob, count) for part in (compiled, plain)]
    np.testing.assert_array_equal(*chosen)

    blobs = chosen[0]
    if not len(blobs):
        return
    # Cosines without ties: which of two equally near rows is taken makes no difference to what is made of them.
    dense = project.random.permutation(project.n_rows).astype(np.float32) / project.n_rows
    rows = [project.values(project.n_rows) for _ in range(4)]
    parts = [part.chunk_features(blobs, project.blob_rows, *rows, dense, 4) for part in (compiled, plain)]
    for own, other in zip(*parts, strict=True):
        np.testing.assert_array_equal(own, other)


@needs_build
@given(projects(), st.integers(1, 8))
def test_what_files_say_of_terms_is_the_same(project: Project, n_terms: int) -> None:
    files, firsts = np.unique(project.file_of_blob, return_index=True)
    files, firsts = files[files >= 0], firsts[files >= 0]
    if not len(files):
        return
    arguments = (
        project.terms(n_terms, project.n_rows),
        project.terms(n_terms, project.n_files),
        project.file_of_row,
        project.n_files,
        files,
        np.diff(project.blob_rows)[firsts],
        project.random.random(n_terms),
        _BITS,
        _PATH_BIT,
    )
    np.testing.assert_allclose(compiled.term_features(*arguments), plain.term_features(*arguments), rtol=1e-12)


@needs_build
@given(st.integers(0, 2**32), st.integers(1, 20), st.integers(1, 5), st.integers(1, 40))
def test_trees_are_the_same_but_for_rounding(seed: int, n_trees: int, n_questions: int, n: int) -> None:
    random = np.random.default_rng(seed)
    features = random.integers(0, 6, n_trees * n_questions)
    thresholds, table = (random.integers(0, 5, size).astype(np.float32) for size in (len(features), (6, n)))
    values = random.normal(size=(n_trees, 2**n_questions)).astype(np.float32)
    arguments = (features, thresholds, values, table)
    np.testing.assert_allclose(compiled.predict(*arguments), plain.predict(*arguments), atol=1e-5)


@needs_build
@settings(max_examples=300)
@given(projects(), st.integers(1, 40), st.floats(-1, 1))
def test_the_list_is_the_same(project: Project, limit: int, lift: float) -> None:
    total = project.values(project.n_rows) + np.float32(lift)
    total[project.file_of_row < 0] = -np.inf
    total[project.random.random(project.n_rows) < 0.2] = -np.inf
    best = np.maximum.reduceat(total, project.blob_rows[:-1])
    arguments = (best, total, project.blob_rows, project.file_of_blob, limit, 0.5, 1e-4)
    for own, other in zip(compiled.one_of_each(*arguments), plain.one_of_each(*arguments), strict=True):
        np.testing.assert_array_equal(own, other)


@needs_build
@given(st.lists(st.text(st.sampled_from("aB_1é字 \n.-\0"), max_size=40) | st.text(max_size=40), max_size=20))
def test_the_words_of_texts_are_counted_alike(texts: list[str]) -> None:
    own, other = counting.count_words(texts), counting.count_plainly(texts)
    assert own == other
    words = own.words.split("\n")[:-1]
    assert len(set(words)) == len(words) == own.words.count("\n")


@needs_build
@given(st.lists(st.text(st.sampled_from("abXYZ_019é字"), max_size=30), max_size=30))
def test_identifiers_are_taken_apart_alike(raws: list[str]) -> None:
    lines = "\n".join([*raws, ""])
    own = counting.split_identifiers(lines)
    assert own == counting.split_plainly(lines)
    if lines.isascii():  # as a query's words are
        parts, places = own.parts.split("\n"), iter(np.frombuffer(own.ids, np.int32).tolist())
        for raw in raws:
            assert tuple(parts[place] for place in iter(places.__next__, -1)) == split_identifier(raw)


@needs_build
def test_many_words_are_counted_alike() -> None:
    texts = [" ".join(f"word{number * 7919 % 5_000}" for number in range(first, first + 9_000)) for first in (0, 77)]
    assert counting.count_words(texts) == counting.count_plainly(texts)


@needs_build
@given(st.integers(0, 2**32), st.integers(0, 200), st.integers(1, 30), st.integers(1, 20))
def test_postings_are_the_same(seed: int, n_words: int, n_terms: int, n_rows: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.sort(random.integers(0, n_rows, n_words)).astype(np.int32)
    sources = np.repeat(np.arange(n_words, dtype=np.int32), random.integers(0, 4, n_words))
    arguments = (
        sources,
        random.integers(0, n_terms, len(sources)).astype(np.int32),
        rows,
        (1 << random.integers(0, 4, n_words)).astype(np.uint8),
        random.random(n_words) * random.integers(1, 30, n_words),
        random.integers(0, 2**63, n_terms).astype(np.uint64),
        n_rows,
        1.6,
        255.0,
    )
    for own, other in zip(compiled.make_postings(*arguments), plain.make_postings(*arguments), strict=True):
        np.testing.assert_array_equal(own, other, strict=True)


@needs_build
@given(st.integers(0, 2**32), st.integers(1, 200), st.integers(1, 200))
def test_the_list_of_one_large_file_is_the_same(seed: int, n_rows: int, limit: int) -> None:
    total = np.random.default_rng(seed).random(n_rows).astype(np.float32)
    arguments = (total.max(keepdims=True), total, np.array([0, n_rows]), np.zeros(1, np.int64), limit, 0.5, 1e-4)
    for own, other in zip(compiled.one_of_each(*arguments), plain.one_of_each(*arguments), strict=True):
        np.testing.assert_array_equal(own, other)


_PASTED = st.text("ab_ .\u00e9\ud800", max_size=12)


@needs_build
@given(st.lists(_PASTED, max_size=8), _PASTED, st.data(), st.integers(1, 4))
def test_runs_of_pasted_words_are_the_same(pieces: list[str], text: str, data: st.DataObject, most: int) -> None:
    sought = f"{text} {data.draw(st.sampled_from(pieces)) if pieces else 'a'}"
    bounds = [
        len(sought[:place].encode("utf-8", "surrogatepass"))
        for one in re.finditer(r"\w+", sought)
        for place in one.span()
    ]
    flags = st.binary(min_size=len(bounds) // 2, max_size=len(bounds) // 2)
    arguments = (
        " ".join([*pieces, sought, *pieces]).encode("utf-8", "surrogatepass"),
        sought.encode("utf-8", "surrogatepass"),
        np.array(bounds, np.int64),
        data.draw(flags | st.just(b"\1" * (len(bounds) // 2))),
        data.draw(flags),
        most,
    )
    assert compiled.find_runs(*arguments) == plain.find_runs(*arguments)


@needs_build
@pytest.mark.parametrize("bounds", [[0, 9], [2, 1], [-1, 1], [0, 1, 0, 2], [1, 1]])
def test_words_outside_of_a_pasted_text_are_an_error_and_no_crash(bounds: list[int]) -> None:
    words = b"\1" * (len(bounds) // 2)
    with pytest.raises(IndexError, match="out of range"):
        compiled.find_runs(b"data", b"text", np.array(bounds, np.int64), words, words, 8)


@needs_build
@given(st.text("ab \t\x0b\x1c\n\n\0\u00e9", max_size=80), st.data(), st.integers(1, 9), st.integers(0, 9))
def test_first_lines_are_those_that_python_cuts(text: str, data: st.DataObject, n_lines: int, most_bytes: int) -> None:
    content, most_chars = text.encode(), data.draw(st.integers(0, most_bytes))
    start = data.draw(st.integers(0, len(content)))
    first = content.rfind(b"\n", 0, start) + 1
    lines = content[first : first + n_lines * most_bytes].split(b"\n", n_lines)[:n_lines]
    cut = b"\n".join([line[:most_bytes] for line in lines])
    shown = "\n".join([line.rstrip()[:most_chars] for line in cut.decode("ascii", "replace").split("\n")])
    found = first_lines(content, start, n_lines, most_bytes, most_chars)
    assert found == (shown if cut.isascii() else None)


@needs_build
@pytest.mark.parametrize("numbers", [(-1, 1, 1, 1), (9, 1, 1, 1), (0, 0, 1, 1), (0, 1, 1, 2), (0, 2**40, 2**40, 1)])
def test_lines_outside_of_a_file_are_an_error_and_no_crash(numbers: tuple[int, int, int, int]) -> None:
    with pytest.raises(IndexError, match="out of range"):
        first_lines(b"a\nb", *numbers)


@pytest.mark.skipif(not IS_COMPILED or sys.platform != "linux", reason="needs the build, and openat2 of Linux")
def test_a_file_is_read_at_once_and_all_that_is_odd_is_left_for_a_closer_look(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_bytes(b"x\0y")
    (folder / "empty").touch()
    (folder / "link").symlink_to("file")
    (tmp_path / "linked").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    if _compiled.read_below(str(tmp_path), "folder/file", 3) is None:
        pytest.skip("no openat2 here")
    assert read_below(str(tmp_path / "linked"), "file", 3) == b"x\0y"
    assert read_below(str(folder), "empty", 3) == b""
    odd = ("folder/link", "linked/file", "folder/pipe", "folder", "none", "folder/file/x", "../x", "fold\0er", "\ud800")
    assert {path: read_below(str(tmp_path), path, 3) for path in odd} == dict.fromkeys(odd)
    assert read_below(str(tmp_path), "folder/file", 2) is None
    assert read_below(str(tmp_path / "none"), "file", 3) is None
    assert read_below(str(folder), "../folder/file", 3) is None


_ONE, _FLOATS = np.zeros(1, np.int64), np.zeros(1, np.float32)
_POSTINGS = (np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.uint8))


@needs_build
@pytest.mark.parametrize("row", [-1, 1, 2**40, 2**63 - 1])
def test_a_number_that_is_out_of_range_is_an_error_and_no_crash(row: int) -> None:
    found = TermRows(_ONE, np.array([row]), np.zeros(1, np.uint8), np.zeros(1, np.uint8))
    with pytest.raises(IndexError, match="out of range"):
        compiled.sum_occurrences(found, np.zeros(1), np.zeros(1), _BITS, 1)
    with pytest.raises(IndexError, match="out of range"):
        compiled.file_lexical(_FLOATS, np.array([0, row + 1 if row == 1 else row]), 0.2)
    with pytest.raises(IndexError, match="out of range"):
        compiled.chunk_features(np.array([row]), np.array([0, 1]), _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, 4)
    with pytest.raises(IndexError, match="out of range"):
        compiled.look_up((_ONE.astype(np.uint64), np.array([0, row]), *_POSTINGS), [0], 0, None)
    with pytest.raises(IndexError, match="out of range"):
        compiled.count_rows((_ONE.astype(np.uint64), np.array([0, row]), *_POSTINGS), _ONE.astype(np.uint64), None)
    nowhere = TermRows(_ONE[:0], _ONE[:0], np.zeros(0, np.uint8), np.zeros(0, np.uint8))
    with pytest.raises(IndexError, match="out of range"):
        compiled.term_features(nowhere, nowhere, _ONE, row, np.array([row]), _ONE, np.zeros(1), _BITS, _PATH_BIT)
    with pytest.raises(IndexError, match="out of range"):
        compiled.predict(np.array([row]), _FLOATS, np.zeros((1, 2), np.float32), np.zeros((1, 1), np.float32))


@needs_build
def test_arrays_of_the_wrong_kind_or_size_are_refused() -> None:
    with pytest.raises(TypeError, match="of type float32"):
        compiled.file_lexical(np.zeros(1), np.array([0, 1]), 0.2)  # type: ignore[arg-type] # on purpose
    with pytest.raises(ValueError, match="must have 2 items"):
        compiled.best_files(np.zeros(2, np.float32), _ONE, 1)
    with pytest.raises(TypeError, match="4 arguments"):
        _compiled.cosines(_ONE)  # type: ignore[call-arg] # on purpose
    with pytest.raises(BufferError):
        _compiled.file_lexical(_FLOATS, np.array([0, 1]), 0.2, b"1234")


def test_no_result_is_built_with_a_format_that_earlier_versions_refuse_in_a_build_by_a_later_one() -> None:
    source = (Path(counting.__file__).parent / "_compiled.c").read_text()
    assert re.findall(r'Py_BuildValue\("([^"]*)"', source)
    assert not re.search(r'(?:Py_BuildValue|PyArg_\w+)\([^"]*"[^"]*#', source)
