from __future__ import annotations

import ast
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cairn
from cairn.errors import NotFoundError, error_from_dict
from cairn.hints import Hint, hint_of, show, show_notes


@pytest.mark.parametrize(
    ("hint", "command", "tool"),
    [
        (Hint.of("index", full=True), "cairn index --full", "cairn index --full"),
        (Hint("find it", "search", query="a b"), "find it: cairn search 'a b'", "find it: `search` with query='a b'"),
        (
            Hint("look for the text", "search", mode="literal", query=None),
            "look for the text: cairn search QUERY --mode literal",
            "look for the text: `search` with mode=literal and a `query`",
        ),
        (
            Hint.of("search", query="print($X)", languages=("go",)),
            "cairn search 'print($X)' --lang go",
            "`search` with query='print($X)', languages=['go']",
        ),
        (
            Hint.of("search", query="-x", mode="literal"),
            "cairn search --mode literal -- -x",
            "`search` with query='-x', mode=literal",
        ),
        (Hint.of("callers", symbol="a"), "cairn callers a", "`graph` with relation=callers, symbol='a'"),
        (Hint("find them", "memories"), "find them: cairn memories", "find them: `recall` with a `query`"),
        (Hint.of("map"), "cairn map", "`core_files` with action=suggest"),
        (Hint("name a folder", "index", project=None), "name a folder: cairn index -C FOLDER", None),
        (Hint("ask again later"), "ask again later", "ask again later"),
    ],
)
def test_a_hint_is_a_command_in_a_terminal_and_a_tool_for_an_agent(hint: Hint, command: str, tool: str | None) -> None:
    assert (hint, hint.for_tools) == (command, tool or command)


def test_a_path_with_spaces_is_one_argument_of_the_command() -> None:
    assert Hint.of("outline", file="src/a b.py") == "cairn outline 'src/a b.py'"


def test_what_happened_is_told_before_the_words_of_a_hint() -> None:
    assert Hint("free some space, then run", "index").after("it is full") == (
        "it is full; free some space, then run: cairn index"
    )
    assert Hint.of("index").after("it is gone") == "it is gone: cairn index"


@pytest.mark.parametrize("hint", [Hint("find it", "search", query="a", limit=3), Hint("ask again later")])
def test_a_hint_survives_json_and_pickle(hint: Hint) -> None:
    for copy in (Hint.from_dict(json.loads(json.dumps(hint.to_dict()))), pickle.loads(pickle.dumps(hint))):
        assert (copy, copy.words, copy.action, copy.arguments) == (hint, hint.words, hint.action, hint.arguments)


def test_an_error_of_another_process_keeps_its_hint_as_data() -> None:
    error = NotFoundError("it is gone", Hint("search again", "search", query=None))
    told = error_from_dict(json.loads(json.dumps(error.to_dict())))
    assert type(told) is NotFoundError
    assert (str(told), told.hint, told.hint.action) == (str(error), "search again: cairn search QUERY", "search")


def test_a_plain_text_is_a_hint_without_an_action() -> None:
    assert hint_of("ask again later").action == ""


def test_one_place_shows_a_hint_as_each_surface_has_it() -> None:
    hint = Hint("to take it as prose", "search", query=None, mode="hybrid")
    assert show(hint, "commands") == "to take it as prose: cairn search QUERY --mode hybrid"
    assert show(hint, "tools") == "to take it as prose: `search` with mode=hybrid and a `query`"
    assert show("Nothing to do.", "tools") == "Nothing to do."
    shown = show_notes({"code": [], "notes": [hint, "Nothing to do."]}, "tools")
    assert shown["notes"] == [show(hint, "tools"), "Nothing to do."]
    assert show_notes([1], "tools") == [1]


# A surface may name commands where they are about itself; `hints` is where they are made.
SURFACES = ("cli", "hooks", "__main__.py", "hints.py")
OTHER_PROGRAMS = ("command_rules.py", "background.py")  # whose flags they know; the second starts this one
# What a command makes for a person to read in an editor, and a question to an agent that calls this program so.
NO_HINTS = ("# The files to know first", "Call `index_status` of cairn")


def _strings(path: Path) -> Iterator[str]:
    """Yield the literal strings of a module, without its docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_below_the_surfaces_no_text_names_a_command_or_a_flag() -> None:
    root = Path(cairn.__file__).parent
    named = [
        f"{path.relative_to(root)}: {text}"
        for path in sorted(root.rglob("*.py"))
        if path.relative_to(root).parts[0] not in SURFACES and path.name not in OTHER_PROGRAMS
        for text in _strings(path)
        if re.search(r"\bcairn [a-z]+ ?|(?: |^)--[a-z]+ |(?: |^)-C\b|(?<=[a-z] )--[a-z]+$", text)
        and not text.startswith(NO_HINTS)
        and not re.search(r"\bgit\b| rm -r|Ctrl-C|safe.directory", text)
    ]
    assert named == []
