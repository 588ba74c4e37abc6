"""Renders new values as text, in the style of their file."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from cairn.documents.nodes import Format

_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")
_BARE_TOML = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN_YAML = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*")
_NOT_PLAIN = frozenset(["true", "false", "yes", "no", "on", "off", "y", "n", "null"])
_LINE_CHARS = 60  # characters of a list that is written on one line


class FileStyle(NamedTuple):
    """The style of a file.

    Attributes:
        format: of the file.
        newline: its line end.
        unit: of indentation.
        colon: between a name and its value.
        comma: between values on one line.
        pad: inside the braces of one line.
        dash_indent: of the dashes of a YAML list, relative to the list's name.
    """

    format: Format
    newline: str = "\n"
    unit: str = "  "
    colon: str = ": "
    comma: str = ", "
    pad: str = ""
    dash_indent: str = "  "


def quote(text: str) -> str:
    """Return a text in double quotes that is valid in JSON, TOML and YAML."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def render_name(name: str, format: Format) -> str:
    """Return a name as written before a value."""
    if format == "toml":
        return name if _BARE_TOML.fullmatch(name) else quote(name)
    return render_scalar(name, format)


def render_scalar(value: Any, format: Format) -> str:  # noqa: ANN401 - a scalar of JSON
    """Return a scalar.

    Raises:
        ValueError: if the format has no such value.
    """
    if isinstance(value, str):
        is_plain = format == "yaml" and _PLAIN_YAML.fullmatch(value) and value.lower() not in _NOT_PLAIN
        return value if is_plain else quote(value)
    if value is None and format == "toml":
        raise ValueError("TOML has no null")
    return json.dumps(value, allow_nan=False)


def render(value: Any, style: FileStyle, indent: str | None = None) -> str:  # noqa: ANN401 - JSON
    """Return a value in bracket style.

    Args:
        value: of JSON.
        style: of the file.
        indent: of the line in which it begins, with members on lines of their own. None for a single line.
    """
    if not isinstance(value, dict | list):
        return render_scalar(value, style.format)
    brackets = "{}" if isinstance(value, dict) else "[]"
    if not value:
        return brackets
    is_on_one_line = indent is None or _is_short(value, style) or (style.format == "toml" and isinstance(value, dict))
    deeper = None if is_on_one_line else f"{indent}{style.unit}"
    if isinstance(value, dict):
        members = [
            f"{render_name(name, style.format)}{style.colon}{render(inner, style, deeper)}"
            for name, inner in value.items()
        ]
    else:
        members = [render(inner, style, deeper) for inner in value]
    if deeper is None:
        pad = style.pad if isinstance(value, dict) else ""
        return f"{brackets[0]}{pad}{style.comma.join(members)}{pad}{brackets[1]}"
    inside = f",{style.newline}{deeper}".join(members)
    return f"{brackets[0]}{style.newline}{deeper}{inside}{style.newline}{indent}{brackets[1]}"


def _is_short(value: dict[str, Any] | list[Any], style: FileStyle) -> bool:
    """Tell whether a value is a list of scalars that fits on a line."""
    if isinstance(value, dict) or any(isinstance(inner, dict | list) for inner in value):
        return False
    return len(style.comma.join(render_scalar(inner, style.format) for inner in value)) <= _LINE_CHARS
