"""The examples in the help of each command are run on the project of the documentation."""

from __future__ import annotations

import argparse
import contextlib
import io
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.cli.commands import build_parser
from cairn.cli.examples import EXAMPLES
from cairn.cli.main import main
from cairn.cli.parser import in_order

PROJECT = Path(__file__).parent / "project"
# What starts a process that stays, or changes the files of the user's agents; these are only parsed.
_NOT_RUN = (
    *("cairn daemon", "cairn hook", "cairn init", "cairn install", "cairn mcp", "cairn uninstall"),
    *("cairn optimize apply", "cairn optimize check", "cairn optimize rollback"),  # of a version that has to be there
    *("cairn login", "cairn logout"),  # need a server; tests/e2e/test_login_commands.py has one
    *("cairn memories join", "cairn memories sync"),  # too; tests/e2e/test_team_memory_commands.py
    "cairn team",  # needs a database; tests/e2e/test_team_commands.py has one
)
_OF_NOBODY = ("m_0123456789", "0b71cd1e")  # ids that stand for any
_ALL = list(dict.fromkeys(example for shown in EXAMPLES.values() for example in shown))
_RUN = [example for example in _ALL if not example.startswith(_NOT_RUN) and "--watch" not in example]


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its commands and their actions."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from parsers(inner)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, with the files that examples name."""
    folder = tmp_path_factory.mktemp("examples") / "shop"
    shutil.copytree(PROJECT, folder)
    (folder / "notes.md").write_text("Totals are in cents.\n")
    (folder / "snippet.py").write_text("cents = 0\nfor item in items:\n    cents += item.cents * item.quantity\n")
    (folder / "ids.txt").write_text("src/shop/cart.py#total\n")
    (folder / "questions.jsonl").write_text('{"query": "total", "files": ["src/shop/cart.py"]}\n')
    for scores in ("grep.json", "cairn.json"):
        (folder / scores).write_text('{"scores": [{"query": "total", "ndcg": 1.0}]}')
    return folder


@pytest.fixture(scope="module")
def outcomes(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """The exit code of each example with what it says; all of them run in this process, one after the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(shop)
        for name in ("STATE", "CONFIG", "CACHE"):
            patch.setenv(f"XDG_{name}_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("CAIRN_DAEMON", "0")
        for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
            patch.setenv(name, "/dev/null")
        for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
            patch.setenv(f"{name}_NAME", "A")
            patch.setenv(f"{name}_EMAIL", "a@example.org")
        _commit(shop)
        found = {example: _run(example) for example in _RUN}
        _run("cairn daemon stop")  # which `cairn ui` started
        return found


def _commit(folder: Path) -> None:
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Open the shop"], ["tag", "v2.1"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


def _run(example: str) -> tuple[int, str]:
    command, _, file = example.partition(" < ")
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.ExitStack() as stack:
        if file:
            stdin = stack.enter_context(open(file, encoding="utf-8"))
            stack.enter_context(pytest.MonkeyPatch.context()).setattr(sys, "stdin", stdin)
        stack.enter_context(contextlib.redirect_stdout(said))
        stack.enter_context(contextlib.redirect_stderr(said))
        try:
            code = main(shlex.split(command)[1:])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, said.buffer.getvalue().decode()


@pytest.mark.parametrize("example", _RUN)
def test_an_example_of_the_help_works(example: str, outcomes: dict[str, tuple[int, str]]) -> None:
    code, said = outcomes[example]
    assert code in (0, 1), said
    assert not said.startswith("error") or any(name in example for name in _OF_NOBODY), said


@pytest.mark.parametrize("example", sorted(set(_ALL) - set(_RUN)))
def test_an_example_of_the_help_that_is_not_run_is_understood(example: str) -> None:
    assert callable(build_parser().parse_args(in_order(shlex.split(example)[1:])).run)


@pytest.mark.parametrize(("page", "least"), [("team.md", 10), ("team-operation.md", 3)])
def test_every_command_of_the_pages_about_teams_is_understood(page: str, least: int) -> None:
    text = (Path(__file__).parents[2] / "docs" / page).read_text()
    commands = [line for line in text.splitlines() if line.startswith("cairn ")]
    assert len(commands) >= least
    for command in commands:
        assert callable(build_parser().parse_args(in_order(shlex.split(command)[1:])).run)


def test_every_help_ends_with_examples_of_its_command() -> None:
    for parser in parsers(build_parser()):
        assert parser.prog in EXAMPLES
        assert "\nexamples:\n  cairn " in parser.format_help()
        assert all(parser.prog in example or parser.prog == "cairn" for example in EXAMPLES[parser.prog])
