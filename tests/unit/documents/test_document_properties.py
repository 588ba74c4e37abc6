"""Random documents: what is set comes out, nothing else changes, and what is taken back leaves no trace."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from cairn.documents.document import parse_document
from cairn.documents.nodes import Format, Names
from cairn.documents.undo import undo
from cairn.documents.values import from_plain, same, value_at, with_value
from cairn.errors import ConfigError

NAMES = st.sampled_from(["a", "b", "c", "mcp", "x y", "é", "", "#", "no", "1"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 99), st.text(st.characters(codec="utf-8"), max_size=6), st.just("// #")
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
GAPS = st.sampled_from(["", "", " ", "\n", "\r\n", "\t", "\n    "])
COMMENTED = GAPS | st.sampled_from(["// c, {\n", "/* ] , */", " // \r\n", "\n  # \n".replace("#", "//")])
_PAIRS = [
    "a = 1",
    "b.c = 'x'",
    "b.d = [1,\n  2, # two\n]",
    "mcp = {}",
    "mcp = { a = { b = 1 } }",
    "mcp.a.b = 1",
    "\tb = 2",
]
_HEADERS = ["[a]", "[mcp]", "[mcp.a] # c", "[b.mcp]", "[[c]]", "[[mcp]]", "[c.a]", "[[c.b]]", "[[mcp.a]]", "['x y']"]
_OTHERS = ["", "# c", "  # c", "c = []", "c = [ { a = 1 } ]", '"é" = """\n[mcp]\n"""']
TOML_LINES = st.sampled_from([*_PAIRS, *_HEADERS, *_OTHERS])


def check(text: str, format: Format, path: tuple[str, ...], value: Any) -> None:  # noqa: ANN401 - any JSON
    """Set, append and remove under a path, and take it back; what is refused is refused with an error of ours."""
    document = parse_document(text.encode(), format, "file")
    wanted = from_plain(value)
    try:
        changed = document.set(path, value)
    except ConfigError as error:
        _expect_a_wrong_kind(error)
    else:
        assert same(value_at(changed.values, path), wanted)
        assert same(changed.values, with_value(_values(document), path, wanted))
        assert changed.set(path, value).content == changed.content
        assert undo(parse_document(changed.content, format, "file"), changed.edits).content == document.content
    try:
        longer = document.append(path, value)
    except ConfigError as error:
        _expect_a_wrong_kind(error)
    else:
        assert same(value_at(longer.values, path)[-1], wanted)
        assert undo(parse_document(longer.content, format, "file"), longer.edits).content == document.content


def _expect_a_wrong_kind(error: ConfigError) -> None:
    """Fail unless the path itself is the reason why nothing was changed."""
    assert re.search(r"file:\d+: .* must be|appears twice", str(error)), error


def check_removal(text: str, format: Format, path: tuple[str, ...]) -> None:
    document = parse_document(text.encode(), format, "file")
    try:
        less = document.remove(path)
    except ConfigError as error:
        _expect_a_wrong_kind(error)
        return
    expected = with_value(_values(document), path, value_at((), (0,)))
    emptied = [expected]
    while format == "toml" and len(path) > 1 and value_at(expected, path[:-1]) == []:
        path = path[:-1]
        expected = with_value(expected, path, value_at((), (0,)))
        emptied.append(expected)
    assert any(same(_values(less), values) for values in emptied) or (less is document)


def _values(document: Any) -> Any:  # noqa: ANN401 - any document, whatever it says
    return document.values if isinstance(document.values, list) else Names()


@given(st.data(), OBJECTS, PATHS, VALUES)
def test_json_in_any_spacing(
    data: st.DataObject, content: dict[str, Any], path: tuple[str, ...], value: object
) -> None:
    tokens = json.JSONEncoder(ensure_ascii=False).iterencode(content)
    text = "".join(f"{token}{data.draw(GAPS)}" for token in tokens)

    check(text, "json", path, value)
    check_removal(text, "json", path)


@given(st.data(), OBJECTS, PATHS, VALUES)
def test_json_with_comments_anywhere(
    data: st.DataObject, content: dict[str, Any], path: tuple[str, ...], value: object
) -> None:
    tokens = json.JSONEncoder(ensure_ascii=False).iterencode(content)
    text = data.draw(COMMENTED) + "".join(f"{token}{data.draw(COMMENTED)}" for token in tokens)

    check(text, "jsonc", path, value)
    check_removal(text, "jsonc", path)


@given(OBJECTS, PATHS, VALUES, st.sampled_from([2, 3, 4, 8]), st.sampled_from([None, False, True]), st.booleans())
def test_yaml_in_both_styles(
    content: dict[str, Any], path: tuple[str, ...], value: object, indent: int, flow: bool | None, crlf: bool
) -> None:
    text = yaml.safe_dump(content, indent=indent, default_flow_style=flow, allow_unicode=True, sort_keys=False)
    text = text.replace("\n", "\r\n") if crlf else text

    check(text, "yaml", path, value)
    check_removal(text, "yaml", path)


@given(st.lists(TOML_LINES, max_size=8), PATHS, VALUES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_toml_with_tables_in_any_order(
    lines: list[str], path: tuple[str, ...], value: object, newline: str, ends: bool
) -> None:
    text = "\n".join(lines).replace("\n", newline) + (newline if ends else "")
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)
    assume("null" not in json.dumps(value))
    assume(isinstance(value, dict) or not any(line.startswith(f"[[{'.'.join(path)}]]") for line in lines))

    check(text, "toml", path, value)
    check_removal(text, "toml", path)
