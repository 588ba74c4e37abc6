from __future__ import annotations

from pathlib import Path

import pytest

from cairn.hooks.shell import MAX_CHARS, understand_command
from cairn.hooks.shell_programs import FileRead, Search

_DATA = Path(__file__).parent / "shell_commands.txt"
_CONTROLS = str.maketrans({"␤": "\n", "␍": "\r", "␀": "\0"})
_HOSTILE = {
    "a megabyte": "rg " + "x" * 1_000_000,
    "quotes": "rg " + "'" * (MAX_CHARS - 10),
    "quotes within quotes": "rg " + "'\\''" * (MAX_CHARS // 4 - 1),
    "open parentheses": "(" * (MAX_CHARS - 1),
    "open braces and a second command": "rg " + "{" * (MAX_CHARS - 10) + "; rm x",
    "many lists": "rg x && " * (MAX_CHARS // 8 - 1) + "rm y",
    "many pipes": "rg x | " * (MAX_CHARS // 7 - 2) + "sh",
    "many commands": "rg x;" * (MAX_CHARS // 5),
    "substitutions within each other": 'rg "$(' * (MAX_CHARS // 6 - 1),
    "loops within each other": "for x in " * (MAX_CHARS // 9),
    "a null character": "cat a.py\0; rm a.py",
    "half a character": "cat \udcff.py",
    "an escape sequence": "cat \x1b[31m.py",
    "nothing": "  \n ",
}


def _commands() -> list[tuple[str, str, str]]:
    rows = [line.split("\t", 2) for line in _DATA.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [(decision, details, command.translate(_CONTROLS)) for decision, details, command in rows]


def _describe(found: Search | FileRead | None) -> tuple[str, str]:
    if found is None:
        return "alone", ""
    if isinstance(found, FileRead):
        offset = f" from {found.offset}" if found.offset else ""
        return "read", found.path + offset + (f" {found.limit} lines" if found.limit else "")
    if found.is_for_names:
        return "names", found.pattern
    paths = f" in {' '.join(found.paths)}" if found.paths else ""
    return "search", found.pattern + paths + (f" of {' '.join(found.globs)}" if found.globs else "")


def test_each_command_is_understood_as_a_person_would() -> None:
    wrong = {
        command: (found, (decision, details))
        for decision, details, command in _commands()
        if (found := _describe(understand_command(command))) != (decision, details)
    }
    assert wrong == {}
    assert len(_commands()) > 300


def test_no_command_with_an_effect_behind_it_is_taken_for_a_read() -> None:
    reads = [command for decision, _, command in _commands() if decision == "read"]
    effects = (
        " && rm x",
        "; rm x",
        " | tee x",
        " > x",
        " >> x",
        " &",
        "\nrm x",
        " || rm x",
        " $(rm x)",
        " `rm x`",
        " <(rm x)",
    )
    taken = [command + effect for command in reads for effect in effects if understand_command(command + effect)]
    assert taken == []


@pytest.mark.parametrize("command", _HOSTILE.values(), ids=_HOSTILE.keys())
def test_a_hostile_command_is_left_alone(command: str) -> None:
    assert understand_command(command) is None


def test_the_folder_that_a_command_enters_is_known() -> None:
    found = understand_command("cd a && cd b/c && rg foo")
    assert found is not None
    assert found.folder == "a/b/c"
    assert understand_command("git -C sub grep foo") == Search("foo", "basic", folder="sub")
    assert understand_command("cd /src && cat a.py") == FileRead("a.py", folder="/src")


def test_the_options_of_a_search_are_known() -> None:
    assert understand_command("rg -ilwF foo") == Search(
        "foo", "fixed", ignores_case=True, is_word=True, lists_files=True
    )
    assert understand_command("grep -rc foo . | head") == Search("foo", "basic", (".",), counts=True, is_piped=True)
    assert understand_command("grep -rnE 'a|b' .") == Search("a|b", "regex", (".",))
