from __future__ import annotations

import argparse

import pytest

from cairn.cli.main import build_parser


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (action,) = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(action.choices)


@pytest.mark.parametrize("name", commands(build_parser()))
def test_a_command_is_the_same_whether_all_are_there_or_only_its_group(name: str) -> None:
    alone = commands(build_parser(name))
    assert len(alone) < len(commands(build_parser()))
    assert alone[name].format_help() == commands(build_parser())[name].format_help()


def test_an_unknown_command_is_refused_with_the_list_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        build_parser("serch").parse_args(["serch"])
    assert end.value.code == 2
    shown = capsys.readouterr().err
    assert all(name in shown for name in ("'search'", "'recall'", "'daemon'"))


@pytest.mark.parametrize("first", ["", "-h", "--help"])
def test_the_help_lists_every_command(first: str) -> None:
    assert build_parser(first).format_help() == build_parser().format_help()


def test_the_version_needs_no_command() -> None:
    assert commands(build_parser("--version")) == {}
