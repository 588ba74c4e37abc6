"""What Claude Code and Codex send to hooks, as documented and captured, and what they are answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cairn.errors import RequestError
from cairn.hooks.agents import adapter_of
from cairn.hooks.report import Happening, Reply, ToolUse
from cairn.memory.moments import MAX_OUTPUT_CHARS
from hook_reports import read, report_of

CLAUDE, CODEX = adapter_of("claude-code"), adapter_of("codex")
PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-x = 1
+x = 2
*** Add File: src/b.py
+y = 1
*** Delete File: src/c.py
*** End Patch"""


def of_claude(name: str, event: str, **fields: Any) -> Happening:  # noqa: ANN401 - JSON
    common = {
        "session_id": "40c3b001",
        "transcript_path": "/home/u/.claude/projects/-repo/40c3b001.jsonl",
        "cwd": "/repo",
        "prompt_id": "489c94fd",
        "permission_mode": "default",
        "hook_event_name": name,
    }
    return read(CLAUDE, event, common | fields)


def of_codex(name: str, event: str, **fields: Any) -> Happening:  # noqa: ANN401 - JSON
    common = {"session_id": "0198aaaa", "turn_id": "0198bbbb", "transcript_path": None, "cwd": "/repo"}
    return read(CODEX, event, common | {"hook_event_name": name, "model": "gpt-5.5"} | fields)


# -- Claude Code -------------------------------------------------------------------------------------------------------


def test_claude_code_reports_a_command_before_and_after_it_runs() -> None:
    given = {"tool_name": "Bash", "tool_input": {"command": "grep -rn needle src"}, "tool_use_id": "toolu_01"}
    before = of_claude("PreToolUse", "before-tool", **given)
    assert before.use == ToolUse("shell", "Bash", command="grep -rn needle src", id="toolu_01")
    response = {"stdout": "a.py:1:needle\n", "stderr": "", "interrupted": False, "isImage": False}
    after = of_claude("PostToolUse", "after-tool", **given, tool_response=response, duration_ms=12)
    (moment,) = after.moments
    assert moment.id == "toolu_01"
    assert moment.call is not None
    assert (moment.call.target, moment.call.outcome, moment.call.duration_ms) == ("grep -rn needle src", "ok", 12)
    assert moment.call.output == "a.py:1:needle\n"


def test_claude_code_reports_a_read_with_its_lines() -> None:
    given = {"tool_name": "Read", "tool_input": {"file_path": "/repo/a.py", "offset": 10, "limit": 5}}
    happening = of_claude("PreToolUse", "before-tool", **given, tool_use_id="toolu_02")
    assert happening.use == ToolUse("read", "Read", "/repo/a.py", 10, 5, id="toolu_02")


def test_claude_code_reports_a_failure_with_what_it_printed() -> None:
    given = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_use_id": "toolu_03"}
    happening = of_claude("PostToolUseFailure", "after-tool", **given, error="Exit code 2\nboom", is_interrupt=False)
    call = happening.moments[0].call
    assert call is not None
    assert (call.outcome, call.exit_code, call.output) == ("failed", 2, "boom")


def test_what_a_person_stops_in_claude_code_has_not_failed() -> None:
    given = {"tool_name": "Bash", "tool_input": {"command": "sleep 9"}, "tool_use_id": "toolu_04"}
    happening = of_claude("PostToolUseFailure", "after-tool", **given, error="interrupted", is_interrupt=True)
    call = happening.moments[0].call
    assert call is not None
    assert call.outcome == "denied"


def test_a_helper_of_claude_code_is_told_from_its_session() -> None:
    started = of_claude("SubagentStart", "subagent-start", agent_id="a1", agent_type="Explore")
    reading = of_claude("PreToolUse", "before-tool", agent_id="a1", tool_name="Read", tool_use_id="t")
    assert (started.session, started.subagent) == ("claude-code:40c3b001", "a1")
    assert (reading.session, reading.subagent) == ("claude-code:40c3b001", "a1")
    assert started.moments[0].details["agent_type"] == "Explore"


@pytest.mark.parametrize(
    ("name", "event", "fields", "id"),
    [
        ("SessionStart", "session-start", {"source": "startup"}, "run-1"),
        ("SessionEnd", "session-end", {"reason": "other"}, "run-1"),
        ("PreCompact", "before-compaction", {"trigger": "auto"}, "run-1"),
        ("SubagentStop", "subagent-end", {"agent_id": "a1", "last_assistant_message": "found"}, "a1"),
    ],
)
def test_events_of_claude_code_have_its_ids_where_it_gives_any(
    name: str, event: str, fields: dict[str, str], id: str
) -> None:
    assert of_claude(name, event, **fields).moments[0].id == id


def test_two_ends_of_a_turn_of_claude_code_are_two_events() -> None:
    first, again, second = (
        of_claude("Stop", "turn-end", last_assistant_message=text).moments[0] for text in ("a", "a", "b")
    )
    assert first.id == again.id != second.id
    assert first.text == "a"


def test_the_session_of_an_event_without_a_payload_is_in_the_environment() -> None:
    happening = read(CLAUDE, "after-tool", {}, CLAUDE_CODE_SESSION_ID="40c3b001", CLAUDE_PROJECT_DIR="/repo/x")
    assert (happening.session, happening.folder) == ("claude-code:40c3b001", "/repo/x")
    with pytest.raises(RequestError, match="names no session"):
        CLAUDE.read(report_of("claude-code", "prompt", {}))


def test_what_a_tool_printed_is_bounded() -> None:
    response = {"stdout": "x" * 1_000_000}
    happening = of_claude(
        "PostToolUse", "after-tool", tool_name="Bash", tool_input={"command": "a"}, tool_response=response
    )
    call = happening.moments[0].call
    assert call is not None
    assert (len(call.output), call.output_bytes) == (MAX_OUTPUT_CHARS, 1_000_000)


def test_claude_code_is_answered_below_the_event_that_it_named() -> None:
    report = report_of("claude-code", "after-tool", {"hook_event_name": "PostToolUseFailure"})
    assert json.loads(CLAUDE.answer(report, Reply("note"))) == {
        "hookSpecificOutput": {"hookEventName": "PostToolUseFailure", "additionalContext": "note"}
    }


# -- Codex -------------------------------------------------------------------------------------------------------------


def test_codex_reports_a_command_and_what_it_printed() -> None:
    given = {"tool_name": "Bash", "tool_input": {"command": "rg needle"}, "tool_use_id": "exec-1"}
    happening = of_codex("PostToolUse", "after-tool", **given, tool_response="src/a.py:3:needle\n")
    call = happening.moments[0].call
    assert call is not None
    assert (call.tool, call.target, call.outcome, call.output) == ("shell", "rg needle", "", "src/a.py:3:needle\n")
    assert happening.session == "codex:0198aaaa"


def test_codex_says_in_its_text_that_a_command_failed() -> None:
    given = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_use_id": "exec-2"}
    happening = of_codex(
        "PostToolUse", "after-tool", **given, tool_response="Exit code: 1\nWall time: 1 seconds\nOutput:\n1 failed\n"
    )
    call = happening.moments[0].call
    assert call is not None
    assert (call.outcome, call.exit_code, call.output) == ("failed", 1, "1 failed\n")


def test_a_patch_of_codex_is_one_moment_for_each_file() -> None:
    given = {"tool_name": "apply_patch", "tool_input": {"command": PATCH}, "tool_use_id": "call-1"}
    happening = of_codex("PostToolUse", "after-tool", **given, tool_response="Success. Updated the following files:")
    calls = [moment.call for moment in happening.moments]
    assert [(call.tool, call.target) for call in calls if call] == [
        ("edit", "src/a.py"),
        ("write", "src/b.py"),
        ("delete", "src/c.py"),
    ]
    assert [moment.id for moment in happening.moments] == ["call-1", "call-1.1", "call-1.2"]
    assert happening.use is not None
    assert happening.use.edits == (("x = 1", "x = 2"),)


def test_a_turn_of_codex_counts_once_whether_a_hook_or_notify_reports_it() -> None:
    notice = {
        "type": "agent-turn-complete",
        "thread-id": "0198aaaa",
        "turn-id": "0198bbbb",
        "cwd": "/repo",
        "client": "codex-tui",
        "input-messages": ["mend the tax"],
        "last-assistant-message": "done",
    }
    noticed = read(CODEX, "turn-end", notice)
    hooked = [
        of_codex("UserPromptSubmit", "prompt", prompt="mend the tax").moments[0],
        of_codex("Stop", "turn-end", last_assistant_message="done", stop_hook_active=False).moments[0],
    ]
    assert [(moment.session, moment.event, moment.id, moment.text) for moment in noticed.moments] == [
        (moment.session, moment.event, moment.id, moment.text) for moment in hooked
    ]


@pytest.mark.parametrize(
    "payload", [{"type": "something-new"}, {"type": "agent-turn-complete", "input-messages": [None, 5]}]
)
def test_another_notice_of_codex_says_nothing_or_is_refused(payload: dict[str, Any]) -> None:
    report = report_of("codex", "turn-end", payload)
    if payload["type"] == "something-new":
        assert CODEX.read(report) is None
    else:
        with pytest.raises(RequestError, match="names no session"):
            CODEX.read(report)


def test_codex_is_answered_nothing_that_its_schema_does_not_name() -> None:
    before = report_of("codex", "before-tool", {"hook_event_name": "PreToolUse"})
    assert json.loads(CODEX.answer(before, Reply("note", "no"))) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
            "additionalContext": "note",
        }
    }
    after = report_of("codex", "after-tool", {"hook_event_name": "PostToolUse"})
    assert json.loads(CODEX.answer(after, Reply("note")))["hookSpecificOutput"] == {
        "hookEventName": "PostToolUse",
        "additionalContext": "note",
    }
    assert CODEX.answer(after, Reply()) == ""
