from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from cairn.cli.commands import build_parser
from cairn.cli.parser import in_order


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (action,) = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(action.choices)


@pytest.mark.parametrize("name", commands(build_parser()))
def test_a_command_is_the_same_whether_all_are_there_or_only_its_group(name: str) -> None:
    alone = commands(build_parser(name))
    assert len(alone) < len(commands(build_parser()))
    assert alone[name].format_help() == commands(build_parser())[name].format_help()


def parse(*arguments: str) -> argparse.Namespace:
    arranged = in_order(arguments)
    return build_parser(arranged[0] if arranged else "").parse_args(arranged)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Return the lines that say why a command line is wrong."""
    with pytest.raises(SystemExit) as end:
        parse(*arguments)
    assert end.value.code == 2
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("arguments", "query", "limit"),
    [
        (["search", "how are routes registered"], "how are routes registered", 10),
        (["search", "how", "are", "routes", "registered"], "how are routes registered", 10),
        (["search", "-n", "3", "how", "are", "routes"], "how are routes", 3),
        (["search", "how", "are", "-n", "3", "routes", "registered"], "how are routes registered", 3),
        (["search", "how", "--json", "are", "--", "--max-tokens", "-n"], "how are --max-tokens -n", 10),
        (["search", "--", "-x"], "-x", 10),
        (["search", ""], "", 10),
        (["recall", "how", "are", "-n", "3", "prices", "rounded"], "how are prices rounded", 3),
    ],
)
def test_words_without_quotes_are_one_query(arguments: list[str], query: str, limit: int) -> None:
    options = parse(*arguments)
    assert (options.query, options.limit) == (query, limit)


def test_tasks_and_memories_need_no_quotes_either() -> None:
    assert parse("context", "retry", "--file", "a.py", "the", "payment").task == "retry the payment"
    assert parse("context", "--file", "a.py").task == ""
    assert parse("remember", "totals", "round", "--type", "decision", "half", "even").text == "totals round half even"


@pytest.mark.parametrize(
    "arguments",
    [
        ["-C", "x", "--json", "search", "y"],
        ["-Cx", "--json", "search", "y"],
        ["--json", "search", "-C", "x", "y"],
        ["-C", "z", "search", "y", "--json", "-C", "x"],
    ],
)
def test_options_of_every_command_may_stand_in_front_of_it(arguments: list[str]) -> None:
    options = parse(*arguments)
    assert (options.project, options.json, options.query) == ("x", True, "y")


def test_options_in_front_of_a_command_reach_its_actions() -> None:
    for command in (["core", "list"], ["memories", "prune"], ["sessions", "show", "s"]):
        options = parse("-C", "x", "--json", *command)
        assert (options.project, options.json) == ("x", True)
    assert parse("-C", ".", "--color", "never", "--no-daemon", "--json", "daemon", "status").json
    assert not parse("daemon", "status").json


@pytest.mark.parametrize(
    ("arguments", "arranged"),
    [
        (["help"], ["--help"]),
        (["help", "core", "add"], ["core", "add", "--help"]),
        (["-C", "x", "help", "search"], ["search", "-C", "x", "--help"]),
        (["-C", "x", "--help"], ["--help"]),
        (["--version"], ["--version"]),
        (["-C"], []),
        ([], []),
    ],
)
def test_help_and_version_need_no_project(arguments: list[str], arranged: list[str]) -> None:
    assert in_order(arguments) == arranged


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serch", "x"], "unknown command 'serch'; did you mean 'search'?"),
        (["search", "x", "--lmit", "3"], "unknown option '--lmit'; did you mean '--limit'?"),
        (["--jsn", "search", "x"], "unknown option '--jsn'; did you mean '--json'?"),
        (["memories", "shwo"], "unknown action 'shwo'; did you mean 'show'?"),
        (["status", "x"], "unexpected argument 'x'"),
    ],
)
def test_a_mistyped_word_is_an_error_that_says_what_was_meant(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = refusal(capsys, *arguments)
    assert first == f"error: {message}"
    assert second.startswith("  try: cairn ")


def test_the_help_of_each_command_begins_with_what_it_does() -> None:
    for parser in commands(build_parser()).values():
        assert parser.description
        assert parser.description[0].isupper()
        assert parser.description.endswith(".")
    assert "byte for byte" in (commands(build_parser())["init"].description or "")


@pytest.mark.parametrize("words", [["--strictPort"], ["--strictPort", "of", "servers"], ["-n", "3", "--strictPort"]])
def test_an_option_that_is_asked_about_goes_behind_two_dashes(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert refusal(capsys, "search", *words) == [
        "error: unknown option '--strictPort'",
        "  try: cairn search -- --strictPort",
    ]
    assert refusal(capsys, "search", "-n", "3")[0].startswith("error: the following arguments are required")
    assert refusal(capsys, "config", "unset")[0] == "error: the following arguments are required: NAME"


def test_an_option_that_is_like_none_is_not_taken_for_another(capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = refusal(capsys, "savings", "--since", "monday")
    assert first == "error: unknown option '--since'"


def test_a_folder_behind_a_command_that_takes_none_is_told_where_it_goes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "a shop"
    folder.mkdir()
    assert refusal(capsys, "init", str(folder)) == [
        f"error: unexpected argument '{folder}'",
        f"  try: cairn init -C '{folder}'",
    ]


def test_a_mistyped_value_is_an_error_with_all_values(capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = refusal(capsys, "search", "x", "--mode", "litral")
    assert first.endswith(", structural, not 'litral'; did you mean 'literal'?")


def test_a_command_that_resembles_none_is_refused_with_the_list_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = refusal(capsys, "frobnicate")
    assert all(f" {name}," in first for name in ("search", "recall", "daemon"))


@pytest.mark.parametrize("first", ["", "-h", "--help"])
def test_the_help_lists_every_command(first: str) -> None:
    assert build_parser(first).format_help() == build_parser().format_help()


def test_the_version_needs_no_command() -> None:
    assert commands(build_parser("--version")) == {}
