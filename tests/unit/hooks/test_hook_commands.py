"""The commands that agents' files have, and which of them are known as Cairn's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cairn.hooks.adapter import Place
from cairn.hooks.commands import hook_command, is_ours, iter_commands, iter_ours, mcp_server, mentions_cairn
from cairn.hooks.texts import text_of


def place(*command: str) -> Place:
    return Place("project", Path("/repo"), Path("/home/u"), {}, command or ("cairn",))


@pytest.mark.parametrize("command", [("cairn",), ("/home/some one/bin/cairn",), ("/usr/bin/python3", "-m", "cairn")])
def test_what_is_written_is_known_as_ours(command: tuple[str, ...]) -> None:
    hook = hook_command(place(*command), "before-tool", "claude-code")

    assert is_ours({"matcher": "Read", "hooks": [{"type": "command", "command": hook, "timeout": 5}]})
    assert is_ours({"type": "stdio", **mcp_server(place(*command))})
    assert is_ours({"type": "local", "command": [*command, "mcp"]})  # as OpenCode has it
    assert is_ours({"type": "stdio", "cmd": command[0], "args": [*command[1:], "mcp"]})  # as Goose has it
    assert is_ours({"bash": hook, "timeoutSec": 5})
    assert mentions_cairn({"bash": hook})


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"command": "cairns hook stop"},
        {"command": "mycairn hook stop"},
        {"command": "scairn", "args": ["mcp"]},
        {"command": "cairn", "args": ["index"]},
        {"command": "echo cairn"},
        {"command": "cairn hook stop --agent codex; ./other"},
        {"command": "./other && cairn hook stop --agent codex"},
        {"command": "cairn hook stop --agent 'a b'"},
        {"command": "cairn hook stop --agent 'codex"},
        {"command": "sh", "args": ["-c", "cairn mcp"]},
        {"hooks": [{"command": "cairn hook stop --agent codex"}, {"command": "./check.sh"}]},
    ],
)
def test_what_others_write_is_not_ours(value: object) -> None:
    assert not is_ours(value)


def test_what_is_ours_is_found_beside_what_others_wrote() -> None:
    hook = {"command": "cairn hook stop --agent codex"}
    mixed = {"hooks": [{"command": "./a.sh"}, hook, {"hooks": [hook, hook]}, {**hook, "windows": "mine.cmd"}]}

    assert list(iter_ours({"matcher": "x", "hooks": [hook]})) == [()]
    assert list(iter_ours(mixed)) == [("hooks", 1), ("hooks", 2), ("hooks", 3, "command")]
    assert list(iter_ours({"hooks": [{"command": "./a.sh"}], "timeout": 3})) == []


def test_a_server_that_a_user_wrote_is_known_to_be_cairn_and_not_to_be_ours() -> None:
    value = {"command": "/opt/cairn", "args": ["-C", "/repo", "mcp"]}

    assert mentions_cairn(value)
    assert not is_ours(value)
    assert not mentions_cairn({"command": "cairn-stones", "args": ["mcp"]})
    for command in (r"C:\bin\cairn.exe hook stop", "cairn hook stop --agent 'codex", "'/some one/cairn' hook stop"):
        assert mentions_cairn({"command": command})


def test_a_missing_program_neither_fails_nor_speaks() -> None:
    command = hook_command(place("/nowhere/cairn"), "before-tool", "copilot-cli")

    ended = subprocess.run(["/bin/sh", "-c", command], input="{}", capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_commands_are_found_wherever_they_stand() -> None:
    document = {"hooks": {"Stop": [{"hooks": [{"command": "a b"}]}]}, "mcpServers": {"x": {"command": "c", "args": []}}}

    assert list(iter_commands(document)) == ["a b", ("c",)]


@pytest.mark.parametrize("name", ["skill.md", "block.md", "subagent.md"])
def test_the_texts_are_short_and_name_the_commands_for_agents_without_mcp(name: str) -> None:
    text = text_of(name)

    assert "cairn search" in text
    assert "cairn recall" in text
    assert len(text) < 2_600
