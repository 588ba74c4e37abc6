from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.embedding.static import bundled_model
from cairn.source.terms import term_hash, terms_of
from cairn.source.text import (
    count_tokens,
    count_tokens_of_samples,
    cut_at_word,
    estimate_tokens,
    names_apart,
    on_one_line,
    places_of_word,
    pluralize,
    raw_words,
    split_identifier,
)


def terms(raw: str) -> tuple[str, ...]:
    return terms_of(raw, split_identifier(raw))


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("getUserName", ("get", "user", "name")),
        ("get_user_name", ("get", "user", "name")),
        ("GET_USER_NAME", ("get", "user", "name")),
        ("parseHTTPResponse_v2", ("parse", "http", "response", "v", "2")),
        ("HTTPServer", ("http", "server")),
        ("sha256sum", ("sha", "256", "sum")),
        ("__init__", ("init",)),
        ("XMLHttpRequest", ("xml", "http", "request")),
        ("éCole", ("é", "cole")),
        ("имяФайла", ("имяфайла",)),
        ("变量", ("变量",)),
        ("_", ()),
    ],
)
def test_identifiers_split_at_case_digits_and_underscores(identifier: str, words: tuple[str, ...]) -> None:
    assert split_identifier(identifier) == words


def test_an_identifier_is_a_term_in_whole_and_in_parts() -> None:
    assert terms("getUserName") == ("get", "user", "name", "getusername")


def test_all_styles_of_one_identifier_give_the_same_terms() -> None:
    assert terms("getUserName") == terms("get_user_name") == terms("GET_USER_NAME")


def test_inflected_words_meet_in_their_stem() -> None:
    assert terms("registered") == terms("register") == terms("registers")


def test_words_are_runs_of_letters_digits_and_underscores_in_order() -> None:
    assert raw_words("self.fooBar(x_1, 'ünï')") == ["self", "fooBar", "x_1", "ünï"]


def test_a_token_estimate_is_a_quarter_of_the_bytes_and_never_zero() -> None:
    assert [estimate_tokens(size) for size in (0, 3, 4, 400)] == [1, 1, 1, 100]


@given(st.text(max_size=80))
def test_any_text_gives_terms_with_hashes_of_64_bits(text: str) -> None:
    for raw in raw_words(text):
        for term in terms(raw):
            assert 0 <= term_hash(term) < 1 << 64


# The lower case of a capital sigma depends on what stands beside it.
LETTERS_AND_DIGITS = st.characters(categories=("L", "N"), include_characters="_", exclude_characters="Σ")


@given(st.text(LETTERS_AND_DIGITS, max_size=30))
def test_splitting_drops_nothing_but_underscores(identifier: str) -> None:
    assert "".join(split_identifier(identifier)) == identifier.replace("_", "").lower()


def test_dense_text_is_counted_by_its_pieces() -> None:
    assert count_tokens("") == 0
    assert count_tokens("12-20 load(path)") == 6  # 12, -, 20, load, (path and )
    assert count_tokens("a" * 17) == 3


def test_a_long_text_ends_after_a_word() -> None:
    head = "def load(path, encoding)"
    assert cut_at_word(head, len(head)) == head
    assert [cut_at_word(head, size) for size in (23, 16, 15, 9)] == [
        "def load(path,…",
        "def load(path,…",
        "def load(path,…",
        "def load…",
    ]
    assert cut_at_word("a" * 50, 10) == "a" * 9 + "…"


def test_a_count_of_one_takes_the_word_for_one() -> None:
    assert [pluralize(number, "file") for number in (0, 1, 2, 1_200)] == ["0 files", "1 file", "2 files", "1,200 files"]
    assert [pluralize(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]


@pytest.mark.parametrize("n_lines", [0, 10, 500, 600, 5_000])
def test_samples_of_a_long_text_say_about_how_many_tokens_it_has(n_lines: int) -> None:
    text = "".join(
        f"def step_{line}(value, scale={line % 7}.5):\n    return value * {line}\n" for line in range(n_lines)
    )
    assert count_tokens_of_samples(text) == pytest.approx(count_tokens(text), rel=0.05)


@pytest.mark.parametrize("other", ["", "é"], ids=["ascii", "unicode"])
def test_words_are_separated_by_every_character_that_stands_in_none(other: str) -> None:
    for character in map(chr, range(128)):
        text = f"one{character}two {other}"
        wanted = [f"one{character}two"] if character.isalnum() or character == "_" else ["one", "two"]
        assert raw_words(text) == [*wanted, *([other] if other else [])]


def begins_as_a_term(name: str) -> bool:
    return name[:1].lower()[:1] in {term[:1] for raw in raw_words(name) for term in terms(raw)}


@given(st.from_regex(r"\A[^\W_].*\Z"))
def test_a_term_of_a_name_begins_as_the_name_does(name: str) -> None:
    assert begins_as_a_term(name)


def test_a_stem_begins_as_its_word_does() -> None:
    words = [piece.decode() for piece in bundled_model().pieces.table.tolist()]
    assert [word for word in words if word.isalnum() and not begins_as_a_term(word)] == []


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("调用generate_etag时报错", "调用 generate_etag 时报错"),
        ("utf8の文字とbase64を", "utf8 の文字と base64 を"),
        ("第3章", "第3章"),
        ("имяFile und naïveCase", "имяFile und naïveCase"),
        ("plain_name of ASCII", "plain_name of ASCII"),
    ],
)
def test_a_name_is_set_apart_from_letters_of_scripts_without_spaces(text: str, apart: str) -> None:
    assert names_apart(text) == apart


def test_the_name_of_a_file_takes_one_line() -> None:
    assert on_one_line("a\nb\x1b[2J.py") == r"a\x0ab\x1b[2J.py"
    assert on_one_line("größe ✓.py") == "größe ✓.py"


def test_a_word_stands_where_it_is_no_part_of_a_longer_one() -> None:
    assert list(places_of_word(b"Error, IOError(Error) Errors Error_1 \xc3\xa9Error", b"Error")) == [0, 15, 39]
    assert list(places_of_word(b"", b"Error")) == []
