"""Devin: payloads as captured of its program for terminals, 3000.6.14."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cairn.hooks.adapter import FileEntry, Item, Level, Place
from cairn.hooks.agents.devin import ADAPTER
from cairn.hooks.report import Reply, ToolUse
from hook_reports import check_nested, fields, read, report_of, said

COMMON = {"session_id": "bramble-scorpion", "prompt_id": "b71e9d40"}
GREP = {
    **COMMON,
    "hook_event_name": "PostToolUse",
    "tool_name": "grep",
    "tool_input": {"pattern": "needle", "glob_pattern": "*.py"},
    "tool_use_id": "functions.grep:0",
    "tool_response": {"success": True, "output": "a.py:3", "error": None},
}
EVENTS = [
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "UserPromptSubmit",
    "Stop",
    "SessionStart",
    "SessionEnd",
    "PostCompaction",
]


def test_a_search_is_read_in_the_folder_that_the_environment_names() -> None:
    happening = read(ADAPTER, "after-tool", GREP, DEVIN_PROJECT_DIR="/repo/x")
    call = happening.moments[0].call
    assert (happening.session, happening.folder) == ("devin:bramble-scorpion", "/repo/x")
    assert happening.use == ToolUse("search", "grep", pattern="needle", globs=("*.py",), id="b71e9d40/functions.grep:0")
    assert call is not None
    assert (call.outcome, call.output) == ("ok", "a.py:3")


def test_a_call_is_told_from_one_of_the_same_id_after_another_prompt() -> None:
    first, again = (read(ADAPTER, "after-tool", GREP).moments[0].id for _ in range(2))
    other = read(ADAPTER, "after-tool", {**GREP, "prompt_id": "c"}).moments[0].id
    assert first == again != other


def test_a_command_that_failed_is_read_as_one() -> None:
    answer = {"success": False, "output": "", "error": "no rule to make it"}
    payload = {**GREP, "tool_name": "exec", "tool_input": {"command": "make"}, "tool_response": answer}
    call = read(ADAPTER, "after-tool", payload).moments[0].call
    assert call is not None
    assert (call.tool, call.target, call.outcome, call.output) == ("shell", "make", "failed", "no rule to make it")


def test_a_prompt_is_read_with_its_id() -> None:
    moment = read(ADAPTER, "prompt", {**COMMON, "hook_event_name": "UserPromptSubmit", "prompt": "fix it"}).moments[0]
    assert (moment.id, moment.text) == ("b71e9d40", "fix it")


@pytest.mark.parametrize("event", list(ADAPTER.events))
def test_an_answer_is_of_the_form_that_the_event_takes(event: str) -> None:
    report = report_of("devin", event, COMMON)
    abilities = ADAPTER.takes(report)
    assert ADAPTER.answer(report, Reply()) == ""
    if "context" in abilities:
        text = ADAPTER.answer(report, Reply("know this"))
        assert (
            check_nested(text, ADAPTER.events[event][0], {"additionalContext": str})["additionalContext"] == "know this"
        )
    if "denial" in abilities:
        document = fields(said(ADAPTER.answer(report, Reply(denial="no"))), {"decision": str, "reason": str})
        assert document == {"decision": "block", "reason": "no"}


@pytest.mark.parametrize(
    ("level", "hooks", "above", "servers"),
    [
        ("project", "repo/.devin/hooks.v1.json", (), "repo/.devin/mcp_config.json"),
        ("user", "home/.config/devin/config.json", ("hooks",), "home/.config/devin/mcp_config.json"),
    ],
)
def test_the_events_of_a_project_stand_at_the_top_of_their_file(
    level: Level, hooks: str, above: tuple[str, ...], servers: str, tmp_path: Path
) -> None:
    changes = ADAPTER.changes(Place(level, tmp_path / "repo", tmp_path / "home", {}))
    items = [change for change in changes if isinstance(change, Item)]
    assert {change.path for change in items} == {(*above, name) for (name,) in ADAPTER.events.values()}
    for change in items:
        assert change.file == tmp_path / hooks
        assert change.path[-1] in EVENTS
        entry = fields(change.value, {"matcher": str, "hooks": list}, ("hooks",))
        re.compile(entry.get("matcher", ""))
        fields(entry["hooks"][0], {"type": str, "command": str, "timeout": int}, ("type", "command"))
    (server,) = [change for change in changes if isinstance(change, FileEntry)]
    assert (server.file, server.path) == (tmp_path / servers, ("mcpServers", "cairn"))
