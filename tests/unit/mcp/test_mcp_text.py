from __future__ import annotations

from typing import Any

import pytest

from cairn.hints import Hint
from cairn.mcp.graph_text import graph_text
from cairn.mcp.text import MAX_BYTES, MAX_CHARS, Page, search_text
from cairn.operations.search import merge_searches
from cairn.protocol.documents import SearchDocument
from cairn.protocol.requests import SearchRequest


def answered(*notes: str) -> SearchDocument:
    """An answer without hits."""
    return {
        "query": "tax", "mode": "hybrid", "view": "", "branch": "", "generation": 1, "code": [], "memory": [],
        "total_tokens_available": 0, "omitted": 0, "coverage": {"indexed": 1, "eligible": 1, "pending": 0},
        "took_ms": 1.0, "notes": list(notes),
    }  # fmt: skip


def hit(name: str, *, score: float, relevance: float) -> dict[str, object]:
    place = {"id": f"c_{name}", "kind": "function", "name": name, "filepath": "a.py", "start_line": 1, "end_line": 2}
    return {**place, "score": score, "explain": {}, "relevance": relevance}


def test_hits_of_several_projects_come_by_the_score_of_the_one_ranker_that_found_them() -> None:
    one = answered() | {"mode": "hybrid", "code": [hit("low", score=1.0, relevance=0.9)]}
    other = answered() | {"mode": "hybrid", "code": [hit("high", score=2.0, relevance=0.1)]}
    found: list[Any] = [("one", one), ("other", other)]
    merged = merge_searches(found, SearchRequest(query="tax"))
    assert [row["name"] for row in merged["code"]] == ["high", "low"]
    assert not {"score", "explain"} & merged["code"][0].keys()
    other["mode"] = "symbol"
    assert [row["name"] for row in merge_searches(found, SearchRequest(query="tax"))["code"]] == ["low", "high"]


def test_the_notes_of_each_of_many_projects_come_through() -> None:
    found = [(f"p{number}", answered(f"a note of project {number}. " * 5)) for number in range(20)]
    text = search_text(merge_searches(found, SearchRequest(query="tax")))
    assert all(f"p{number}: a note of project {number}." in text for number in range(20))
    assert "without room" not in text


def test_a_note_that_several_projects_share_is_told_once() -> None:
    found = [(f"p{number}", answered("ask again")) for number in range(8)]
    assert merge_searches(found, SearchRequest(query="tax"))["notes"] == ["p0, p1, p2, p3, p4 and 3 more: ask again"]
    assert merge_searches(found[:1], SearchRequest(query="tax"))["notes"] == ["p0: ask again"]


def test_a_note_of_several_projects_still_names_the_next_step_as_data() -> None:
    found = [(name, answered(Hint("It is old; update it", "index"))) for name in ("a", "b")]
    (note,) = merge_searches(found, SearchRequest(query="tax"))["notes"]
    assert isinstance(note, Hint)
    assert (note, note.action) == ("a, b: It is old; update it: cairn index", "index")


@pytest.mark.parametrize("letter", ["x", "é", "木", "🦀"])
def test_notes_without_room_are_counted_and_the_text_keeps_to_the_limits(letter: str) -> None:
    page = Page()
    for _ in range(1_000):
        page.add(letter * 50)
    assert page.n_left_out
    text = page.close([f"{number} {letter * 100}" for number in range(50)])
    assert len(text) <= MAX_CHARS
    assert len(text.encode()) <= MAX_BYTES
    *lines, last = text.split("\n")
    shown = sum(line[0].isdigit() for line in lines)
    assert shown > 1
    assert last == f"{50 - shown} more notes without room."


def test_one_note_that_is_too_long_is_cut_and_nothing_is_counted() -> None:
    page = Page()
    page.add("x" * 9_200)
    text = page.close(["y" * 2_000])
    assert text.endswith("yyy…")
    assert len(text) <= MAX_CHARS


def symbol(path: str, line: int, name: str, kind: str = "function") -> dict[str, Any]:
    return {"filepath": path, "line": line, "end_line": line, "kind": kind, "name": name, "stale": False, "origin": ""}


def impact(changed: list[dict[str, Any]], n_importers: int) -> dict[str, Any]:
    parts: dict[str, Any] = {key: [] for key in ("affected", "deleted", "tests", "notes")}
    return {**parts, "changed": changed, "importers": [f"u{number}.py" for number in range(n_importers)]}


def test_what_changed_in_a_file_is_one_line() -> None:
    inside = [symbol("a.py", 2 * number + 1, f"f{number}") for number in range(12)]
    changed = [*inside[:1], symbol("a.py", 1, "", "file"), *inside[1:], symbol("b.py", 4, "g")]
    lines = graph_text("tests", impact(changed, 0)).splitlines()
    names = ", ".join(f"{2 * number + 1} f{number}" for number in range(10))
    assert lines[:2] == [f"changed  a.py:1  file, and in it: {names}, 2 more", "changed  b.py:4  function g"]


@pytest.mark.parametrize("relation", ["impact", "tests"])
def test_an_answer_of_which_nothing_fits_into_its_limits_is_not_said_to_be_empty(relation: str) -> None:
    assert graph_text(relation, impact([], 0) | {"omitted": 256}) == "256 more: raise `limit`."
    assert graph_text(relation, impact([], 0)).startswith("No definition changed since then.")


def test_of_the_files_that_import_that_of_a_changed_definition_a_few_are_shown() -> None:
    lines = graph_text("impact", impact([symbol("a.py", 4, "g")], 12)).splitlines()
    assert lines[1:11] == [f"importer  u{number}.py:1" for number in range(10)]
    assert lines[11] == (
        "importer  2 more, of which no use is known; list them: `graph` with relation=importers, symbol='a.py'"
    )
    whole = graph_text("impact", impact([symbol("a.py", 1, "", "file")], 12)).splitlines()
    assert len([line for line in whole if line.startswith("importer")]) == 12


def test_an_answer_that_its_budget_cut_says_to_raise_the_budget() -> None:
    document: Any = answered() | {"mode": "hybrid", "code": [hit("one", score=1.0, relevance=0.9)], "omitted": 3}
    merged = merge_searches([("one", document)], SearchRequest(query="tax"))
    assert "3 more hits: raise `max_tokens`, or narrow" in search_text(merged, limit=10)
    assert "3 more hits: raise `limit`, or narrow" in search_text(merged, limit=1)
