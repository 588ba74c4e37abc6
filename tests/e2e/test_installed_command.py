"""The installed command as a process: how it starts and ends, and what it does with terminals, pipes and bytes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cairn import __version__
from cairn.workspace import Workspace
from in_process import check_error, document
from installed import COMMAND, cairn
from terminal import run_on_terminal

CODE = 'def load_config(path):\n    """Read the settings file."""\n    return parse(path)\n'


@pytest.fixture
def project(checkout: Path) -> Path:
    """A repository with one file, not indexed yet."""
    (checkout / "config.py").write_text(CODE)
    return checkout


@pytest.fixture
def indexed(project: Path) -> Path:
    """A repository with one file, indexed."""
    with Workspace.open(project) as workspace:
        workspace.index()
    return project


def test_a_first_search_indexes_and_answers(project: Path) -> None:
    done = cairn("search", "load_config", cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith("config.py:1  function load_config  1-3  ")
    assert "    def load_config(path):\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", "load_config"], 0),
        (["search", "--mode", "literal", "no such text"], 1),
        (["--help"], 0),
        ([], 2),
        (["search", "x", "--nonsense"], 2),
        (["search", ""], 2),
    ],
)
def test_the_exit_codes_of_commands_are_those_of_the_process(indexed: Path, arguments: list[str], code: int) -> None:
    done = cairn(*arguments, cwd=indexed)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_the_same_with_and_without_the_parser(tmp_path: Path) -> None:
    alone, in_front = cairn("--version", cwd=tmp_path), cairn("--json", "--version", cwd=tmp_path)
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, f"cairn {__version__}\n", "")
    assert (in_front.returncode, in_front.stdout) == (0, alone.stdout)


def test_json_is_one_document_and_nothing_else_on_stdout(indexed: Path) -> None:
    assert document(cairn("search", "load_config", "--json", cwd=indexed))["code"]


def on_terminal(arguments: list[str], cwd: Path, environment: dict[str, str] | None = None) -> str:
    """Run the command with a terminal for stdout and return what it printed there."""
    code, shown = run_on_terminal([str(COMMAND), *arguments], cwd, environment=os.environ | (environment or {}))
    assert code == 0
    return shown


def test_a_terminal_gets_colour_and_a_pipe_does_not(indexed: Path) -> None:
    arguments = ["search", "load_config"]
    assert "\x1b[" in on_terminal(arguments, indexed, {"NO_COLOR": ""})
    assert "\x1b[" not in on_terminal(arguments, indexed, {"NO_COLOR": "1"})
    assert "\x1b[" not in cairn(*arguments, cwd=indexed).stdout


def test_names_of_files_go_into_a_pipe_as_they_are_and_to_a_terminal_as_they_are_safe(project: Path) -> None:
    names = [b"caf\xe9.py", b"\x1b[31m.py", "\u202egnp.py".encode(), "\xfc.py".encode(), b"new\nline.py"]
    for name in names:
        (project / os.fsdecode(name)).write_text("needle = '\u202e'\n")
    arguments = ["search", "needle", "--mode", "literal", "-l"]
    piped = subprocess.run([COMMAND, *arguments], cwd=project, capture_output=True, check=True).stdout
    assert sorted(piped.splitlines()) == sorted([*names[:-1], b"new\\x0aline.py"])
    shown = on_terminal(arguments, project).splitlines()
    assert sorted(shown) == sorted(["caf\\xe9.py", "\\x1b[31m.py", "\\u202egnp.py", "\xfc.py", "new\\x0aline.py"])
    assert "needle = '\\u202e'" in on_terminal(["search", "needle", "--mode", "literal", "--color=never"], project)
    code = subprocess.run([COMMAND, "fetch", "\xfc.py:1"], cwd=project, capture_output=True, check=True).stdout
    assert "needle = '\u202e'".encode() in code


def test_a_reader_that_stops_early_is_no_error(project: Path) -> None:
    (project / "many.py").write_text("".join(f"needle_{number} = 'needle'\n" for number in range(4_000)))
    with Workspace.open(project) as workspace:
        workspace.index()
    with subprocess.Popen(
        [COMMAND, "search", "needle", "--mode", "literal", "-n", "0"],
        cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        complaints = process.stderr.read()
    assert complaints == b""
    assert process.returncode == 0


def test_an_output_that_cannot_carry_every_letter_still_gets_all_lines(project: Path) -> None:
    (project / "letters.py").write_text("def größe():\n    return '→ 值'\n", encoding="utf-8")
    done = cairn("search", "größe", cwd=project, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "letters.py:1" in done.stdout


def test_names_beyond_ascii_are_read_whatever_the_locale(project: Path) -> None:
    (project / "größe.py").write_text("def größe():\n    return 1\n", encoding="utf-8")
    for arguments in (["search", "größe"], ["outline", "größe.py"], ["remember", "too large", "--file", "größe.py"]):
        done = cairn(*arguments, cwd=project, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
        assert done.returncode == 0, done.stderr
        assert "größe" in done.stdout


def test_a_folder_that_vanished_is_refused(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", f'rmdir "{gone}" && exec "{COMMAND}" index'], cwd=gone, capture_output=True, text=True, check=False
    )
    check_error(done, 2)


def test_a_query_of_any_bytes_is_answered(indexed: Path) -> None:
    for mode, query in (("auto", b"\xff\xfe"), ("literal", b"caf\xe9 loader"), ("hybrid", "🦀 caf\udce9")):
        done = cairn("search", "--mode", mode, query, cwd=indexed)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr


def test_code_is_read_from_stdin(indexed: Path) -> None:
    done = subprocess.run(
        [COMMAND, "similar", "-"], cwd=indexed, input=CODE, capture_output=True, text=True, check=True
    )
    assert "config.py" in done.stdout
