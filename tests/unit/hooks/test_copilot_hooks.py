"""VS Code Copilot as documented in 2026-07 and seen in its source, and Copilot CLI as observed of 1.0.102."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cairn.hooks.adapter import FileEntry, Level, Place, Whole
from cairn.hooks.agents import copilot_cli, vscode
from cairn.hooks.copilot import Copilot
from cairn.hooks.report import Reply, ToolUse
from hook_reports import check_nested, fields, read, report_of, said

CLI, CODE = copilot_cli.ADAPTER, vscode.ADAPTER
IN_CLI = {"COPILOT_CLI": "1", "COPILOT_PROJECT_DIR": "/repo", "CLAUDE_PROJECT_DIR": "/repo"}
TOLD_BY_CLI = {"session_id": "1a0e7ae6", "timestamp": "2026-11-20T20:54:34.434Z", "cwd": "/repo"}
TOLD_BY_CODE = {
    "timestamp": "2026-11-20T10:00:00.000Z",
    "session_id": "s1",
    "transcript_path": "/home/u/t.json",
    "cwd": "/repo",
}
EDIT_IN_CLI = {
    **TOLD_BY_CLI,
    "hook_event_name": "PreToolUse",
    "tool_name": "Edit",
    "tool_input": {"path": "/repo/a.py", "old_str": "1", "new_str": "3"},
}
SHELL_IN_CLI = {
    **TOLD_BY_CLI,
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "echo hi; exit 3", "description": "run"},
    "tool_result": {"result_type": "success", "text_result_for_llm": "hi\n<shellId: 1 completed with exit code 3>"},
}
GREP_IN_CLI_OF_OLD = {
    "sessionId": "1a0e7ae6",
    "timestamp": 1795208070146,
    "cwd": "/repo",
    "toolName": "grep",
    "toolArgs": {"pattern": "needle"},
    "toolResult": {"resultType": "success", "textResultForLlm": "./a.py"},
}
READ_IN_CODE = {
    **TOLD_BY_CODE,
    "hook_event_name": "PreToolUse",
    "tool_name": "read_file",
    "tool_input": {"filePath": "/repo/a.py", "startLine": 1, "endLine": 40},
    "tool_use_id": "call_1",
}
NESTED = {
    "PreToolUse": {"permissionDecision": str, "permissionDecisionReason": str, "updatedInput": dict,
                   "additionalContext": str},
}  # fmt: skip
AT_THE_TOP = {"additionalContext": str, "permissionDecision": str, "permissionDecisionReason": str}


def test_an_edit_in_copilot_cli_is_read_by_its_own_keys() -> None:
    happening = read(CLI, "before-tool", EDIT_IN_CLI, **IN_CLI)
    assert (happening.session, happening.folder) == ("copilot-cli:1a0e7ae6", "/repo")
    assert happening.use == ToolUse("edit", "Edit", "/repo/a.py", edits=(("1", "3"),))


def test_a_command_in_copilot_cli_has_the_exit_code_that_its_text_names() -> None:
    call = read(CLI, "after-tool", SHELL_IN_CLI, **IN_CLI).moments[0].call
    assert call is not None
    assert (call.tool, call.outcome, call.exit_code, call.output) == ("shell", "failed", 3, "hi")


def test_the_other_spelling_of_copilot_cli_is_read_too() -> None:
    happening = read(CLI, "after-tool", GREP_IN_CLI_OF_OLD, **IN_CLI)
    call = happening.moments[0].call
    assert happening.session == "copilot-cli:1a0e7ae6"
    assert call is not None
    assert (call.tool, call.target, call.outcome, call.output) == ("search", "needle", "ok", "./a.py")


@pytest.mark.parametrize("environment", [{}, IN_CLI])
def test_a_hook_that_vs_code_runs_is_about_vs_code(environment: dict[str, str]) -> None:
    happening = read(CLI, "before-tool", READ_IN_CODE, **environment)
    assert happening.session == "vscode:s1"
    assert happening.moments[0].agent == "vscode"
    assert happening.moments[0].id == "call_1"
    assert happening.use == ToolUse("read", "read_file", "/repo/a.py", 1, 40, id="call_1")


def test_vs_code_is_read_in_the_spelling_of_its_documentation() -> None:
    payload = {"timestamp": "2026-11-20T10:00:00.000Z", "cwd": "/repo", "sessionId": "s1",
               "hookEventName": "SessionStart",
               "transcript_path": "/home/u/t.json", "source": "new"}  # fmt: skip
    happening = read(CODE, "session-start", payload)
    assert happening.session == "vscode:s1"
    assert happening.moments[0].details == {"source": "new"}


def test_what_vs_code_ran_ended_well_unless_its_text_says_otherwise() -> None:
    payload = {**READ_IN_CODE, "hook_event_name": "PostToolUse", "tool_response": "x = 1"}
    call = read(CODE, "after-tool", payload).moments[0].call
    assert call is not None
    assert (call.outcome, call.output) == ("ok", "x = 1")


def test_a_helper_of_vs_code_is_told_from_its_session() -> None:
    payload = {**TOLD_BY_CODE, "hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "Plan"}
    assert read(CODE, "subagent-start", payload).subagent == "a1"


def test_two_hooks_that_report_one_event_of_copilot_cli_give_it_one_id() -> None:
    first, second = (read(CLI, "after-tool", SHELL_IN_CLI, **IN_CLI) for _ in range(2))
    before = read(CLI, "before-tool", EDIT_IN_CLI, **IN_CLI)
    assert first.moments[0].id == second.moments[0].id != before.moments[0].id


@pytest.mark.parametrize("event", list(CLI.events))
def test_copilot_cli_is_answered_at_the_top(event: str) -> None:
    report = report_of("copilot-cli", event, TOLD_BY_CLI, IN_CLI)
    assert CLI.answer(report, Reply()) == ""
    abilities = CLI.takes(report)
    full = Reply("know this" if "context" in abilities else "", "no" if "denial" in abilities else "")
    if full == Reply():
        return
    document = fields(said(CLI.answer(report, full)), AT_THE_TOP)
    assert ("additionalContext" in document) == ("context" in abilities)
    assert document.get("permissionDecisionReason", "") == full.denial


@pytest.mark.parametrize("event", list(CODE.events))
def test_vs_code_is_answered_below_the_name_of_its_event(event: str) -> None:
    name = CODE.events[event][0]
    report = report_of("copilot-cli", event, {**TOLD_BY_CODE, "hook_event_name": name})
    abilities = CODE.takes(report)
    full = Reply("know this" if "context" in abilities else "", "no" if "denial" in abilities else "")
    inner = check_nested(CLI.answer(report, full), name, NESTED.get(name, {"additionalContext": str}))
    assert inner.get("additionalContext", "") == full.context
    assert CLI.answer(report, Reply()) == ""


@pytest.mark.parametrize("name", ["PostToolUseFailure", "postToolUseFailure"])
def test_nothing_is_said_to_a_failure(name: str) -> None:
    payload = {
        **TOLD_BY_CLI,
        "hook_event_name": name,
        "tool_name": "Bash",
        "tool_input": {"command": "x"},
        "error": "bad",
    }
    call = read(CLI, "after-tool", payload, **IN_CLI).moments[0].call
    assert call is not None
    assert call.outcome == "failed"
    assert CLI.takes(report_of("copilot-cli", "after-tool", payload, IN_CLI)) == frozenset()


def _hooks(adapter: Copilot, place: Place) -> Whole:
    (file,) = [change for change in adapter.changes(place) if change.file.name == "cairn.json"]
    assert isinstance(file, Whole)
    return file


def test_both_have_one_file_of_hooks_since_each_runs_all_that_it_finds(tmp_path: Path) -> None:
    place = Place("project", tmp_path / "repo", tmp_path / "home", {})
    file = _hooks(CLI, place)
    assert file == _hooks(CODE, place)
    assert file.file == tmp_path / "repo/.github/hooks/cairn.json"
    document = fields(json.loads(file.text), {"version": int, "hooks": dict}, ("version", "hooks"))
    for name, hooks in document["hooks"].items():
        assert name[0].isupper(), "VS Code takes one of two spellings of a name, Copilot CLI both"
        (hook,) = hooks
        fields(hook, {"type": str, "command": str, "powershell": str, "cwd": str, "timeout": int}, ("type", "command"))
        assert hook["powershell"].startswith("& 'cairn' hook ")
        assert hook["powershell"].endswith("; exit 0"), "Copilot CLI denies a tool whose hook fails"
    assert _hooks(CLI, place._replace(level="user")) == _hooks(CODE, place._replace(level="user"))


def test_a_colleague_without_cairn_is_not_hurt_by_the_hooks(tmp_path: Path) -> None:
    place = Place("project", tmp_path, tmp_path, {}, ("/nowhere/cairn",))
    command = json.loads(_hooks(CLI, place).text)["hooks"]["PreToolUse"][0]["command"]
    done = subprocess.run(["/bin/sh", "-c", command], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("adapter", "level", "file", "path", "value"),
    [
        (CODE, "project", "repo/.vscode/mcp.json", "servers", {"type": "stdio"}),
        (CLI, "project", "repo/.mcp.json", "mcpServers", {}),
        (CLI, "user", "copilot/mcp-config.json", "mcpServers", {"type": "local", "tools": ["*"]}),
    ],
)
def test_each_has_the_mcp_server_in_its_own_file(
    adapter: Copilot, level: Level, file: str, path: str, value: dict[str, Any], tmp_path: Path
) -> None:
    environment = {"COPILOT_HOME": str(tmp_path / "copilot")}
    changes = adapter.changes(Place(level, tmp_path / "repo", tmp_path / "home", environment))
    (server,) = [change for change in changes if isinstance(change, FileEntry)]
    assert (server.file, server.path) == (tmp_path / file, (path, "cairn"))
    assert server.value == {**value, "command": "cairn", "args": ["mcp"]}
