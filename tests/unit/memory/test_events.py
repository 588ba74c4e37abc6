from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.errors import EventError
from cairn.memory.events import Event, parse_event
from memory_histories import CREATED

ID = "01990000-0000-7000-8000-00000000000a"
BODY: dict[str, Any] = {
    "actor": "person:ada", "authority": "person", "kind": "created", "observation": ID, "project": "p",
    "time": "2026-01-31T12:00:00.000Z-0000", "value": CREATED,
}  # fmt: skip


def canonical(**changes: object) -> str:
    return json.dumps(BODY | changes, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_an_event_is_read_back_as_it_was_written() -> None:
    event = parse_event(canonical())
    assert event.body == canonical()
    assert parse_event(event.body) == event
    assert len(event.id) == 64
    assert event.id != parse_event(canonical(actor="person:bob")).id


@pytest.mark.parametrize(
    "changes",
    [
        {"observation": "1"},
        {"observation": None},
        {"project": 7},
        {"time": "yesterday"},
        {"time": 0},
        {"actor": "ada"},
        {"actor": "person:a\nb"},
        {"authority": "god"},
        {"authority": ["person"]},
        {"kind": "dropped"},
        {"kind": ["created"]},
        {"value": []},
        {"value": {}},
        {"value": CREATED | {"importance": True}},
        {"value": CREATED | {"importance": 11}},
        {"value": CREATED | {"text": ""}},
        {"value": CREATED | {"text": "x" * 10_001}},
        {"value": CREATED | {"tags": "a"}},
        {"value": CREATED | {"tags": ["\x1b[2J"]}},
        {"value": CREATED | {"type": "secret"}},
        {"value": CREATED | {"type": ["gotcha"]}},
        {"value": CREATED | {"more": 1}},
        {"kind": "link", "value": {"path": "/etc/passwd", "symbol": "", "hash": ""}},
        {"kind": "link", "value": {"path": "../x", "symbol": "", "hash": ""}},
        {"kind": "status", "value": {"status": "superseded"}},
        {"kind": "status", "value": {"status": "active", "superseded_by": ID}},
        {"kind": "redact", "value": {"reason": "the codeword was swordfish"}},
        {"more": 1},
    ],
)
def test_an_event_that_is_not_as_it_should_be_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(EventError):
        parse_event(canonical(**changes))


@pytest.mark.parametrize("body", ["", "[]", "{}", "null", "[" * 50_000, json.dumps(BODY), canonical() + " "])
def test_what_is_no_event_in_the_canonical_form_is_refused(body: str) -> None:
    with pytest.raises(EventError):
        parse_event(body)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(EventError):
        parse_event(canonical(value=CREATED | {"text": "a \ud800 b"}))


@given(st.text(max_size=200))
def test_any_text_is_an_event_or_an_error(text: str) -> None:
    with pytest.raises(EventError):
        parse_event(text)


def test_an_event_of_a_program_is_the_same_as_one_that_was_read() -> None:
    event = Event(ID, "p", "2026-01-31T12:00:00.000Z-0000", "person:ada", "person", "created", CREATED)
    assert parse_event(event.body).id == event.id
