from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.documents.marked import END, START, passage_of, remove_passage, set_passage
from cairn.errors import ConfigError

BOM = b"\xef\xbb\xbf"
FILES = [
    b"",
    b"\n",
    b"# Mine\n",
    b"# Mine",
    b"# Mine\r\n\r\nText\r\n",
    b"Text\r\nend",
    BOM,
    BOM + b"a",
    b"a\n\n\n",
    b"  ",
]


@pytest.mark.parametrize("before", FILES)
def test_a_passage_is_added_and_removed_byte_for_byte(before: bytes) -> None:
    after = set_passage(before, "Ask Cairn.\nOften.\n", "AGENTS.md")

    assert after.startswith(before)
    assert passage_of(after, "AGENTS.md") == "Ask Cairn.\nOften."
    assert remove_passage(after, "AGENTS.md") == before
    assert set_passage(after, "Ask Cairn.\nOften.", "AGENTS.md") == after


@given(st.text(st.sampled_from("ab #\n\r\t-é\u2028"), max_size=20))
def test_whatever_the_text_a_passage_leaves_no_trace(text: str) -> None:
    after = set_passage(text.encode(), "Ask Cairn.", "AGENTS.md")

    assert remove_passage(after, "AGENTS.md") == text.encode()
    assert remove_passage(set_passage(after, "Ask it twice.", "AGENTS.md"), "AGENTS.md") == text.encode()


def test_a_passage_has_an_empty_line_before_it_and_the_line_ends_of_the_file() -> None:
    assert set_passage(b"# Mine\r\n", "One\nTwo", "x") == (
        b"# Mine\r\n\r\n<!-- cairn:start -->\r\nOne\r\nTwo\r\n<!-- cairn:end -->\r\n"
    )


def test_another_passage_takes_the_place_of_the_first() -> None:
    first = set_passage(b"before\n", "One", "x") + b"\nafter\n"

    second = set_passage(first, "Two", "x")

    assert second == first.replace(b"One", b"Two")
    assert remove_passage(second, "x") == b"before\n\nafter\n"


def test_text_that_others_wrote_around_a_passage_stays() -> None:
    edited = set_passage(b"before\n", "One", "x").replace(b"before", b"changed") + b"after"

    assert remove_passage(edited, "x") == b"changed\n\nafter"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"a\n{START}\nOne\n", f"x:2: `{START}` has no `{END}` below it"),
        (f"a\nb\n{END}\n", f"x:3: `{END}` has no `{START}` above it"),
        (f"{END}\n{START}\n", f"x:2: `{START}` has no `{END}` below it"),
        (f"{START}\n{END}\n{START}\n{END}\n", f"x:3: `{START}` appears twice"),
    ],
)
def test_marks_that_do_not_belong_together_are_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        set_passage(text.encode(), "One", "x")
    assert str(caught.value) == words
    with pytest.raises(ConfigError) as caught:
        remove_passage(text.encode(), "x")
    assert str(caught.value) == words


def test_marks_inside_a_line_are_only_text() -> None:
    assert remove_passage(f"Cairn writes `{START}`.\n".encode(), "x") == f"Cairn writes `{START}`.\n".encode()


def test_a_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(ConfigError, match="x:2: is not valid UTF-8"):
        set_passage(b"a\n\xff", "One", "x")
