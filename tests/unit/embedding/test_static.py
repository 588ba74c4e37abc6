import json
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cairn.embedding.static as static
from cairn.embedding.pieces import Pieces
from cairn.embedding.static import StaticModel
from cairn.kernels.build import IS_COMPILED

RECORDED = Path(__file__).parent / "recorded"  # written by training/train.py
DATA = Path(static.__file__).parent / "data"
PIECES: dict[str, list[str]] = json.loads((RECORDED / "pieces.json").read_text(encoding="utf-8"))
WORD_CHARACTERS = "abehinorstz019\u00e9\u00df\u4e2d\ud800# \n\t\0"
SENTENCES = (RECORDED / "sentences.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def model() -> StaticModel:
    return StaticModel.load()


def sentence_vectors(model: StaticModel) -> npt.NDArray[np.float32]:
    vectors = np.stack([model.word_vectors(sentence.split()).sum(axis=0) for sentence in SENTENCES])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def pieces_of(model: StaticModel, word: str) -> list[str]:
    names = np.load(DATA / "static_pieces.npy")
    return [piece.decode() for piece in names[model.piece_ids([word])[0]].tolist()]


@pytest.mark.skipif(not IS_COMPILED, reason="the inner loops were not compiled")
@given(st.lists(st.text(WORD_CHARACTERS, max_size=130) | st.sampled_from(sorted(PIECES))))
def test_words_split_alike_compiled_and_plain(model: StaticModel, words: list[str]) -> None:
    pieces = Pieces(model.pieces.table)
    first, later = pieces._split_plainly(words), pieces._split_plainly(words * 500)  # by searching, and by a dict
    np.testing.assert_array_equal(first[0], later[0][: len(first[0])])
    for own, other in zip(pieces._split_compiled(words), first, strict=True):
        np.testing.assert_array_equal(own, other, strict=True)


@pytest.mark.skipif(not IS_COMPILED, reason="the inner loops were not compiled")
@given(st.lists(st.text("ab", min_size=1, max_size=4), unique=True), st.lists(st.text("ab", max_size=14)))
def test_the_longest_pieces_are_found_in_any_table(pieces: list[str], words: list[str]) -> None:
    table = np.array(sorted({*pieces, *(f"##{piece}" for piece in pieces), "#"}), dtype="S8")
    model = Pieces(table)
    for own, other in zip(model._split_compiled(words), model._split_plainly(words), strict=True):
        np.testing.assert_array_equal(own, other, strict=True)


def test_words_split_into_the_pieces_of_another_tokenizer(model: StaticModel) -> None:
    assert len(PIECES) > 400
    ids, counts = model.piece_ids(list(PIECES))
    names = [piece.decode() for piece in np.load(DATA / "static_pieces.npy")[ids].tolist()]
    ends = np.cumsum(counts)
    found = [names[end - count : end] for end, count in zip(ends, counts, strict=True)]
    assert dict(zip(PIECES, found, strict=True)) == PIECES


def test_sentence_vectors_equal_those_of_the_float32_model(model: StaticModel) -> None:
    recorded = np.load(RECORDED / "sentences.npy").astype(np.float32)
    cosines = (sentence_vectors(model) * recorded).sum(axis=1) / np.linalg.norm(recorded, axis=1)
    assert len(cosines) >= 30
    assert cosines.min() > 0.999
    assert 1 - cosines.mean() < 0.002


def test_int8_rows_cost_little_against_float32() -> None:
    about = json.loads((DATA / "static.json").read_text(encoding="utf-8"))
    assert about["int8_cosine_error"]["mean"] < 0.002


def test_the_fingerprint_is_that_of_the_files(model: StaticModel) -> None:
    content = blake2b(digest_size=8)
    for name in ("pieces", "rows", "scales"):
        content.update((DATA / f"static_{name}.npy").read_bytes())
    assert model.fingerprint == content.hexdigest()


def test_the_files_stay_within_sixteen_megabytes() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 16_000_000


def test_a_word_vector_is_the_sum_of_its_pieces(model: StaticModel) -> None:
    assert len(pieces_of(model, "tokenizability")) > 1
    pieces = np.load(DATA / "static_pieces.npy").tolist()
    rows, scales = np.load(DATA / "static_rows.npy"), np.load(DATA / "static_scales.npy")
    ids = [pieces.index(piece.encode()) for piece in pieces_of(model, "tokenizability")]
    expected = (rows[ids].astype(np.float32) * scales[ids, None]).sum(axis=0)
    np.testing.assert_allclose(model.word_vectors(["tokenizability"])[0], expected, rtol=1e-5, atol=1e-7)


def test_pooled_words_are_the_sum_of_their_vectors(model: StaticModel) -> None:
    words = ["route", "mutexguard", "ꦲꦏ", "route"]
    np.testing.assert_allclose(model.pool(words), model.word_vectors(words).sum(axis=0), rtol=1e-5, atol=1e-6)
    assert not model.pool(["ꦲꦏ"]).any()


def test_an_unknown_word_gives_zeros_and_leaves_its_neighbours_alone(model: StaticModel) -> None:
    vectors = model.word_vectors(["ꦲꦏ", "mutexguard", "", "ꦲꦏ", "route", "a" * 101])
    assert not vectors[[0, 2, 3, 5]].any()
    np.testing.assert_array_equal(vectors[1], model.word_vectors(["mutexguard"])[0])
    np.testing.assert_array_equal(vectors[4], model.word_vectors(["route"])[0])


def test_no_words_give_an_empty_array(model: StaticModel) -> None:
    vectors = model.word_vectors([])
    assert vectors.shape == (0, model.dimensions)
    assert vectors.dtype == np.float32
    assert model.word_vectors(["ꦲꦏ"]).shape == (1, 256)


def test_many_words_at_once_get_the_vectors_they_get_alone() -> None:
    cold_model = StaticModel.load()
    words = list(PIECES)[:100]
    alone = np.concatenate([cold_model.word_vectors([word]) for word in words])
    many = words * (6000 // len(words))  # more than one block holds
    together = cold_model.word_vectors(many)
    np.testing.assert_allclose(together, np.tile(alone, (6000 // len(words), 1)), rtol=1e-5, atol=1e-7)


@given(st.lists(st.text(max_size=20), max_size=8))
def test_any_text_gives_finite_vectors(words: list[str]) -> None:
    model = StaticModel.load()
    vectors = model.word_vectors(words)
    assert vectors.shape == (len(words), 256)
    assert np.isfinite(vectors).all()


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyzé0123456789", min_size=1, max_size=30))
def test_pieces_join_to_the_word_without_accents(word: str) -> None:
    model = StaticModel.load()
    assert "".join(piece.removeprefix("##") for piece in pieces_of(model, word)) == word.replace("é", "e")


def test_an_unpaired_surrogate_is_unknown(model: StaticModel) -> None:
    assert pieces_of(model, "a\udc80") == []
