"""Hooks that another program runs than the one they were written for, and programs started in the shell of another."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.hooks.agents import adapter_of
from cairn.hooks.agents.cursor import Cursor
from cairn.hooks.hosts import host_of
from cairn.hooks.occasion import occasion_of
from hook_reports import read, report_of

# What other programs hand to the hooks of Claude Code, with what is in their environment beside CLAUDE_PROJECT_DIR.
HOSTS: list[tuple[str, dict[str, str], dict[str, Any]]] = [
    (
        "cursor",
        {"CURSOR_VERSION": "3.18.25", "CURSOR_PROJECT_DIR": "/repo"},
        {"conversation_id": "b6", "session_id": "b6", "cursor_version": "3.18.25", "workspace_roots": ["/repo"]},
    ),
    (
        "copilot-cli",
        {"COPILOT_CLI": "1", "COPILOT_PROJECT_DIR": "/repo"},
        {"session_id": "1a0e", "timestamp": "2026-11-20T20:54:34.434Z", "cwd": "/repo"},
    ),
    (
        "vscode",
        {},
        {"session_id": "s1", "timestamp": "2026-11-20T10:00:00.000Z", "transcript_path": "/t", "cwd": "/repo"},
    ),
    ("devin", {"DEVIN_PROJECT_DIR": "/repo"}, {"session_id": "bramble", "prompt_id": "b7"}),
]
TOOL = {"tool_name": "Read", "tool_input": {"file_path": "/repo/a.py"}, "tool_use_id": "u1"}
SHELLS = [
    {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "of-the-shell"},
    {"COPILOT_CLI": "1"},
    {"GEMINI_SESSION_ID": "of-the-shell"},
    {"OPENCODE": "1"},
]


@pytest.mark.parametrize(("host", "environment", "payload"), HOSTS)
@pytest.mark.parametrize("shell", [{}, {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "of-the-shell"}])
@pytest.mark.parametrize(
    ("event", "name", "more"),
    [
        ("session-start", "SessionStart", {"source": "startup"}),
        ("prompt", "UserPromptSubmit", {"prompt": "fix it"}),
        ("before-tool", "PreToolUse", TOOL),
        ("after-tool", "PostToolUse", {**TOOL, "tool_response": {"type": "text"}}),
    ],
)
def test_a_hook_of_claude_code_that_another_program_runs_does_nothing(
    host: str,
    environment: dict[str, str],
    payload: dict[str, Any],
    shell: dict[str, str],
    event: str,
    name: str,
    more: dict[str, Any],
) -> None:
    environment = {"CLAUDE_PROJECT_DIR": "/repo", **shell, **environment}
    report = report_of("claude-code", event, {**payload, "hook_event_name": name, **more}, environment)
    assert host_of(report) == host
    assert adapter_of("claude-code").read(report) is None


@pytest.mark.parametrize("shell", SHELLS)
def test_claude_code_is_known_in_the_shell_of_another(shell: dict[str, str]) -> None:
    environment = {**shell, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "40c3", "CLAUDE_PROJECT_DIR": "/repo"}
    payload = {"session_id": "40c3", "cwd": "/repo", "hook_event_name": "UserPromptSubmit", "prompt": "fix it"}
    assert read(adapter_of("claude-code"), "prompt", payload, **environment).session == "claude-code:40c3"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("agent", "payload", "environment"),
    [
        ("cursor", {"conversation_id": "own", "cursor_version": "3.18.25"}, {}),
        ("gemini-cli", {"session_id": "own"}, {"GEMINI_SESSION_ID": "own"}),
        ("devin", {"session_id": "own"}, {"DEVIN_PROJECT_DIR": "/repo"}),
        ("opencode", {"session_id": "own"}, {"OPENCODE": "1"}),
        ("copilot-cli", {"session_id": "own"}, {"COPILOT_CLI": "1"}),
    ],
)
def test_an_agent_is_itself_in_the_shell_of_another(
    agent: str, payload: dict[str, Any], environment: dict[str, str], shell: dict[str, str]
) -> None:
    happening = read(adapter_of(agent), "prompt", {**payload, "prompt": "fix it"}, **{**shell, **environment})
    assert happening.session == f"{agent}:own"


def test_the_start_that_goes_with_the_first_event_of_a_conversation_does_not_hide_what_the_tool_did() -> None:
    payload = {
        "conversation_id": "c9",
        "hook_event_name": "postToolUse",
        "tool_name": "Shell",
        "tool_input": {"command": "rg needle"},
        "tool_output": '{"output":"a.py:3","exitCode":0}',
        "workspace_roots": ["/repo"],
    }
    happening = read(Cursor(), "after-tool", payload)
    assert happening.use is not None
    occasion = occasion_of(happening, happening.use, ["context"], "/repo", now=0.0, is_over=True)
    assert (occasion.target, occasion.output) == ("rg needle", "a.py:3")
