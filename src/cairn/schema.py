"""Reads typed requests from JSON, and describes types in JSON Schema, from their annotations alone.

A type is written once, as a dataclass, NamedTuple or TypedDict. The command line, HTTP and MCP get their descriptions
here, and none of them has to import a validation library.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import MISSING, fields, is_dataclass
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
from cairn.hints import FIELDS_PAGE
from cairn.loading import load

_T = TypeVar("_T")
Schema = dict[str, Any]
_KINDS: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}
_PLAIN: dict[Any, Schema] = {kind: {"type": name} for kind, name in _KINDS.items()} | {
    NoneType: {"type": "null"},
    Any: {},
}
_WORDS = {"string": "a string", "boolean": "true or false", "integer": "a whole number", "number": "a number"}
_MAX_SHOWN = 100  # characters of an unknown name
_HINT = FIELDS_PAGE


def decode(kind: type[_T], document: object, offered: Collection[str] | None = None) -> _T:
    """Return a request, which is a dataclass, from a JSON object.

    Args:
        kind: of the request.
        document: the object.
        offered: the fields that may be given; by default all.

    Raises:
        RequestError: for a field that is unknown, missing, of the wrong type or out of range.
    """
    if not isinstance(document, dict):
        raise RequestError("the request must be a JSON object", _HINT)
    hints = _hints(kind)  # type: ignore[arg-type] # a class can be hashed
    known = hints if offered is None else offered
    if unknown := sorted(str(name) for name in document if name not in known):
        raise RequestError(f"unknown field {unknown[0][:_MAX_SHOWN]!r}", _nearest(unknown[0], sorted(known)))
    values = {}
    for field in fields(kind):  # type: ignore[arg-type] # a dataclass, by contract
        if field.name in document:
            values[field.name] = _value(hints[field.name], document[field.name], field.name)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise RequestError(f"field {field.name!r} is missing", _HINT)
    return kind(**values)


def _nearest(name: str, known: list[str]) -> str:
    """Return a hint with the field that was probably meant, and all known fields."""
    near = load("difflib:get_close_matches")(name[:_MAX_SHOWN], known, 1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"{meant}known fields: {', '.join(known)}" if known else "leave it out: there are no fields"


def encode(request: object) -> dict[str, Any]:
    """Return the JSON object of a request: the fields that differ from their defaults."""
    return {
        field.name: getattr(request, field.name)
        for field in fields(request)  # type: ignore[arg-type] # a dataclass, by contract
        if field.default is MISSING or getattr(request, field.name) != field.default
    }


@cache
def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a class with fields
    return get_type_hints(kind, include_extras=True)


def _value(kind: Any, value: object, name: str) -> Any:  # noqa: ANN401 - one of the annotations
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *rules = get_args(kind)
        decoded = _value(inner, value, name)
        for rule in rules if decoded is not None else ():
            _check(rule, decoded, name)
        return decoded
    if origin in (Union, UnionType):
        (inner,) = [option for option in get_args(kind) if option is not NoneType]
        return None if value is None else _value(inner, value, name)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise RequestError(f"field {name!r} must be a list", _HINT)
        inner = get_args(kind)[0]
        return tuple(_value(inner, item, f"{name}[{place}]") for place, item in enumerate(value))
    if origin is Literal:
        if not isinstance(value, str) or value not in get_args(kind):
            raise RequestError(f"field {name!r} must be one of: {', '.join(get_args(kind))}", _HINT)
        return value
    return _plain(kind, value, name)


def _plain(kind: type, value: object, name: str) -> Any:  # noqa: ANN401 - a string, a number or a boolean
    if kind is float and type(value) is int:
        return float(value)
    if kind is int and isinstance(value, float) and value.is_integer():  # JSON has one kind of number
        return int(value)
    if type(value) is not kind:  # a boolean is not a number
        raise RequestError(f"field {name!r} must be {_WORDS[_KINDS[kind]]}", _HINT)
    if isinstance(value, str):
        try:
            value.encode("utf-8", "surrogateescape")  # paths may contain bytes that are not valid UTF-8
        except UnicodeEncodeError as error:
            raise RequestError(f"field {name!r} contains half a character", _HINT) from error
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
        kind: an annotation of strings, numbers, booleans, lists, mappings, dataclasses, NamedTuples and TypedDicts.
        definitions: collects the schemas of named types, to which references then point, as OpenAPI's components.
            Without it they are inlined.
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
        return {"anyOf": [json_schema(option, definitions) for option in arguments]}
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin in (dict, list, tuple):
        return _collection(origin, arguments, definitions)
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    return _reference_to(kind, definitions)


def _collection(origin: Any, arguments: tuple[Any, ...], definitions: dict[str, Schema] | None) -> Schema:  # noqa: ANN401 - an annotation
    if origin is dict:
        return {"type": "object", "additionalProperties": json_schema(arguments[1], definitions)}
    if origin is list or arguments[-1] is Ellipsis:
        return {"type": "array", "items": json_schema(arguments[0], definitions)}
    places = [json_schema(item, definitions) for item in arguments]
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
    """Return the name of a field in JSON: `path` is `filepath` there, as everywhere outside the process."""
    return "filepath" if name == "path" else name


def _defaults(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    if is_dataclass(kind):
        return {field.name: field.default for field in fields(kind) if field.default is not MISSING}
    defaults: dict[str, Any] = getattr(kind, "_field_defaults", {})
    return defaults


def _constraints(rule: Rule, schema: Schema) -> Schema:
    inner: Schema = next((option for option in schema.get("anyOf", ()) if option != {"type": "null"}), schema)
    unit = "Items" if inner.get("type") == "array" else "Length"
    constraints = {
        "minimum": rule.least,
        "maximum": rule.most,
        f"min{unit}": rule.min_length,
        f"max{unit}": rule.max_length,
        "pattern": None if rule.pattern is None else f"^(?:{rule.pattern})$",
    }
    kept = {name: value for name, value in constraints.items() if value is not None}
    description = {"description": rule.text} if rule.text else {}
    if inner is schema:
        return kept | description
    inner |= kept
    return description
