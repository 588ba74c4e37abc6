from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.embedding.static import StaticModel
from cairn.index.analysis import Analyzer, Postings, quantize
from cairn.index.words import FIELDS, Words
from cairn.source.terms import term_hash, terms_of
from cairn.source.text import raw_words, split_identifier

Row = tuple[str, str, str, str]


@pytest.fixture(scope="module")
def model() -> StaticModel:
    """The bundled model."""
    return StaticModel.load()


def row(name: str = "", signature: str = "", doc: str = "", body: str = "") -> Row:
    return (name, signature, doc, body)


def analyze(model: StaticModel, texts: Sequence[Row]) -> tuple[Postings, npt.NDArray[np.int8]]:
    return Analyzer(model.word_vectors, model.dimensions).analyze([Words.of(texts)])


def postings_of(postings: Postings, number: int) -> dict[int, tuple[int, int]]:
    """Return {term hash: (impact, fields)} of one row."""
    terms = np.repeat(postings.hashes, np.diff(postings.start))
    mine = postings.rows == number
    values = zip(postings.impacts[mine].tolist(), postings.fields[mine].tolist(), strict=True)
    return dict(zip(terms[mine].tolist(), values, strict=True))


def impact(postings: Postings, number: int, term: str) -> int:
    return postings_of(postings, number).get(term_hash(term), (0, 0))[0]


@pytest.mark.parametrize("place", range(len(FIELDS)), ids=FIELDS)
def test_a_posting_says_in_which_field_its_term_stands(model: StaticModel, place: int) -> None:
    texts = tuple("word" if number == place else "other" for number in range(len(FIELDS)))
    postings, _ = analyze(model, [texts])  # type: ignore[list-item] # as many texts as fields
    assert postings_of(postings, 0)[term_hash("word")][1] == 1 << place


def test_a_term_in_a_name_counts_more_than_one_in_a_body(model: StaticModel) -> None:
    postings, _ = analyze(model, [row(name="parse other"), row(body="parse other")])
    assert impact(postings, 0, "pars") > impact(postings, 1, "pars") > 0


def test_a_term_that_stands_more_often_counts_more_with_diminishing_returns(model: StaticModel) -> None:
    postings, _ = analyze(model, [row(body="fill " * 50 + "word " * count) for count in (1, 2, 4, 8)])
    impacts = [impact(postings, number, "word") for number in range(4)]
    assert impacts == sorted(set(impacts))
    assert impacts[1] - impacts[0] > (impacts[3] - impacts[2]) / 4


def test_a_term_in_a_short_body_counts_more_than_one_in_a_long_body(model: StaticModel) -> None:
    postings, _ = analyze(model, [row(body="word " + "fill " * 10), row(body="word " + "fill " * 500)])
    assert impact(postings, 0, "word") > impact(postings, 1, "word")


@pytest.mark.parametrize("style", ["getUserName", "get_user_name", "GET_USER_NAME", "GetUserName"])
def test_every_style_of_an_identifier_meets_its_words_and_its_whole(model: StaticModel, style: str) -> None:
    postings, vectors = analyze(model, [row(body=style), row(body="getUserName")])
    assert postings_of(postings, 0) == postings_of(postings, 1)
    assert set(postings_of(postings, 0)) == {term_hash(term) for term in ("get", "user", "name", "getusername")}
    np.testing.assert_array_equal(vectors[0], vectors[1])


def test_vectors_have_unit_length_times_127(model: StaticModel) -> None:
    _, vectors = analyze(model, [row(body="open the file"), row(name="x"), row(doc="route a request to its handler")])
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    assert np.abs(lengths / 127 - 1).max() < 0.02


def test_a_text_without_words_has_no_postings_and_a_zero_vector(model: StaticModel) -> None:
    postings, vectors = analyze(model, [row(body="()[]{} +-*/"), row()])
    assert len(postings.rows) == 0
    assert not vectors.any()


def test_no_texts_at_all_give_empty_arrays(model: StaticModel) -> None:
    postings, vectors = analyze(model, [])
    assert len(postings.hashes) == 0
    assert postings.start.tolist() == [0]
    assert vectors.shape == (0, model.dimensions)


def test_very_long_runs_of_letters_are_data_and_no_words(model: StaticModel) -> None:
    postings, _ = analyze(model, [row(body="A" * 500 + " word")])
    assert set(postings_of(postings, 0)) == {term_hash("word")}


def test_quantizing_keeps_zero_rows() -> None:
    assert quantize(np.zeros((2, 4), dtype=np.float32)).tolist() == [[0] * 4] * 2


WORDS = ("getUserName", "user", "users", "HTTP_server", "parse", "x", "файл", "42", "é", "the", "parse_v2")
ROWS = st.tuples(*(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) for _ in FIELDS))


def test_what_a_chunk_yields_does_not_depend_on_how_many_words_are_remembered(model: StaticModel) -> None:
    texts = [row(name=f"get_user{number}", body=f"return parse{number}(user) + name") for number in range(40)]
    forgetful = Analyzer(model.word_vectors, model.dimensions, share=0.0)
    for first in range(0, len(texts), 10):
        part = Words.of(texts[first : first + 10])
        postings, vectors = forgetful.analyze([part])
        wanted, wanted_vectors = analyze(model, texts[first : first + 10])
        np.testing.assert_array_equal(vectors, wanted_vectors)
        for name in Postings._fields:
            np.testing.assert_array_equal(getattr(postings, name), getattr(wanted, name), err_msg=name)


@given(st.lists(ROWS, min_size=1, max_size=120), st.data())
@settings(max_examples=40)
def test_what_a_chunk_yields_does_not_depend_on_its_batch(
    model: StaticModel, texts: list[Row], data: st.DataObject
) -> None:
    """Neither on its neighbours, nor on what the same analyzer saw before."""
    shared = Analyzer(model.word_vectors, model.dimensions)
    shared.analyze([Words.of([row(body=data.draw(st.lists(st.sampled_from(WORDS)).map(" ".join)))])])
    together, vectors = shared.analyze([Words.of(texts)])
    number = data.draw(st.integers(0, len(texts) - 1))
    alone, vector = analyze(model, [texts[number]])
    assert postings_of(together, number) == postings_of(alone, 0)
    np.testing.assert_array_equal(vectors[number], vector[0])


@given(st.lists(ROWS, max_size=20))
@settings(max_examples=40)
def test_postings_hold_every_term_of_every_row_in_order(model: StaticModel, texts: list[Row]) -> None:
    postings, _ = analyze(model, texts)
    assert (np.diff(postings.hashes) > 0).all()
    for first, last in zip(postings.start[:-1], postings.start[1:], strict=True):
        assert (np.diff(postings.rows[first:last]) > 0).all()
    for number, text in enumerate(texts):
        raws = [raw for part in text for raw in raw_words(part)]
        wanted = {term_hash(term) for raw in raws for term in terms_of(raw, split_identifier(raw))}
        assert set(postings_of(postings, number)) == wanted


@pytest.mark.parametrize(
    "raw", ["ΟΔΟΣ_one", "ΣΔΣaB", "straßeÉcole", "İstanbul_v2", "x" * 65 + "_y", "__init__", "_", "A"]
)
def test_an_identifier_among_others_has_the_terms_it_has_alone(model: StaticModel, raw: str) -> None:
    postings, _ = analyze(model, [row(body=f"getUserName {raw} other_name")])
    alone, _ = analyze(model, [row(body=raw)])
    words = split_identifier(raw) if len(raw) <= 64 else ()
    wanted = {term_hash(term) for term in terms_of(raw, words)}
    assert set(postings_of(alone, 0)) == wanted
    assert wanted <= set(postings_of(postings, 0))
