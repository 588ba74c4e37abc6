"""Gemini CLI: payloads as observed of 0.61.0."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cairn.hooks.adapter import FileEntry, Item, Level, Place
from cairn.hooks.agents.gemini_cli import ADAPTER
from cairn.hooks.report import Reply, ToolUse
from hook_reports import check_nested, fields, read, report_of, said

COMMON = {
    "session_id": "678f50cd",
    "transcript_path": "/home/u/.gemini/tmp/repo/chats/s.jsonl",
    "cwd": "/repo",
    "timestamp": "2026-11-20T21:00:17.743Z",
}
READ = {
    **COMMON,
    "hook_event_name": "AfterTool",
    "tool_name": "read_file",
    "tool_input": {"file_path": "/repo/a.py"},
    "tool_response": {"llmContent": "x = 1\n", "returnDisplay": ""},
}
MCP = {
    **COMMON,
    "hook_event_name": "BeforeTool",
    "tool_name": "mcp_mytool_search",
    "tool_input": {"query": "x"},
    "mcp_context": {"server_name": "mytool", "tool_name": "search", "command": "mytool", "args": ["mcp"]},
}
SHELL = {
    **COMMON,
    "hook_event_name": "AfterTool",
    "tool_name": "run_shell_command",
    "tool_input": {"command": "pytest", "description": "run", "dir_path": "pkg"},
    "tool_response": {
        "llmContent": "<untrusted_context>\nOutput: F.\n1 failed\nExit Code: 1\nProcess Group PGID: 4711\n"
        "</untrusted_context>",
        "returnDisplay": "F.\n1 failed",
    },
}
EVENTS = (
    "SessionStart SessionEnd BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection BeforeTool AfterTool"
)


def test_a_read_is_read_with_what_the_model_saw() -> None:
    happening = read(ADAPTER, "after-tool", READ)
    call = happening.moments[0].call
    assert (happening.session, happening.folder) == ("gemini-cli:678f50cd", "/repo")
    assert happening.use == ToolUse("read", "read_file", "/repo/a.py")
    assert call is not None
    assert (call.target, call.outcome, call.output) == ("/repo/a.py", "ok", "x = 1\n")


def test_a_command_that_failed_has_its_exit_code() -> None:
    happening = read(ADAPTER, "after-tool", SHELL)
    call = happening.moments[0].call
    assert call is not None
    assert (call.target, call.outcome, call.exit_code, call.output) == ("pytest", "failed", 1, "F.\n1 failed")
    assert happening.use == ToolUse("shell", "run_shell_command", "pkg", command="pytest")


def test_a_tool_of_an_mcp_server_is_known_as_one() -> None:
    use = read(ADAPTER, "before-tool", MCP).use
    assert use == ToolUse("mcp", "mcp_mytool_search", pattern="x")


@pytest.mark.parametrize(
    "prompt",
    [
        "fix it",
        "<hook_context>1 &lt; 2</hook_context>\n\nfix it",
        "<hook_context>a</hook_context><hook_context>b\n</hook_context>\nfix it",
    ],
)
def test_what_hooks_put_before_a_prompt_is_not_what_the_user_said(prompt: str) -> None:
    payload = {**COMMON, "hook_event_name": "BeforeAgent", "prompt": prompt}
    assert read(ADAPTER, "prompt", payload).moments[0].text == "fix it"


def test_the_end_of_a_turn_has_what_the_agent_said() -> None:
    payload = {**COMMON, "hook_event_name": "AfterAgent", "prompt": "fix it", "prompt_response": "done",
               "stop_hook_active": False}  # fmt: skip
    assert read(ADAPTER, "turn-end", payload).moments[0].text == "done"


def test_two_hooks_that_report_one_event_give_it_one_id() -> None:
    first, second = (read(ADAPTER, "after-tool", READ) for _ in range(2))
    later = read(ADAPTER, "after-tool", {**READ, "timestamp": "2026-11-20T21:00:18.743Z"})
    assert first.moments[0].id == second.moments[0].id != later.moments[0].id


def test_the_session_is_known_from_the_environment_if_the_payload_does_not_name_it() -> None:
    payload = {"hook_event_name": "SessionStart", "source": "startup"}
    happening = read(
        ADAPTER, "session-start", payload, GEMINI_SESSION_ID="s9", GEMINI_PROJECT_DIR="/repo/x", CAIRN_FRESH="1"
    )
    assert (happening.session, happening.folder) == ("gemini-cli:s9", "/repo/x")
    assert happening.moments[0].details == {"source": "startup", "fresh": "1"}


@pytest.mark.parametrize("event", list(ADAPTER.events))
def test_an_answer_is_of_the_form_that_the_event_takes(event: str) -> None:
    report = report_of("gemini-cli", event, COMMON)
    abilities = ADAPTER.takes(report)
    assert ADAPTER.answer(report, Reply()) == "{}"
    if "context" in abilities:
        text = ADAPTER.answer(report, Reply("know <this>"))
        inner = check_nested(text, ADAPTER.events[event][0], {"additionalContext": str})
        assert inner["additionalContext"] == "know <this>"
    if "denial" in abilities:
        document = fields(said(ADAPTER.answer(report, Reply(denial="no"))), {"decision": str, "reason": str})
        assert document == {"decision": "deny", "reason": "no"}


def test_context_before_a_tool_which_it_ignores_is_not_offered() -> None:
    assert "context" not in ADAPTER.takes(report_of("gemini-cli", "before-tool", MCP))


@pytest.mark.parametrize("level", ["project", "user"])
def test_all_of_it_is_in_one_file_of_settings(level: Level, tmp_path: Path) -> None:
    changes = ADAPTER.changes(Place(level, tmp_path / "repo", tmp_path / "home", {}))
    file = tmp_path / ("repo" if level == "project" else "home") / ".gemini" / "settings.json"
    hooks = [change for change in changes if isinstance(change, Item)]
    assert {change.path for change in hooks} == {("hooks", name) for (name,) in ADAPTER.events.values()}
    for change in hooks:
        assert change.file == file
        assert change.path[1] in EVENTS.split()
        entry = fields(change.value, {"matcher": str, "hooks": list}, ("hooks",))
        re.compile(entry.get("matcher", ""))
        (hook,) = entry["hooks"]
        fields(hook, {"type": str, "name": str, "command": str, "timeout": int}, ("type", "command", "timeout"))
        assert hook["timeout"] >= 1_000, "it is in milliseconds"
    (server,) = [change for change in changes if isinstance(change, FileEntry)]
    assert (server.file, server.path) == (file, ("mcpServers", "cairn"))
    assert json.dumps(server.value) == '{"command": "cairn", "args": ["mcp"]}'
