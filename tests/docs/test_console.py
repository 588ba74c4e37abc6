"""Every console block of the documentation is run on the project beside this file, and prints what the page shows.

A block holds lines that begin with `$ cairn`, each with its output below. In the output `…` stands for anything, on a
line of its own for any lines. Times differ from run to run and are not compared. Blocks that cannot be run here,
because they need an agent, a daemon or a network, are fenced as `text` or `sh`.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cairn.cli.commands import build_parser
from picture import PICTURE, make_project, take_picture

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "
_RUN_ALL = """
import json, sys
from every_command import run
print(json.dumps([run(tuple(command))[1] for command in json.load(sys.stdin)]))
"""
_VARYING = [
    (re.compile(r"\b\d+\.\d+ (s|ms|MB|GB)\b"), r"N \1"),
    (re.compile(r"\b[\d,]+ MB free\b"), "N MB free"),
    (re.compile(r'"took_ms": [\d.]+'), '"took_ms": N'),
]


@dataclass(frozen=True)
class Example:
    """One command of a page, and what the page says it prints."""

    page: str
    line: int
    command: str
    output: str


def examples(page: Path) -> Iterator[Example]:
    text = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        command, line, output = "", first, list[str]()
        for number, shown in enumerate(block[1].splitlines(), first):
            if not shown.startswith(_PROMPT):
                output.append(shown)
                continue
            if command:
                yield Example(page.name, line, command, "\n".join(output))
            command, line, output = shown.removeprefix(_PROMPT), number, []
        yield Example(page.name, line, command, "\n".join(output))


def steady(output: str) -> str:
    """Return output without what differs from run to run, and without spaces at the ends of lines."""
    for pattern, replacement in _VARYING:
        output = pattern.sub(replacement, output)
    return "\n".join(line.rstrip() for line in output.strip("\n").split("\n"))


def matches(shown: str, printed: str) -> bool:
    """Tell whether a page shows what was printed."""
    lines = (
        r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in steady(shown).split("\n")
    )
    return re.fullmatch("".join(lines), steady(printed) + "\n") is not None


EXAMPLES = [example for page in PAGES for example in examples(page)]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each command prints, notes and errors included; one process runs all of them, `cairn index` first."""
    folder = tmp_path_factory.mktemp("console")
    environment = make_project(folder / "shop", folder / "state")
    shutil.copy(Path(__file__).with_name("issue.md"), folder)
    commands = list(dict.fromkeys(["cairn index", *(example.command for example in EXAMPLES)]))
    done = subprocess.run(
        [sys.executable, "-P", "-c", _RUN_ALL],
        input=json.dumps([shlex.split(command)[1:] for command in commands]),
        cwd=folder / "shop",
        env=environment | {"PYTHONPATH": str(ROOT / "bench")},
        stdout=subprocess.PIPE,
        timeout=120,
        check=True,
        text=True,
    )
    return dict(zip(commands, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.page}:{example.line}")
def test_an_example_prints_what_its_page_shows(example: Example, printed: dict[str, str]) -> None:
    assert example.command.startswith("cairn "), "only cairn is run"
    output = printed[example.command]
    assert matches(example.output, output), f"{example.command} prints\n{output}"


def shell_commands(page: Path) -> Iterator[list[str]]:
    """Yield the arguments of each `cairn` command in the blocks of a page that are not run."""
    for block in _SHELL.finditer(page.read_text(encoding="utf-8")):
        for line in block[1].replace("\\\n", "").splitlines():
            for part in line.split(" | "):
                words = shlex.split(part, comments=True)
                if words and words[0].rpartition("/")[2] == "cairn":
                    yield words[1:]


def is_understood(arguments: list[str]) -> bool:
    try:
        build_parser().parse_args(arguments)
    except SystemExit as end:
        return end.code == 0  # as --version and --help end
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_not_run_are_understood(page: Path) -> None:
    assert [arguments for arguments in shell_commands(page) if not is_understood(arguments)] == []


def test_the_readme_and_the_first_pages_have_examples() -> None:
    pages = {example.page for example in EXAMPLES}
    assert {"README.md", "getting-started.md", "guide.md", "cli.md"} <= pages


def test_the_picture_shows_what_the_commands_print() -> None:
    assert PICTURE.read_text(encoding="utf-8") == take_picture(), "run: python bench/picture.py"


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a\n…\nd", "a\nb\nc\nd\n", True),
        ("a\n…", "a\nb\nc\n", True),
        ("a\n…\nd", "a\nb\nc\n", False),
        ("a … c", "a b c\n", True),
        ("a …", "b c\n", False),
        ("in 0.33 s", "in 1.25 s\n", True),
        ("12 files", "13 files\n", False),
    ],
)
def test_dots_stand_for_anything_and_times_are_not_compared(shown: str, printed: str, agree: bool) -> None:
    assert matches(shown, printed) is agree
