"""What agents' files say is tried as agents would: the commands are run as written, in the words of the agent."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cairn.hooks.adapter import Ability, Adapter, Change, FileEntry, Item, Place
from cairn.hooks.agents import adapter_of
from cairn.hooks.commands import hook_command, mcp_server
from cairn.hooks.report import Reply, Report
from cairn.install.selftest import SelfTest, SelfTestResult, payload_of

HOOK = """#!/bin/sh
[ "$1" = hook ] || exit 0
read -r payload
echo "$CURSOR_VERSION$payload" > "{folder}/seen"
printf '%s' '{answer}'
exit {code}
"""
SERVER = """#!{python}
import json, sys
if sys.argv[1] == "mcp":
    for line in sys.stdin:
        message = json.loads(line)
        result = {{"tools": [{{"name": "search"}}, {{"name": "fetch"}}]}} if message["method"] == "tools/list" else {{}}
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"""


class Speaker(Adapter):
    """Takes context at the start of a session, as JSON."""

    name = "speaker"
    title = "Speaker"
    events: ClassVar[Mapping[str, tuple[str, ...]]] = {"session-start": ("Start",)}
    abilities: ClassVar[Mapping[str, frozenset[Ability]]] = {"session-start": frozenset({"context"})}
    first_payload: ClassVar[Mapping[str, Any]] = {"id": "SESSION", "cwd": "FOLDER", "event": "Start"}

    def changes(self, place: Place) -> list[Change]:
        """Return a hook and a server."""
        hook = {"command": hook_command(place, "session-start", self.name)}
        return [
            Item(place.root / "hooks.json", "json", ("Start",), hook),
            FileEntry(place.root / "mcp.json", "json", ("servers", "cairn"), mcp_server(place)),
        ]

    def answer(self, report: Report, reply: Reply) -> str:
        """Return an object."""
        return json.dumps({"context": reply.context})


def program(folder: Path, text: str) -> None:
    file = folder / "bin" / "cairn"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


def tried(folder: Path, adapter: Adapter) -> dict[str, SelfTestResult]:
    place = Place(
        "project", folder, folder, {"PATH": f"{folder / 'bin'}{os.pathsep}/bin:/usr/bin", "CURSOR_VERSION": "3"}
    )
    for change in adapter.changes(place):
        assert isinstance(change, Item | FileEntry)
        value = [change.value] if isinstance(change, Item) else change.value
        for name in reversed(change.path):
            value = {name: value}
        change.file.write_text(json.dumps(value))
    return {result.part: result for result in SelfTest(place).try_agent(adapter)}


def hook(folder: Path, answer: str, code: int = 0) -> SelfTestResult:
    program(folder, HOOK.format(folder=folder, answer=answer, code=code))
    return tried(folder, Speaker())["hooks"]


def test_a_hook_that_answers_in_the_agents_words_works(tmp_path: Path) -> None:
    assert hook(tmp_path, '{"context": "Cairn answers."}').works
    seen = json.loads((tmp_path / "seen").read_text())  # and not that another agent runs this
    assert seen == {"id": "cairn-self-test", "cwd": str(tmp_path), "event": "Start"}


@pytest.mark.parametrize("answer", ["", "{}", '{"other": "x"}', "text", '{"context": 1}', '{"context"'])
def test_a_hook_that_does_not_is_named_with_what_to_do(tmp_path: Path, answer: str) -> None:
    result = hook(tmp_path, answer)

    assert not result.works
    assert result.hint


def test_a_hook_that_is_in_no_file_does_not_answer(tmp_path: Path) -> None:
    program(tmp_path, HOOK.format(folder=tmp_path, answer='{"context": "x"}', code=0))
    place = Place("project", tmp_path, tmp_path, {"PATH": f"{tmp_path / 'bin'}{os.pathsep}/bin:/usr/bin"})
    (tmp_path / "hooks.json").write_text('{"Start": null}')
    for adapter in (Speaker(), adapter_of("opencode")):  # one that names its hook in a file, and one with a plugin
        (result,) = SelfTest(place).try_agent(adapter)
        assert not result.works
        assert "lack Cairn's hook" in result.message
        assert result.hint
    assert not (tmp_path / "seen").exists()


def test_a_program_that_is_missing_is_named_though_the_command_says_nothing(tmp_path: Path) -> None:
    results = tried(tmp_path, Speaker())

    assert [result.message for result in results.values()] == ["`cairn` is not on your PATH"] * 2
    assert all(f"add {Path(sys.executable).parent} to your PATH" in result.hint for result in results.values())


def test_a_server_that_lists_its_tools_works(tmp_path: Path) -> None:
    program(tmp_path, SERVER.format(python=sys.executable))

    assert tried(tmp_path, Speaker())["mcp"] == SelfTestResult("speaker", "mcp", True, "the MCP server lists 2 tools")


@pytest.mark.parametrize("text", ["#!/bin/sh\n", "#!/bin/sh\necho no\n", "#!/bin/sh\nread -r line; echo '{}'\n"])
def test_a_server_that_does_not_is_named(tmp_path: Path, text: str) -> None:
    program(tmp_path, text)

    assert not tried(tmp_path, Speaker())["mcp"].works


@pytest.mark.parametrize(
    "command", ["./cairn hook session-start --agent speaker", "cairn hook session-start --agent speaker; ./x"]
)
def test_no_command_is_run_that_cairn_does_not_write(tmp_path: Path, command: str) -> None:
    for name in ("cairn", "x"):
        (tmp_path / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/run'\n")
        (tmp_path / name).chmod(0o755)
    program(tmp_path, "#!/bin/sh\n")

    class Hostile(Speaker):
        def changes(self, place: Place) -> list[Change]:
            return [
                Item(place.root / "hooks.json", "json", ("Start",), {"command": command}),
                FileEntry(
                    place.root / "mcp.json", "json", ("servers", "cairn"), {"command": "./cairn", "args": ["mcp"]}
                ),
            ]

    results = tried(tmp_path, Hostile())

    assert results["hooks"].message == "the files of Speaker lack Cairn's hook for session-start, or have another"
    assert results["mcp"].message == "the files of Speaker start the MCP server in their own way, so it was not tried"
    assert not (tmp_path / "run").exists()


def test_a_payload_names_the_folder_and_a_session_that_leaves_no_trace() -> None:
    assert json.loads(payload_of(Speaker(), 'a "b"')) == {"id": "cairn-self-test", "cwd": 'a "b"', "event": "Start"}
