"""Checks data from another machine against the protocol before it is used."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from cairn.schema import wire_name

# Characters that could control a terminal. Tabs and line breaks are part of code.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\x80-\x9f]")
_LARGEST = 2**53  # largest whole number in JSON that every program can read


def clean(text: str) -> str:
    """Return a text with control characters escaped."""
    return text if text.isprintable() else _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def conform(kind: Any, value: object) -> Any:  # noqa: ANN401 - an annotation, and JSON
    """Return a JSON value in the shape of an annotation; see `cairn.schema.json_schema`.

    Unknown fields are dropped, since the other machine may be newer. Fields with a default may be missing, since it may
    be older. Texts are cleaned.

    Raises:
        ValueError: if the value has another shape, too large a number, or a path that leads out of a project.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is NotRequired:
        return conform(arguments[0], value)
    if origin in (Union, UnionType):
        return _first_of(arguments, value)
    if origin is Literal:
        if value in arguments and isinstance(value, str):
            return value
        raise ValueError(f"not one of {arguments}")
    if origin is dict:
        pairs = _expect(dict, value).items()
        return {conform(str, name): conform(arguments[1], item) for name, item in pairs}
    if origin in (list, tuple):
        return _items(origin, arguments, _expect(list, value))
    if is_dataclass(kind) or is_typeddict(kind):
        return _object(kind, _expect(dict, value))
    return _plain(kind, value)


def _expect(kind: type, value: object) -> Any:  # noqa: ANN401 - of that type
    if type(value) is not kind:  # a boolean is not a number
        raise ValueError(f"a {type(value).__name__} where a {kind.__name__} belongs")
    return value


def _first_of(options: tuple[Any, ...], value: object) -> Any:  # noqa: ANN401 - JSON
    if value is None and NoneType in options:
        return None
    for option in options:
        try:
            return conform(option, value)
        except ValueError:
            continue
    raise ValueError("none of several types")


def _items(origin: type, arguments: tuple[Any, ...], values: list[object]) -> list[Any]:
    if origin is list or arguments[-1] is Ellipsis:
        return [conform(arguments[0], value) for value in values]
    if len(values) != len(arguments):
        raise ValueError(f"{len(values)} items where {len(arguments)} belong")
    return [conform(kind, value) for kind, value in zip(arguments, values, strict=True)]


def _plain(kind: Any, value: object) -> Any:  # noqa: ANN401 - an annotation, and JSON
    if kind is str:
        return clean(_expect(str, value))
    if kind is float and type(value) in (int, float) and abs(value) <= sys.float_info.max:  # type: ignore[arg-type] # a number
        return value
    if kind is int and abs(_expect(int, value)) <= _LARGEST:
        return value
    if kind in (bool, NoneType):
        return _expect(kind, value)
    raise ValueError(f"{value!r:.40} where {kind} belongs")


def _object(kind: Any, values: Mapping[str, object]) -> dict[str, Any]:  # noqa: ANN401 - a class with fields
    found = {}
    for name, (hint, default) in _fields_of(kind).items():
        if name in values:
            found[name] = conform(hint, values[name])
        elif default is MISSING:
            raise ValueError(f"{name} is missing")
        elif default is not _LEFT_OUT:
            found[name] = list(default) if isinstance(default, tuple) else default
    if isinstance(path := found.get("filepath"), str) and _leads_out(path):
        raise ValueError("a path that leads out of the project")
    return found


_LEFT_OUT = object()  # stands for the default of a field that may be missing


@cache
def _fields_of(kind: Any) -> dict[str, tuple[Any, Any]]:  # noqa: ANN401 - a class with fields
    """Return the type and default of each field, by its name in JSON."""
    hints = get_type_hints(kind, include_extras=True)
    if is_typeddict(kind):
        missing = {name: _LEFT_OUT if get_origin(hint) is NotRequired else MISSING for name, hint in hints.items()}
        return {name: (hint, missing[name]) for name, hint in hints.items()}
    found = {}
    for field in fields(kind):
        default = {} if field.default_factory is not MISSING else field.default
        found[wire_name(field.name)] = hints[field.name], _LEFT_OUT if field.metadata.get("left_out") else default
    return found


def _leads_out(path: str) -> bool:
    return path.startswith("/") or posixpath.normpath(path).startswith("../") or path == ".."
