"""Cascade, the agent of Windsurf: payloads as documented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cairn.hooks.adapter import FileEntry, Item, Level, Place, Whole
from cairn.hooks.agents.windsurf import ADAPTER
from cairn.hooks.report import Reply, ToolUse
from hook_reports import fields, read, report_of

COMMON = {"trajectory_id": "t1", "execution_id": "e1", "timestamp": "2026-11-20T10:00:00Z"}
EVENTS = (
    "pre_read_code post_read_code pre_write_code post_write_code pre_run_command post_run_command pre_mcp_tool_use "
    "post_mcp_tool_use pre_user_prompt post_cascade_response post_cascade_response_with_transcript post_setup_worktree"
)
DONE: list[tuple[str, dict[str, Any], ToolUse, str, str]] = [
    ("post_read_code", {"file_path": "/repo/a.py"}, ToolUse("read", "read_code", "/repo/a.py"), "/repo/a.py", "ok"),
    (
        "post_write_code",
        {"file_path": "/repo/a.py", "edits": [{"old_string": "1", "new_string": "2"}]},
        ToolUse("edit", "write_code", "/repo/a.py", edits=(("1", "2"),)),
        "/repo/a.py",
        "ok",
    ),
    (
        "post_run_command",
        {"command_line": "npm test", "cwd": "/repo/web"},
        ToolUse("shell", "run_command", "/repo/web", command="npm test"),
        "npm test",
        "",
    ),
    (
        "post_mcp_tool_use",
        {
            "mcp_server_name": "cairn",
            "mcp_tool_name": "search",
            "mcp_tool_arguments": {"query": "where"},
            "mcp_result": "there",
        },
        ToolUse("mcp", "search", pattern="where"),
        "where",
        "",
    ),
]


@pytest.mark.parametrize(("action", "info", "use", "target", "outcome"), DONE)
def test_what_cascade_did_is_read(action: str, info: dict[str, Any], use: ToolUse, target: str, outcome: str) -> None:
    happening = read(ADAPTER, "after-tool", {**COMMON, "agent_action_name": action, "tool_info": info})
    call = happening.moments[0].call
    assert (happening.session, happening.folder, happening.use) == ("windsurf:t1", "/repo", use)
    assert call is not None
    assert (call.target, call.outcome) == (target, outcome)


@pytest.mark.parametrize(
    ("event", "action", "info", "text"),
    [
        ("prompt", "pre_user_prompt", {"user_prompt": "fix it"}, "fix it"),
        ("turn-end", "post_cascade_response", {"response": "done"}, "done"),
    ],
)
def test_what_is_said_is_read(event: str, action: str, info: dict[str, Any], text: str) -> None:
    assert read(ADAPTER, event, {**COMMON, "agent_action_name": action, "tool_info": info}).moments[0].text == text


@pytest.mark.parametrize("event", list(ADAPTER.events))
def test_cascade_is_never_answered(event: str) -> None:
    report = report_of("windsurf", event, COMMON)
    assert ADAPTER.takes(report) == frozenset()
    assert ADAPTER.answer(report, Reply()) == ""


@pytest.mark.parametrize(
    ("level", "hooks", "servers"),
    [
        ("project", "repo/.windsurf/hooks.json", ["repo/.devin/mcp_config.json"]),
        (
            "user",
            "home/.codeium/windsurf/hooks.json",
            ["home/.codeium/windsurf/mcp_config.json", "home/.config/devin/mcp_config.json"],
        ),
    ],
)
def test_hooks_report_and_the_server_is_where_both_names_of_the_program_look(
    level: Level, hooks: str, servers: list[str], tmp_path: Path
) -> None:
    (tmp_path / "home/.config/devin").mkdir(parents=True)
    changes = ADAPTER.changes(Place(level, tmp_path / "repo", tmp_path / "home", {}))
    for change in (change for change in changes if isinstance(change, Item)):
        assert change.file == tmp_path / hooks
        assert change.path[1] in EVENTS.split()
        fields(change.value, {"command": str, "show_output": bool}, ("command",))
    assert [change.file for change in changes if isinstance(change, FileEntry)] == [tmp_path / file for file in servers]


def test_a_rule_tells_cascade_what_its_hooks_cannot(tmp_path: Path) -> None:
    changes = ADAPTER.changes(Place("project", tmp_path, tmp_path, {}))
    (rule,) = [change for change in changes if isinstance(change, Whole) and change.file.parent.name == "rules"]
    assert rule.text.startswith("---\ntrigger: always_on\n---\n")
    assert "cairn search" in rule.text
    assert len(rule.text) < 6_000
