from __future__ import annotations

import json
import pickle

import pytest

from cairn.errors import NotFoundError, error_from_dict
from cairn.hints import Hint, hint_of


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
        (Hint.of("callers", symbol="a"), "cairn callers a", "`graph` with relation=callers, symbol='a'"),
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
