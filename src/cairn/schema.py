"""Reads typed requests from JSON and says in JSON Schema what a type looks like, from the annotations alone.

A type is written once, as a dataclass, NamedTuple or TypedDict of the standard library. The command line, HTTP and MCP
take their descriptions from here, and none of them needs a validation library to start.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from cairn.errors import RequestError
from cairn.fields import Rule

_T = TypeVar("_T")
Schema = dict[str, Any]
_KINDS: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}
_PLAIN: dict[Any, Schema] = {kind: {"type": name} for kind, name in _KINDS.items()} | {
    NoneType: {"type": "null"},
    Any: {},
}
_WORDS = {"string": "a text", "boolean": "true or false", "integer": "a whole number", "number": "a number"}
_MAX_SHOWN = 100  # characters of a name that is not known
_HINT = "docs/http-api.md names the fields of every request"


def decode(kind: type[_T], document: object) -> _T:
    """Return a request of a dataclass from a JSON object.

    Raises:
        RequestError: for a field that is unknown, missing, of the wrong kind or out of range.
    """
    if not isinstance(document, dict):
        raise RequestError("the request must be a JSON object", _HINT)
    hints = _hints(kind)  # type: ignore[arg-type] # a class can be hashed
    if unknown := sorted(str(name) for name in document if name not in hints):
        raise RequestError(f"unknown field {unknown[0][:_MAX_SHOWN]!r}", _nearest(unknown[0], sorted(hints)))
    values = {}
    for one in fields(kind):  # type: ignore[arg-type] # a dataclass, by contract
        if one.name in document:
            values[one.name] = _value(hints[one.name], document[one.name], one.name)
        elif one.default is MISSING and one.default_factory is MISSING:
            raise RequestError(f"field {one.name!r} is missing", _HINT)
    return kind(**values)


def _nearest(name: str, known: list[str]) -> str:
    """Return a hint with the field that was probably meant, and all that there are."""
    near = get_close_matches(name[:_MAX_SHOWN], known, 1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"{meant}known fields: {', '.join(known)}"


def encode(request: object) -> dict[str, Any]:
    """Return the JSON object of a request: the fields that differ from their defaults."""
    return {
        one.name: getattr(request, one.name)
        for one in fields(request)  # type: ignore[arg-type] # a dataclass, by contract
        if one.default is MISSING or getattr(request, one.name) != one.default
    }


@cache
def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a class with fields
    return get_type_hints(kind, include_extras=True)


def _value(kind: Any, value: object, name: str) -> Any:  # noqa: ANN401 - one of the annotations
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *rules = get_args(kind)
        found = _value(inner, value, name)
        for rule in rules if found is not None else ():
            _check(rule, found, name)
        return found
    if origin in (Union, UnionType):
        (inner,) = [one for one in get_args(kind) if one is not NoneType]
        return None if value is None else _value(inner, value, name)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise RequestError(f"field {name!r} must be a list", _HINT)
        inner = get_args(kind)[0]
        return tuple(_value(inner, one, f"{name}[{place}]") for place, one in enumerate(value))
    if origin is Literal:
        if not isinstance(value, str) or value not in get_args(kind):
            raise RequestError(f"field {name!r} must be one of: {', '.join(get_args(kind))}", _HINT)
        return value
    return _plain(kind, value, name)


def _plain(kind: type, value: object, name: str) -> Any:  # noqa: ANN401 - a text, a number or a truth value
    if kind is float and type(value) is int:
        return float(value)
    if kind is int and isinstance(value, float) and value.is_integer():  # JSON has one kind of number
        return int(value)
    if type(value) is not kind:  # a truth value is no number
        raise RequestError(f"field {name!r} must be {_WORDS[_KINDS[kind]]}", _HINT)
    if isinstance(value, str):
        try:
            value.encode("utf-8", "surrogateescape")  # bytes that are no UTF-8 may be in paths
        except UnicodeEncodeError as error:
            raise RequestError(f"field {name!r} holds half a character", _HINT) from error
    return value


def _check(rule: Rule, value: Any, name: str) -> None:  # noqa: ANN401 - as above
    problem = ""
    if rule.least is not None and value < rule.least:
        problem = f"must be at least {rule.least}"
    elif rule.most is not None and value > rule.most:
        problem = f"must be at most {rule.most}"
    elif rule.min_length is not None and len(value) < rule.min_length:
        problem = "must not be empty" if rule.min_length == 1 else f"must have a length of at least {rule.min_length}"
    elif rule.max_length is not None and len(value) > rule.max_length:
        problem = f"must have a length of at most {rule.max_length}"
    elif rule.pattern is not None and not re.fullmatch(rule.pattern, value):
        problem = f"must match {rule.pattern}"
    if problem:
        raise RequestError(f"field {name!r} {problem}", _HINT)


# -- JSON Schema -------------------------------------------------------------------------------------------------------


def json_schema(kind: Any, definitions: dict[str, Schema] | None = None) -> Schema:  # noqa: ANN401 - any annotation
    """Return the JSON Schema of a type (2020-12).

    Args:
        kind: an annotation made of texts, numbers, truth values, lists, mappings, dataclasses, NamedTuples, TypedDicts.
        definitions: collects the schemas of named types, which are then referred to as OpenAPI's components. Without
            it they stand where they are used.
    """
    origin = get_origin(kind)
    arguments = get_args(kind)
    if origin is Annotated:
        schema = json_schema(arguments[0], definitions)
        for rule in arguments[1:]:
            schema |= _constraints(rule, schema)
        return schema
    if origin is NotRequired:
        return json_schema(arguments[0], definitions)
    if origin in (Union, UnionType):
        return {"anyOf": [json_schema(one, definitions) for one in arguments]}
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin in (dict, list, tuple):
        return _collection(origin, arguments, definitions)
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    return _reference_to(kind, definitions)


def _collection(origin: Any, arguments: tuple[Any, ...], definitions: dict[str, Schema] | None) -> Schema:  # noqa: ANN401
    if origin is dict:
        return {"type": "object", "additionalProperties": json_schema(arguments[1], definitions)}
    if origin is list or arguments[-1] is Ellipsis:
        return {"type": "array", "items": json_schema(arguments[0], definitions)}
    places = [json_schema(one, definitions) for one in arguments]
    return {"type": "array", "prefixItems": places, "minItems": len(places), "maxItems": len(places)}


def _reference_to(kind: Any, definitions: dict[str, Schema] | None) -> Schema:  # noqa: ANN401 - a class with fields
    if definitions is None:
        return _object(kind, None)
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # it may refer to itself
        definitions[kind.__name__] = _object(kind, definitions)
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _object(kind: Any, definitions: dict[str, Schema] | None) -> Schema:  # noqa: ANN401 - as above
    hints = _hints(kind)
    defaults = _defaults(kind)
    properties: dict[str, Schema] = {}
    for name, hint in hints.items():
        schema = json_schema(hint, definitions)
        if name in defaults and "$ref" not in schema:
            schema["default"] = list(defaults[name]) if isinstance(defaults[name], tuple) else defaults[name]
        properties[wire_name(name)] = schema
    # A field with a default may be left out of a request; an answer has all of its fields.
    required = [wire_name(name) for name in hints if name not in defaults]
    if is_typeddict(kind):
        required = [name for name, hint in hints.items() if get_origin(hint) is not NotRequired]
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    if kind.__doc__:
        schema["description"] = kind.__doc__.strip()
    return schema


def wire_name(name: str) -> str:
    """Return what a field is called in JSON: a path is a `filepath` there, as everywhere outside the process."""
    return "filepath" if name == "path" else name


def _defaults(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    if is_dataclass(kind):
        return {one.name: one.default for one in fields(kind) if one.default is not MISSING}
    found: dict[str, Any] = getattr(kind, "_field_defaults", {})
    return found


def _constraints(rule: Rule, schema: Schema) -> Schema:
    inner: Schema = next((one for one in schema.get("anyOf", ()) if one != {"type": "null"}), schema)
    unit = "Items" if inner.get("type") == "array" else "Length"
    found = {
        "minimum": rule.least,
        "maximum": rule.most,
        f"min{unit}": rule.min_length,
        f"max{unit}": rule.max_length,
        "pattern": None if rule.pattern is None else f"^(?:{rule.pattern})$",
    }
    kept = {name: value for name, value in found.items() if value is not None}
    told = {"description": rule.text} if rule.text else {}
    if inner is schema:
        return kept | told
    inner |= kept
    return told
