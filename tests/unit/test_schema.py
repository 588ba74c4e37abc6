from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.errors import RequestError
from cairn.fields import Rule
from cairn.protocol.answer_types import answer_type
from cairn.protocol.table import OPERATIONS
from cairn.schema import decode, encode, json_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What somebody orders."""

    dish: Annotated[str, Rule("its name", min_length=1, max_length=10, pattern="[a-z ]+")]
    count: Annotated[int, Rule(least=1, most=9)] = 1
    size: Literal["small", "large"] = "small"
    extras: Annotated[tuple[Annotated[str, Rule(min_length=1)], ...], Rule(max_length=2)] = ()
    table: Annotated[int | None, Rule(least=0)] = None
    tip: float = 0.0
    here: bool = True


class Point(NamedTuple):
    """A place."""

    path: str
    line: int = 1


class Meal(TypedDict):
    """What is served."""

    course: str
    wine: NotRequired[str]
    places: list[Point]
    prices: dict[str, float]
    more: list[Any]


def test_a_request_is_read_with_its_defaults() -> None:
    assert decode(Order, {"dish": "soup"}) == Order(dish="soup")


def test_every_field_is_read() -> None:
    asked = {"dish": "soup", "count": 2, "size": "large", "extras": ["salt"], "table": 3, "tip": 1, "here": False}
    order = decode(Order, asked)
    assert order == Order(dish="soup", count=2, size="large", extras=("salt",), table=3, tip=1.0, here=False)
    assert isinstance(order.tip, float)


def test_a_whole_number_may_be_written_with_a_point() -> None:
    count = decode(Order, {"dish": "soup", "count": 2.0}).count
    assert count == 2
    assert isinstance(count, int)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "must be a JSON object"),
        ({}, "'dish' is missing"),
        ({"dish": "soup", "salt": 1}, "unknown field 'salt'"),
        ({"dish": 1}, "'dish' must be a string"),
        ({"dish": ""}, "'dish' must not be empty"),
        ({"dish": "x" * 11}, "length of at most 10"),
        ({"dish": "SOUP"}, "must match"),
        ({"dish": "soup", "count": 0}, "at least 1"),
        ({"dish": "soup", "count": 10}, "at most 9"),
        ({"dish": "soup", "count": True}, "a whole number"),
        ({"dish": "soup", "count": 1.5}, "a whole number"),
        ({"dish": "soup", "count": float("inf")}, "a whole number"),
        ({"dish": "soup", "count": None}, "a whole number"),
        ({"dish": "soup", "size": "huge"}, "one of: small, large"),
        ({"dish": "soup", "extras": "salt"}, "must be a list"),
        ({"dish": "soup", "extras": ["a", ""]}, r"'extras\[1\]' must not be empty"),
        ({"dish": "soup", "extras": ["a", "b", "c"]}, "length of at most 2"),
        ({"dish": "soup", "table": -1}, "at least 0"),
        ({"dish": "soup", "here": 1}, "true or false"),
        ({"dish": "soup", "tip": "much"}, "a number"),
        ({"dish": "so\ud800up"}, "half a character"),
    ],
)
def test_what_is_wrong_with_a_request_is_told(document: object, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        decode(Order, document)


def test_an_unknown_field_is_answered_with_the_one_that_was_probably_meant() -> None:
    with pytest.raises(RequestError) as caught:
        decode(Order, {"dish": "soup", "cuont": 2})
    assert caught.value.hint.startswith("did you mean 'count'? known fields: count, dish, ")
    with pytest.raises(RequestError) as caught:
        decode(Order, {"dish": "soup", "x" * 100_000: 2})
    assert caught.value.hint.startswith("known fields: ")
    assert len(str(caught.value)) < 200


def test_a_request_is_written_without_its_defaults_and_read_again() -> None:
    order = Order(dish="soup", extras=("salt",), table=0)
    assert encode(order) == {"dish": "soup", "extras": ("salt",), "table": 0}
    assert decode(Order, encode(order)) == order


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_nothing_but_a_request_error_comes_of_any_document(document: object) -> None:
    with suppress(RequestError):
        decode(Order, {"dish": "soup", "extras": document} if isinstance(document, list) else document)


def test_the_schema_of_a_request_has_its_rules() -> None:
    schema = json_schema(Order)
    assert schema["required"] == ["dish"]
    assert schema["additionalProperties"] is False
    assert schema["description"] == "What somebody orders."
    assert schema["properties"]["dish"] == {
        "type": "string", "minLength": 1, "maxLength": 10, "pattern": "^(?:[a-z ]+)$", "description": "its name",
    }  # fmt: skip
    assert schema["properties"]["count"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 1}
    assert schema["properties"]["size"] == {"type": "string", "enum": ["small", "large"], "default": "small"}
    assert schema["properties"]["extras"] == {
        "type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 2, "default": [],
    }  # fmt: skip
    assert schema["properties"]["table"] == {
        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}],
        "default": None,
    }


def test_the_schema_of_an_answer_refers_to_named_types() -> None:
    definitions: dict[str, Any] = {}
    assert json_schema(Meal, definitions) == {"$ref": "#/components/schemas/Meal"}
    assert definitions["Meal"]["required"] == ["course", "places", "prices", "more"]
    assert definitions["Meal"]["properties"]["places"] == {
        "type": "array", "items": {"$ref": "#/components/schemas/Point"},
    }  # fmt: skip
    assert definitions["Meal"]["properties"]["prices"] == {"type": "object", "additionalProperties": {"type": "number"}}
    assert definitions["Meal"]["properties"]["more"] == {"type": "array", "items": {}}
    assert list(definitions["Point"]["properties"]) == ["filepath", "line"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_can_be_described_without_references(name: str) -> None:
    assert "$ref" not in str(json_schema(OPERATIONS[name].request))
    assert "$ref" not in str(json_schema(answer_type(name)))
