"""Verbs of two words, as questions write them and as code does."""

from __future__ import annotations

import pytest

from cairn.search.phrasal_verbs import join_phrasal_verbs
from cairn.search.query import understand
from cairn.source.text import raw_words


@pytest.mark.parametrize(
    ("question", "joined"),
    [
        ("how does a person log in", "how does a person login"),
        ("where are users signed out", "where are users signout"),
        ("what happens when a request times out", "what happens when a request timeout"),
        ("Rolling back migrations", "rollback migrations"),
        ("how is the server shut down", "how is the server shutdown"),
    ],
)
def test_a_verb_of_two_words_becomes_the_one_that_code_has(question: str, joined: str) -> None:
    assert join_phrasal_verbs(question.split()).words == joined.split()


@pytest.mark.parametrize("question", ["logs of an upload", "sets in redis", "time in tests", "in memory", "up", ""])
def test_other_words_stay_as_they_are(question: str) -> None:
    assert join_phrasal_verbs(question.split()) == (question.split(), [])


def test_a_question_looks_for_both_the_name_and_the_verb() -> None:
    terms = {term.text: term.weight for term in understand("where do people log in").terms}
    assert terms["login"] > terms["log"] > 0
    assert "in" not in terms


@pytest.mark.parametrize("name", ["log_in", "logIn", "set_up", "tearDown"])
def test_names_are_not_touched(name: str) -> None:
    assert join_phrasal_verbs(raw_words(name)) == ([name], [])
