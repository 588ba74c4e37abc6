"""The values of a document, from parsers that are independent of the editing code.

Mappings are `Names`, which compare in any order; YAML's aliases are kept as such.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from cairn.documents.nodes import MISSING, Format, Names, Path, line_of, too_deep
from cairn.errors import ConfigError
from cairn.loading import load

_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*+"?|//[^\r\n]*|/\*(?:.*?\*/|.*)|[,\[\]{}]|[^\s"/,\[\]{}]+|/', re.DOTALL
)  # of JSONC; an unclosed comment or string is one token, too


def read_values(body: bytes, format: Format, source: str) -> Any:  # noqa: ANN401 - whatever the file says
    """Return the values of a text; MISSING if it is empty.

    Raises:
        ConfigError: with the line, if it is not valid.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}:{line_of(body, error.start)} is not valid UTF-8", f"mend {source}") from None
    try:
        if format == "toml":
            return _toml(text, source)
        if format == "yaml":
            return load("cairn.documents.yaml_values:read_yaml")(text, source)
        return _json(without_comments(body).decode() if format == "jsonc" else text, source)
    except RecursionError:
        raise too_deep(source, 1) from None


# -- JSON --------------------------------------------------------------------------------------------------------------


def without_comments(body: bytes) -> bytes:
    """Return JSONC as JSON of the same length, with spaces for comments and trailing commas."""
    clean = bytearray(body)
    last, comma = b"", -1
    for match in _TOKEN.finditer(body):
        token = match[0]
        if token[:2] in (b"//", b"/*"):
            if token[:2] == b"//" or (len(token) > 3 and token.endswith(b"*/")):
                clean[match.start() : match.end()] = re.sub(rb"[^\r\n]", b" ", token)
            continue
        if token in (b"]", b"}") and comma >= 0:
            clean[comma] = ord(" ")
        comma = match.start() if token == b"," and last not in (b"", b",", b"[", b"{") else -1
        last = token
    return bytes(clean)


def _json(text: str, source: str) -> Any:  # noqa: ANN401 - as above
    if not text.strip(" \t\r\n"):
        return MISSING
    try:
        return json.loads(
            text, object_pairs_hook=Names, parse_constant=_refuse_constant, parse_int=_number, parse_float=float
        )
    except json.JSONDecodeError as error:
        raise ConfigError(f"{source}:{error.lineno} is not valid JSON: {error.msg}", f"mend {source}") from None
    except _NoJsonError as error:
        raise ConfigError(f"{source} is not valid JSON: {error} is not a number", f"mend {source}") from None


class _NoJsonError(Exception):
    """A constant that Python accepts but JSON does not have."""


def _refuse_constant(name: str) -> None:
    raise _NoJsonError(name)


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) < 1_000 else digits


# -- TOML --------------------------------------------------------------------------------------------------------------


def _toml(text: str, source: str) -> Names:
    try:
        values: Names = from_plain(tomllib.loads(text))
        return values
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        words = re.sub(r" \(at .*\)$", "", str(error))
        raise ConfigError(f"{source}:{line} is not valid TOML: {words}", f"mend {source}") from None


def from_plain(value: Any) -> Any:  # noqa: ANN401 - as above
    """Return a value with `Names` for its mappings."""
    if isinstance(value, dict):
        return Names((name, from_plain(inner)) for name, inner in value.items())
    if isinstance(value, list | tuple):
        return [from_plain(inner) for inner in value]
    return value


def to_plain(value: Any) -> Any:  # noqa: ANN401 - as above
    """Return a value with dictionaries for its mappings; of duplicate names, the last one counts."""
    if isinstance(value, Names):
        return {name: to_plain(inner) for name, inner in value}
    return [to_plain(inner) for inner in value] if isinstance(value, list) else value


# -- comparison and change ---------------------------------------------------------------------------------------------


def same(one: Any, other: Any) -> bool:  # noqa: ANN401 - as above
    """Tell whether two values are equal, including their types; the order of names does not matter."""
    if isinstance(one, Names) and isinstance(other, Names):
        ours, theirs = sorted(one, key=_order), sorted(other, key=_order)
        return len(ours) == len(theirs) and all(
            _order(mine) == _order(yours) and same(mine[1], yours[1]) for mine, yours in zip(ours, theirs, strict=True)
        )
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or (one != one and other != other)


def _order(pair: tuple[Any, Any]) -> tuple[str, str]:
    return type(pair[0]).__name__, str(pair[0])


def value_at(value: Any, path: Path) -> Any:  # noqa: ANN401 - as above
    """Return the value at a path, MISSING if there is none; of duplicate names, the last one counts."""
    for name in path:
        if isinstance(value, Names) and (places := value.places(name)):
            value = value[places[-1]][1]
        elif isinstance(value, list) and not isinstance(value, Names) and isinstance(name, int) and name < len(value):
            value = value[name]
        else:
            return MISSING
    return value


def with_value(value: Any, path: Path, new: Any) -> Any:  # noqa: ANN401 - as above
    """Return a value with another at a path; if the path ends with the length of a list, it is appended.

    MISSING removes a name; what is missing on the path is created.
    """
    if not path:
        return new
    name, rest = path[0], path[1:]
    if isinstance(value, list) and not isinstance(value, Names):
        changed = list(value)
        changed[int(name) : int(name) + 1] = _kept(with_value(value_at(value, [name]), rest, new))
        return changed
    pairs = value if isinstance(value, Names) else Names()
    places = pairs.places(name)
    inner = with_value(value_at(pairs, [name]), rest, new)
    replaced = [(name, kept) for kept in _kept(inner)]
    at = places[-1] if places else len(pairs)
    return Names([*pairs[:at], *replaced, *pairs[at + 1 :]])


def _kept(value: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    if value is not MISSING:
        yield value
