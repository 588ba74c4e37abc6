from __future__ import annotations

from typing import Any

import pytest

from cairn.protocol.answer_types import answer_type
from cairn.protocol.table import OPERATIONS
from cairn.remote.conforming import clean, conform

HIT = {"id": "c_1", "kind": "function", "name": "total", "filepath": "a/b.py", "start_line": 1, "end_line": 2}
SEARCH: dict[str, Any] = {
    "query": "q", "mode": "hybrid", "view": "acme/shop", "branch": "main", "generation": 1, "code": [HIT],
    "memory": [], "total_tokens_available": 3, "omitted": 0,
    "coverage": {"indexed": 1, "eligible": 1, "pending": 0}, "took_ms": 1,
}  # fmt: skip


def test_an_answer_of_the_protocol_passes() -> None:
    assert conform(answer_type("search"), SEARCH) == SEARCH


def test_a_newer_server_may_say_more_and_an_older_one_less() -> None:
    assert conform(answer_type("search"), {**SEARCH, "news": 1, "code": [{**HIT, "news": 1}]}) == SEARCH
    symbol = {"filepath": "a.py", "line": 1, "end_line": 2, "kind": "function", "name": "f"}
    links = conform(answer_type("graph/callers"), {"symbol": symbol, "links": []})
    assert links["symbol"] == {**symbol, "stale": False, "origin": ""}
    assert (links["notes"], links["omitted"], links["unresolved"]) == ([], 0, None)
    assert "unfollowed" not in conform(
        answer_type("graph/impact"), {"changed": [], "affected": [], "importers": [], "tests": []}
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("code", None),
        ("code", [1]),
        ("code", [{**HIT, "start_line": "1"}]),
        ("code", [{**HIT, "start_line": True}]),
        ("code", [{**HIT, "start_line": 2**60}]),
        ("code", [{**HIT, "filepath": "/etc/passwd"}]),
        ("code", [{**HIT, "filepath": "../x"}]),
        ("code", [{**HIT, "filepath": "a/../../x"}]),
        ("code", [{**HIT, "confidence": "certain"}]),
        ("took_ms", float("nan")),
        ("took_ms", float("inf")),
        ("query", 7),
        ("coverage", {}),
        ("notes", ["x", 1]),
    ],
)
def test_anything_else_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        conform(answer_type("search"), {**SEARCH, name: value})


def test_a_missing_field_is_refused() -> None:
    with pytest.raises(ValueError, match="omitted is missing"):
        conform(answer_type("search"), {name: value for name, value in SEARCH.items() if name != "omitted"})


@pytest.mark.parametrize("value", [None, 1, "x", [], True, [[]]])
def test_an_answer_of_another_shape_is_refused_for_every_operation(value: object) -> None:
    for operation in OPERATIONS:
        if operation in ("fetch", "core/suggest") and value == []:
            continue
        with pytest.raises(ValueError, match=r"\w"):
            conform(answer_type(operation), value)


def test_no_text_controls_a_terminal_and_code_keeps_its_lines() -> None:
    hit = {**HIT, "id": "c\x1b[2J", "preview": "a\tb\r\nc\x07\x9b"}
    (shown,) = conform(answer_type("search"), {**SEARCH, "code": [hit]})["code"]
    assert (shown["id"], shown["preview"]) == ("c\\x1b[2J", "a\tb\r\nc\\x07\\x9b")
    assert clean("größer 漢字") == "größer 漢字"


@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("nan")])
def test_a_number_that_no_program_can_read_is_none(value: float) -> None:
    with pytest.raises(ValueError, match="where"):
        conform(float, value)
