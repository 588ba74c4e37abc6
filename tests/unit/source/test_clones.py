from __future__ import annotations

import pytest

from cairn.source.clones import Tokenizer, compare_tokens
from cairn.source.languages import BY_NAME

PYTHON = Tokenizer(BY_NAME["python"])
TOTAL = '''def total(orders, rate):
    """Add up."""
    amount = 0
    for order in orders:
        amount += order.price * 1.5
    return amount * rate
'''


def test_white_space_and_comments_make_no_difference() -> None:
    other = TOTAL.replace("    amount = 0", "    # begin\n\n    amount  =  0  # none yet").replace("    ", "  ")
    assert compare_tokens(PYTHON(TOTAL), PYTHON(other)).same


def test_other_names_and_literals_make_a_renamed_copy() -> None:
    other = TOTAL.replace("amount", "s").replace("order", "item").replace("1.5", "2").replace("Add up.", "Sum.")
    likeness = compare_tokens(PYTHON(TOTAL), PYTHON(other))
    assert (likeness.same, likeness.renamed, likeness.grams) == (False, True, 1.0)
    assert likeness.words < 1


@pytest.mark.parametrize(
    "other", [TOTAL.replace("amount += order", "order += order"), TOTAL.replace("return amount", "return orders")]
)
def test_a_name_that_stands_for_two_makes_no_renamed_copy(other: str) -> None:
    likeness = compare_tokens(PYTHON(TOTAL), PYTHON(other))
    assert not likeness.renamed
    assert likeness.grams == 1.0


def test_keywords_and_marks_are_not_names() -> None:
    assert not compare_tokens(PYTHON("if a:\n    b()"), PYTHON("while a:\n    b()")).renamed
    assert not compare_tokens(PYTHON("a + b"), PYTHON("a - b")).renamed


def test_an_added_line_leaves_most_of_the_runs() -> None:
    likeness = compare_tokens(PYTHON(TOTAL), PYTHON(TOTAL.replace("    return", "    log(amount)\n    return")))
    assert 0.7 < likeness.grams < 1
    assert not likeness.renamed


def test_a_comment_mark_in_a_text_begins_no_comment() -> None:
    assert PYTHON("a = '# no' + b").written == ("a", "=", "'# no'", "+", "b")
    tokens = Tokenizer(BY_NAME["typescript"])("a = `//${x}`; /* one\n two */ b // c")
    assert tokens.written == ("a", "=", "`//${x}`", ";", "b")


def test_what_has_no_grammar_is_compared_as_it_is_written() -> None:
    plain = Tokenizer(BY_NAME["text"])
    assert not compare_tokens(plain("one two three"), plain("four five six")).renamed
    assert compare_tokens(plain("one  two"), plain("one two")).same


@pytest.mark.parametrize("text", ["", "   \n", "# only a comment\n", '"never closed', "/*", "\0\ufffd"])
def test_any_text_can_be_compared(text: str) -> None:
    likeness = compare_tokens(PYTHON(text), PYTHON(TOTAL))
    assert not likeness.same
    assert 0 <= likeness.grams <= 1
