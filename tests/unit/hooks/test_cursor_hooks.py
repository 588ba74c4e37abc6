"""Cursor: payloads as documented and captured of 3.18.25 and of its program for terminals, 2026.09.18."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cairn.hooks.adapter import FileEntry, Item, Level, Place, Whole
from cairn.hooks.agents.cursor import Cursor
from cairn.hooks.report import Reply, ToolUse
from hook_reports import fields, read, report_of, said

COMMON: dict[str, Any] = {
    "conversation_id": "b60ae0c1",
    "generation_id": "d4b2603b",
    "model": "default",
    "cursor_version": "3.18.25",
    "workspace_roots": ["/repo"],
    "user_email": None,
    "transcript_path": None,
}
START = {**COMMON, "hook_event_name": "sessionStart", "session_id": "b60ae0c1", "is_background_agent": False,
         "composer_mode": "agent"}  # fmt: skip
SHELL = {
    **COMMON,
    "hook_event_name": "postToolUse",
    "tool_name": "Shell",
    "tool_input": {"command": "pwd", "cwd": "", "timeout": 30000},
    "tool_output": '{"output":"/repo\\n","exitCode":0}',
    "duration": 52.7,
    "tool_use_id": "25c45009\nfc_1",
    "cwd": "",
    "session_id": "b60ae0c1",
}
GREP = {
    **COMMON,
    "hook_event_name": "preToolUse",
    "tool_name": "Grep",
    "tool_input": {
        "pattern": "needle",
        "file_path": "/repo",
        "glob": "**/*.py",
        "output_mode": "files_with_matches",
    },
    "tool_use_id": "call-1\nfc_2",
}
READ = {
    **COMMON,
    "hook_event_name": "postToolUse",
    "tool_name": "Read",
    "tool_input": {"file_path": "/repo/a.py"},
    "tool_output": '{"file_path":"/repo/a.py","content_length":4000}',
    "tool_use_id": "call-2",
}
FAILED = {
    **COMMON,
    "hook_event_name": "postToolUseFailure",
    "tool_name": "MCP:jira_get_issue",
    "tool_input": {},
    "error_message": "401",
    "failure_type": "permission_denied",
    "tool_use_id": "call-3",
    "duration": 3,
    "is_interrupt": False,
}
# What the documentation accepts.
ACCEPTED: dict[str, dict[str, type]] = {
    "sessionStart": {"env": dict, "additional_context": str},
    "beforeSubmitPrompt": {"continue": bool, "user_message": str},
    "preToolUse": {"permission": str, "user_message": str, "agent_message": str, "updated_input": dict},
    "postToolUse": {"additional_context": str, "updated_mcp_tool_output": dict},
    "subagentStart": {"permission": str, "user_message": str},
    "subagentStop": {"followup_message": str},
    "preCompact": {"user_message": str},
}
EVENTS = (
    "sessionStart sessionEnd preToolUse postToolUse postToolUseFailure subagentStart subagentStop beforeShellExecution "
    "afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit beforeSubmitPrompt "
    "preCompact stop afterAgentResponse afterAgentThought beforeTabFileRead afterTabFileEdit workspaceOpen"
)


@pytest.fixture
def cursor() -> Cursor:
    return Cursor()


def test_a_command_is_read_with_what_it_printed(cursor: Cursor) -> None:
    happening = read(cursor, "after-tool", SHELL)
    call = happening.moments[-1].call
    assert (happening.session, happening.folder) == ("cursor:b60ae0c1", "/repo")
    assert happening.moments[-1].id == "25c45009\nfc_1"
    assert call is not None
    assert (call.tool, call.target, call.outcome, call.exit_code) == ("shell", "pwd", "ok", 0)
    assert (call.output, call.duration_ms) == ("/repo\n", 52)


def test_a_search_is_read_with_its_root_and_its_files(cursor: Cursor) -> None:
    use = read(cursor, "before-tool", GREP).use
    assert use == ToolUse("search", "Grep", "/repo", pattern="needle", globs=("**/*.py",), id="call-1\nfc_2")


def test_of_a_read_the_length_is_known_though_not_the_text(cursor: Cursor) -> None:
    call = read(cursor, "after-tool", READ).moments[-1].call
    assert call is not None
    assert (call.target, call.outcome, call.output_bytes) == ("/repo/a.py", "ok", 4000)


def test_a_failure_is_read_and_nothing_is_said_to_it(cursor: Cursor) -> None:
    report = report_of("cursor", "after-tool", FAILED)
    call = read(cursor, "after-tool", FAILED).moments[-1].call
    assert call is not None
    assert (call.tool, call.outcome, call.output) == ("mcp", "denied", "401")
    assert cursor.takes(report) == frozenset()


@pytest.mark.parametrize(
    ("event", "payload", "text"),
    [
        ("prompt", {"hook_event_name": "beforeSubmitPrompt", "prompt": "fix it", "attachments": []}, "fix it"),
        ("turn-end", {"hook_event_name": "afterAgentResponse", "text": "done"}, "done"),
        ("session-end", {"hook_event_name": "sessionEnd", "reason": "completed", "duration_ms": 4}, ""),
        ("before-compaction", {"hook_event_name": "preCompact", "trigger": "auto"}, ""),
    ],
)
def test_other_events_are_read_with_their_text(cursor: Cursor, event: str, payload: dict[str, Any], text: str) -> None:
    assert read(cursor, event, {**COMMON, **payload}).moments[-1].text == text


def test_a_helper_is_told_from_its_session(cursor: Cursor) -> None:
    payload = {**COMMON, "hook_event_name": "subagentStart", "subagent_id": "s1", "subagent_type": "explore"}
    happening = read(cursor, "subagent-start", payload)
    assert happening.subagent == happening.moments[-1].details["subagent"] == "s1"


def test_what_is_heard_first_of_a_conversation_is_its_start_too_if_none_was_reported(cursor: Cursor) -> None:
    before = read(cursor, "before-tool", GREP)
    first, second = read(cursor, "after-tool", SHELL), read(cursor, "after-tool", READ)
    assert [moment.event for moment in before.moments] == ["before-tool"], "nothing could be shown there"
    assert [moment.event for moment in first.moments] == ["session-start", "after-tool"]
    assert first.moments[0].call is None
    assert [moment.event for moment in second.moments] == ["after-tool"]


def test_a_start_that_is_reported_is_not_told_twice(cursor: Cursor) -> None:
    assert len(read(cursor, "session-start", START).moments) == 1
    assert len(read(cursor, "after-tool", SHELL).moments) == 1


def test_what_a_prompt_calls_for_comes_with_the_first_tool_after_it(cursor: Cursor) -> None:
    read(cursor, "session-start", START)
    asked = read(cursor, "prompt", {**COMMON, "hook_event_name": "beforeSubmitPrompt", "prompt": "fix it"})
    before, first, second = (read(cursor, *done) for done in (("before-tool", GREP), *[("after-tool", SHELL)] * 2))
    assert [moment.event for moment in before.moments] == ["before-tool"]
    assert [moment.event for moment in first.moments] == ["prompt", "after-tool"]
    assert first.moments[0] == asked.moments[0]
    assert [moment.event for moment in second.moments] == ["after-tool"]


def test_a_call_that_is_reported_twice_has_one_id(cursor: Cursor) -> None:
    first, second = (read(cursor, "before-tool", GREP) for _ in range(2))
    assert first.moments[0].id == second.moments[0].id == "call-1\nfc_2"
    assert first.use is not None
    assert first.use.id == "call-1\nfc_2"


@pytest.mark.parametrize("name", ["sessionStart", "preToolUse", "postToolUse", "beforeSubmitPrompt", "subagentStart"])
def test_an_answer_is_one_object_of_fields_that_cursor_knows(cursor: Cursor, name: str) -> None:
    event = next(event for event, names in cursor.events.items() if name in names)
    report = report_of("cursor", event, {**COMMON, "hook_event_name": name, "tool_use_id": name})
    abilities = cursor.takes(report)
    full = Reply("know this" if "context" in abilities else "", "no" if "denial" in abilities else "")
    document = fields(said(cursor.answer(report, full)), ACCEPTED[name])
    assert ("know this" in document.values()) == ("context" in abilities)
    assert (document.get("permission") == "deny") == ("denial" in abilities)
    assert cursor.answer(report, Reply()) == "{}"


@pytest.mark.parametrize("level", ["project", "user"])
def test_the_file_of_hooks_is_one_that_cursor_does_not_drop(cursor: Cursor, level: Level, tmp_path: Path) -> None:
    place = Place(level, tmp_path / "repo", tmp_path / "home", {}, ("/opt//bin/cairn",))
    changes = cursor.changes(place)
    base = tmp_path / ("repo" if level == "project" else "home")
    hooks = [change for change in changes if isinstance(change, Item)]
    assert {change.path[1] for change in hooks} == {name for names in cursor.events.values() for name in names}
    for change in hooks:
        assert change.file == base / ".cursor" / "hooks.json"
        assert change.path[1] in EVENTS.split()
        fields(change.value, {"command": str, "timeout": int, "matcher": str}, ("command",))
        assert "//" not in json.dumps(change.value)
        re.compile(change.value.get("matcher", ""))
    entries = [change for change in changes if isinstance(change, FileEntry)]
    assert (entries[0].path, entries[0].value, entries[0].is_default) == (("version",), 1, True)
    assert entries[1].file == base / ".cursor" / "mcp.json"
    assert entries[1].value == {"type": "stdio", "command": "/opt//bin/cairn", "args": ["mcp"]}
    assert [change.file for change in changes if isinstance(change, Whole)] == [base / ".agents/skills/cairn/SKILL.md"]
