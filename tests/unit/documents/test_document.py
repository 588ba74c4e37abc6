from __future__ import annotations

import json
import time
from typing import Any

import pytest

from cairn.documents.document import Document, Edit, parse_document
from cairn.documents.nodes import Format
from cairn.documents.undo import undo
from cairn.errors import ConfigError

SERVER = {"command": "cairn", "args": ["mcp"]}
HOOK = {"matcher": "Bash", "hooks": [{"type": "command", "command": "cairn hook stop"}]}


def parse(text: str | bytes, format: Format) -> Document:
    return parse_document(text if isinstance(text, bytes) else text.encode(), format, "settings")


# Format, file, path, what the file is after `set` of the server.
SETS: list[tuple[Format, str, str]] = [
    (
        "json",
        "",
        '{\n  "servers": {\n    "cairn": {\n      "command": "cairn",\n      "args": ["mcp"]\n    }\n  }\n}\n',
    ),
    (
        "json",
        "{}",
        '{\n  "servers": {\n    "cairn": {\n      "command": "cairn",\n      "args": ["mcp"]\n    }\n  }\n}',
    ),
    ("json", '{"a": 1}', '{"a": 1, "servers": {"cairn": {"command": "cairn", "args": ["mcp"]}}}'),
    ("json", '{"a":1}\n', '{"a":1,"servers":{"cairn":{"command":"cairn","args":["mcp"]}}}\n'),
    ("json", '{ "a": 1 }', '{ "a": 1, "servers": { "cairn": { "command": "cairn", "args": ["mcp"] } } }'),
    (
        "json",
        '{\r\n\t"servers": {}\r\n}',
        '{\r\n\t"servers": {\r\n\t\t"cairn": {\r\n\t\t\t"command": "cairn",\r\n\t\t\t"args": ["mcp"]\r\n'
        "\t\t}\r\n\t}\r\n}",
    ),
    (
        "jsonc",
        '{\n    "a": 1, // one\n    // "b": 2,\n}\n',
        '{\n    "a": 1, // one\n    // "b": 2,\n    "servers": {\n        "cairn": {\n            "command": "cairn",\n'
        '            "args": ["mcp"]\n        }\n    },\n}\n',
    ),
    (
        "jsonc",
        '{\n  "a": 1 // one\n}\n',
        '{\n  "a": 1, // one\n  "servers": {\n    "cairn": {\n      "command": "cairn",\n      "args": ["mcp"]\n'
        "    }\n  }\n}\n",
    ),
    ("yaml", "# mine\n", "# mine\nservers:\n  cairn:\n    command: cairn\n    args:\n      - mcp\n"),
    ("yaml", "a: 1", "a: 1\nservers:\n  cairn:\n    command: cairn\n    args:\n      - mcp"),
    (
        "yaml",
        "servers:\n\n# b\nb: 1\n",
        "servers:\n  cairn:\n    command: cairn\n    args:\n      - mcp\n\n# b\nb: 1\n",
    ),
    ("yaml", "servers: {} # none\n", "servers: # none\n  cairn:\n    command: cairn\n    args:\n      - mcp\n"),
    ("yaml", "servers: {a: 1}\n", "servers: {a: 1, cairn: {command: cairn, args: [mcp]}}\n"),
    (
        "yaml",
        "servers:\n    a:\n        b: &b [1]\n        # c: 2\nd: *b\n",
        "servers:\n    a:\n        b: &b [1]\n        # c: 2\n    cairn:\n        command: cairn\n        args:\n"
        "          - mcp\nd: *b\n",
    ),
    ("toml", "", '[servers.cairn]\ncommand = "cairn"\nargs = ["mcp"]\n'),
    ("toml", "a = 1", 'a = 1\n\n[servers.cairn]\ncommand = "cairn"\nargs = ["mcp"]'),
    (
        "toml",
        "[servers.a]\nb = 1 # c\n\n[[d]]\n",
        '[servers.a]\nb = 1 # c\n\n[[d]]\n\n[servers.cairn]\ncommand = "cairn"\nargs = ["mcp"]\n',
    ),
    ("toml", "servers.a.b = 1\n", 'servers.a.b = 1\n\n[servers.cairn]\ncommand = "cairn"\nargs = ["mcp"]\n'),
    ("toml", "servers = {}\n", 'servers = { cairn = { command = "cairn", args = ["mcp"] } }\n'),
]


@pytest.mark.parametrize(("format", "before", "after"), SETS)
def test_a_value_is_added_in_the_style_of_the_file(format: Format, before: str, after: str) -> None:
    document = parse(before, format).set(("servers", "cairn"), SERVER)

    assert document.content.decode() == after
    assert document.get(("servers", "cairn")) == SERVER


@pytest.mark.parametrize(("format", "before", "after"), SETS)
def test_what_was_added_is_taken_back_byte_for_byte(format: Format, before: str, after: str) -> None:
    edits = parse(before, format).set(("servers", "cairn"), SERVER).edits

    kept = tuple(Edit.from_json(list(edit)) for edit in edits)

    assert undo(parse(after, format), kept).content.decode() == before


@pytest.mark.parametrize(("format", "before", "after"), SETS)
def test_setting_a_value_that_is_there_changes_nothing(format: Format, before: str, after: str) -> None:
    document = parse(after, format)

    assert document.set(("servers", "cairn"), dict(reversed(SERVER.items()))) is document


APPENDS: list[tuple[Format, str, str]] = [
    ("json", '{"hooks": {"Stop": [{"a": 1}]}}', '{"hooks": {"Stop": [{"a": 1}, {"b": ["c"]}]}}'),
    (
        "json",
        '{\n  "hooks": {\n    "Stop": [\n      1\n    ]\n  }\n}',
        '{\n  "hooks": {\n    "Stop": [\n      1,\n      {\n        "b": ["c"]\n      }\n    ]\n  }\n}',
    ),
    ("yaml", "hooks:\n  Stop:\n  - 1\n  # two\nc: 1\n", "hooks:\n  Stop:\n  - 1\n  - b:\n    - c\n  # two\nc: 1\n"),
    ("yaml", "hooks: {Stop: [1]}\n", "hooks: {Stop: [1, {b: [c]}]}\n"),
    ("yaml", "hooks:\n  Stop: ~ # none\n", "hooks:\n  Stop: # none\n    - b:\n        - c\n"),
    ("yaml", "hooks: null\n", "hooks:\n  Stop:\n    - b:\n        - c\n"),
    ("toml", "[hooks]\nStop = [1]\n", '[hooks]\nStop = [1, { b = ["c"] }]\n'),
    ("toml", "[[hooks.Stop]]\nb = 1\n[c]", '[[hooks.Stop]]\nb = 1\n[c]\n\n[[hooks.Stop]]\nb = ["c"]'),
    ("toml", "", '[[hooks.Stop]]\nb = ["c"]\n'),
]


@pytest.mark.parametrize(("format", "before", "after"), APPENDS)
def test_an_item_is_added_to_a_list_and_taken_back(format: Format, before: str, after: str) -> None:
    document = parse(before, format).append(("hooks", "Stop"), {"b": ["c"]})

    assert document.content.decode() == after
    assert undo(parse(after, format), document.edits).content.decode() == before


def test_tables_in_an_array_of_tables_belong_to_the_right_one() -> None:
    before = '[[hooks.Stop]]\nmatcher = "a"\n[[hooks.Stop.hooks]]\ncommand = "x"\n\n[[hooks.Stop]]\nmatcher = "b"\n'

    document = parse(before, "toml").append(("hooks", "Stop", 0, "hooks"), {"command": "y"})

    assert document.get(("hooks", "Stop", 0, "hooks")) == [{"command": "x"}, {"command": "y"}]
    assert document.get(("hooks", "Stop", 1)) == {"matcher": "b"}
    assert undo(document, document.edits).content.decode() == before


@pytest.mark.parametrize(
    ("format", "before", "after"),
    [
        ("json", '{"a": {"b": 1},\n "c":2}', '{"a": {"b": [true]},\n "c":2}'),
        ("yaml", "a:\n  b: 'x' # y\nc: 2\n", "a:\n  b:\n    - true # y\nc: 2\n"),
        ("toml", "[a]\nb = 1 # y\n[c]\n", "[a]\nb = [true] # y\n[c]\n"),
    ],
)
def test_another_value_is_replaced_and_comes_back(format: Format, before: str, after: str) -> None:
    document = parse(before, format).set(("a", "b"), [True])

    assert document.content.decode() == after
    assert undo(document, document.edits).content.decode() == before


def test_a_table_is_changed_only_where_it_differs() -> None:
    before = '[servers.cairn]\ncommand = "old" # mine\nargs = ["mcp"]\nenv = {}\n'

    document = parse(before, "toml").set(("servers", "cairn"), SERVER)

    assert document.content.decode() == '[servers.cairn]\ncommand = "cairn" # mine\nargs = ["mcp"]\n'
    assert undo(document, document.edits).content.decode() == before


def test_what_a_change_only_removed_comes_back() -> None:
    before = "[servers]\na.b = 'x'\n[c]\n"

    document = parse(before, "toml").set(("servers",), {})

    assert document.content.decode() == "[servers]\n[c]\n"
    assert undo(document, document.edits).content.decode() == before


EDITED: list[tuple[Format, str, str, str, str]] = [  # before, what others change: from, to; what is left after undo
    ("json", '{\n  "a": 1\n}\n', '"a": 1', '"a": 1,\n  "b": [2]', '{\n  "a": 1,\n  "b": [2]\n}\n'),
    ("json", '{\n  "a": 1\n}\n', '  "a": 1,\n', "", "{}\n"),
    ("json", "{}", '"servers": {', '"servers": {\n    "x": 1,', '{\n  "servers": {\n    "x": 1\n  }\n}'),
    ("jsonc", '{\n  "a": 1 // one\n}\n', "// one", "// uno", '{\n  "a": 1 // uno\n}\n'),
    ("yaml", "a: 1\n", "a: 1\n", "# x\na: [2]\n", "# x\na: [2]\n"),
    ("yaml", "a: 1\n", "  cairn:", "  x: y\n  cairn:", "a: 1\nservers:\n  x: y\n"),
    ("toml", "a = 1\n", "a = 1\n", "a = 2\n[b]\n", "a = 2\n[b]\n"),
]


@pytest.mark.parametrize(("format", "before", "old", "new", "left"), EDITED)
def test_only_ours_goes_where_others_edited_the_file_since(
    format: Format, before: str, old: str, new: str, left: str
) -> None:
    document = parse(before, format).set(("servers", "cairn"), SERVER)
    assert old in document.content.decode()

    edited = parse(document.content.decode().replace(old, new, 1), format)

    assert undo(edited, document.edits).content.decode() == left


def test_ours_goes_from_a_file_that_was_formatted_anew() -> None:
    document = parse('{"a":1}', "json").set(("servers", "cairn"), SERVER).append(("hooks",), HOOK)
    pretty = (
        '{\n    "a": 1,\n    "servers": {"cairn": {"command": "cairn",\n    "args": ["mcp"]}},\n'
        '    "hooks": [\n        {"matcher": "Bash", "hooks": [{"type": "command", "command": "cairn hook stop"}]}\n'
        "    ]\n}\n"
    )

    assert undo(parse(pretty, "json"), document.edits).content == b'{\n    "a": 1\n}\n'


def test_an_item_that_others_changed_is_known_by_what_it_says() -> None:
    document = parse('{"hooks": []}', "json").append(("hooks",), HOOK)
    changed = document.content.replace(b"Bash", b"Shell").replace(b"[{", b'[{"theirs": 1}, {', 1)

    def is_ours(item: Any) -> bool:  # noqa: ANN401 - JSON
        return "cairn hook" in str(item)

    assert undo(parse(changed, "json"), document.edits).content == changed
    assert undo(parse(changed, "json"), document.edits, is_ours).content == b'{"hooks": [{"theirs": 1}]}'


@pytest.mark.parametrize(
    ("format", "text", "words"),
    [
        ("json", '{\n"a": }', "settings:2 is not valid JSON"),
        ("json", '{"a": 1} // c', "settings:1 is not valid JSON"),
        ("json", '{"a": 1,}', "settings:1 is not valid JSON"),
        ("json", '{"a": NaN}', "NaN is not a number"),
        ("jsonc", "[,]", "settings:1 is not valid JSON"),
        ("jsonc", '{"a": 1} /* c', "settings:1 is not valid JSON"),
        ("jsonc", "[1,,]", "settings:1 is not valid JSON"),
        ("yaml", "a: 1\nb: [", "settings:2 is not valid YAML"),
        ("yaml", "a: *b\n", "settings:1: an alias of nothing"),
        ("yaml", "a: 1\n---\nb: 2\n", "settings:2: a second document"),
        ("toml", "a = 1\na = 2\n", "settings:2 is not valid TOML: Cannot overwrite a value$"),
        ("toml", "[a.b]\nc = 1\n[a.b]\n", r"settings:3 is not valid TOML: Cannot declare \('a', 'b'\) twice$"),
        ("toml", "[a", "settings:1 is not valid TOML: Expected ']' at the end of a table declaration$"),
        ("json", "[" * 150 + "]" * 150, "settings:1: more than 100 levels"),
        ("json", "[" * 99_000 + "]" * 99_000, "settings:1: more than 100 levels"),
        ("yaml", "[" * 150 + "]" * 150, "settings:1: more than 100 levels"),
        ("toml", "a = " + "[" * 150 + "]" * 150, "settings:1: more than 100 levels"),
    ],
)
def test_what_is_not_valid_is_refused_with_its_line(format: Format, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words.replace("[", r"\[")):
        parse(text, format)


def test_what_is_not_utf8_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigError, match="settings:2 is not valid UTF-8"):
        parse(b'{"a":\n"\xff"}', "json")


def test_a_file_that_is_too_large_is_refused() -> None:
    with pytest.raises(ConfigError, match="settings is larger than 2,000,000 bytes") as refused:
        parse(b" " * 2_000_001, "jsonc")
    assert refused.value.hint == "make the change in settings by hand"
    with pytest.raises(ConfigError, match="settings is larger than 50,000,000 bytes"):
        parse(b" " * 50_000_001, "json")


@pytest.mark.parametrize("indent", [2, None])
def test_a_large_file_of_json_takes_no_longer_than_to_read_it_some_times(indent: int | None) -> None:
    history = [{"display": f"fix the thing {number}", "pasted": {}, "counts": [1] * 50} for number in range(5_000)]
    text = json.dumps(
        {"mcpServers": {"db": {"command": "db"}}, "history": history, "rest": [1] * 500_000}, indent=indent
    )
    begin = time.process_time()
    json.loads(text)
    reading = time.process_time() - begin
    document = parse(text, "json")

    changed = document.set(("mcpServers", "cairn"), {"command": "cairn"})
    assert json.loads(changed.content)["mcpServers"] == {"db": {"command": "db"}, "cairn": {"command": "cairn"}}
    assert undo(changed, changed.edits).content == text.encode()

    assert time.process_time() - begin < 150 * reading


@pytest.mark.parametrize(
    ("format", "text", "words"),
    [
        ("json", '{\n"servers": []}', "settings:2: `servers` must be an object"),
        ("json", '{\n"servers": null}', "settings:2: `servers` must be an object"),
        ("json", "[]", "settings:1: the file must be an object"),
        ("json", '{"servers": {},\n"servers": {}}', "settings:2: `servers` appears twice"),
        ("yaml", "x: &x {}\nservers: *x\n", "settings:2: `servers` must be an object"),
        ("toml", "servers = 1\n", "settings:1: `servers` must be an object"),
    ],
)
def test_a_wrong_kind_on_the_way_is_refused(format: Format, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse(text, format).set(("servers", "cairn"), SERVER)


def test_a_list_is_needed_to_append_to() -> None:
    with pytest.raises(ConfigError, match="settings:1: `a` must be a list"):
        parse('{"a": {}}', "json").append(("a",), 1)


def test_an_array_of_tables_takes_tables_alone() -> None:
    with pytest.raises(ConfigError, match="cannot be edited"):
        parse("[[a]]\n", "toml").append(("a",), 1)


def test_names_that_appear_twice_elsewhere_do_not_matter() -> None:
    text = '{"x": {"a": 1, "a": 2}, "y": 1, "y": 2}'

    document = parse(text, "json").set(("servers",), SERVER)

    assert document.content.decode().startswith(text[:-1])


def test_a_mark_of_byte_order_stays() -> None:
    document = parse(b'\xef\xbb\xbf{"a": 1}', "json").set(("b",), 2)

    assert document.content == b'\xef\xbb\xbf{"a": 1, "b": 2}'


@pytest.mark.parametrize(
    ("format", "before", "path", "after"),
    [
        ("json", '{"a": 1, "b": 2, "c": 3}', ("a",), '{"b": 2, "c": 3}'),
        ("json", '{"a": 1, "b": 2, "c": 3}', ("b",), '{"a": 1, "c": 3}'),
        ("json", '{"a": 1, "b": 2, "c": 3}', ("c",), '{"a": 1, "b": 2}'),
        ("json", '{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
        (
            "jsonc",
            '{\n  // a\n  "a": 1, // one\n  "b": 2, // two\n}',
            ("b",),
            '{\n  // a\n  "a": 1, // one\n // two\n}',
        ),
        ("jsonc", '{ "a": 1 /* one */, "b": 2 }', ("a",), '{ /* one */ "b": 2 }'),
        ("yaml", "- a: 1\n  b: 2\n- 3\n", (0, "a"), "- b: 2\n- 3\n"),
        ("yaml", "- a: 1\n  b: 2\n- 3\n", (0,), "- 3\n"),
        ("yaml", "a:\n  b: 1\nc: 2\n", ("a", "b"), "a: {}\nc: 2\n"),
        ("yaml", "a: # x\n  b: 1\nc: 2\n", ("a", "b"), "a: # x\n  {}\nc: 2\n"),
        ("yaml", "a: 1\nb: 2", ("b",), "a: 1"),
        ("toml", "[a]\nb = 1\nc = 2\n[d]\n", ("a", "b"), "[a]\nc = 2\n[d]\n"),
        ("toml", "[[a]]\nb = 1\n# x\n[[a.c]]\n[[a]]\n", ("a", 0), "# x\n[[a]]\n"),
    ],
)
def test_a_value_is_removed_with_what_only_it_needed(
    format: Format, before: str, path: tuple[str | int, ...], after: str
) -> None:
    assert parse(before, format).remove(path).content.decode() == after


def test_removing_what_is_not_there_changes_nothing() -> None:
    document = parse('{"a": {}}', "json")

    assert document.remove(("a", "b", "c")) is document


def test_what_was_created_on_the_way_goes_too_if_it_is_empty() -> None:
    document = parse('{"a": {"b": {"c": 1}}, "d": {}}', "json")

    assert document.remove(("a", "b", "c"), created=2).content == b'{"a": {}, "d": {}}'
    assert document.remove(("a", "b", "c"), created=3).content == b'{"d": {}}'


def test_references_of_yaml_are_not_followed() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{new}: &{new} [*{old}, *{old}]\n"
        for old, new in zip("abcdefghijklmnopqrstuvwxy", "bcdefghijklmnopqrstuvwxyz", strict=True)
    )

    assert parse(bomb, "yaml").set(("servers",), 1).content.decode() == f"{bomb}servers: 1\n"
