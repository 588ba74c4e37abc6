"""Any tool's results are scored by the same rules, question by question."""

from __future__ import annotations

import pytest

from cairn.errors import RequestError
from cairn.optimize.evaluate import (
    FoundPlace,
    GivenQuestion,
    compare_scores,
    parse_questions,
    parse_results,
    score_all,
    summarize,
)

TEXT = '{"query": "login", "files": ["src/a.py"], "symbols": ["Session.login"]}\n\n{"query": "x", "symbols": ["f"]}\n'


def test_questions_have_files_or_symbols() -> None:
    assert parse_questions(TEXT) == [
        GivenQuestion("login", ("src/a.py",), ("Session.login",)),
        GivenQuestion("x", (), ("f",)),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"query": "a"}', '{"query": "", "files": ["a"]}', '{"query": "a", "files": "a"}', "[" * 9999],
)
def test_what_is_no_question_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(RequestError):
        parse_questions(text)


def test_a_line_ends_where_json_lines_end_and_not_within_a_text() -> None:
    questions = parse_questions('{"query": "a\u2028b", "files": ["c\u0085d"]}\r\n')
    assert questions == [GivenQuestion("a\u2028b", ("c\u0085d",))]
    assert list(parse_results('{"query": "a\u2028b", "paths": []}\n')) == ["a\u2028b"]


def test_results_of_a_tool_are_read_by_query() -> None:
    assert parse_results('{"query": "a", "paths": ["./src\\\\x.py"]}') == {"a": [FoundPlace("src/x.py")]}
    with pytest.raises(RequestError):
        parse_results('{"query": "a"}')


def test_files_symbols_and_their_intervals_are_scored() -> None:
    found = {"login": [FoundPlace("./src/b.py"), FoundPlace("src/a.py", "login")], "x": [FoundPlace("src/a.py", "g")]}
    scores = score_all(parse_questions(TEXT), found.__getitem__)
    assert (scores[0].file_match, scores[0].function_match, scores[1].ndcg, scores[1].function_match) == (1, 1, None, 0)
    summary = summarize(scores)
    assert summary["ndcg"].questions == 1
    assert summary["function_match"].mean == 0.5


def test_two_scores_are_compared_on_their_common_questions() -> None:
    before = [{"query": "a", "ndcg": 0.5}, {"query": "b", "ndcg": 0.0}]
    after = [{"query": "a", "ndcg": 1.0}, {"query": "c", "ndcg": 1.0}]
    one, other, difference = compare_scores(before, after)["ndcg"]
    assert (one, other, difference.mean, difference.questions) == (0.5, 1.0, 0.5, 1)
    with pytest.raises(RequestError):
        compare_scores(before, [])
    with pytest.raises(RequestError):
        compare_scores([{}], after)
    with pytest.raises(RequestError):
        compare_scores([{"query": "a", "ndcg": 10**400}], after)
