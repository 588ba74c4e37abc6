"""What agents hand to their tools, by their own names for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from cairn.hooks.report import ToolUse
from cairn.hooks.tool_result import ToolResult, failure_of, result_of, unpack
from cairn.hooks.tool_use import calls_of, uses_of
from cairn.memory.moments import OUTCOMES, TOOLS

NEEDLE = {"pattern": "needle"}
READS: list[tuple[str, str, dict[str, Any], int, int]] = [
    ("Claude Code", "Read", {"file_path": "/repo/a.py"}, 0, 0),
    ("Claude Code", "Read", {"file_path": "/repo/a.py", "offset": 20, "limit": 40}, 20, 40),
    ("Gemini CLI", "read_file", {"file_path": "/repo/a.py", "start_line": 20, "end_line": 59}, 20, 40),
    ("OpenCode", "read", {"filePath": "/repo/a.py", "offset": 20, "limit": 40}, 20, 40),
    ("VS Code", "read_file", {"filePath": "/repo/a.py", "startLine": 20, "endLine": 59}, 20, 40),
    ("Copilot CLI", "view", {"path": "/repo/a.py", "view_range": [20, 59]}, 20, 40),
    ("Copilot CLI", "view", {"path": "/repo/a.py", "view_range": [20, -1]}, 20, 0),
    ("Cursor", "Read", {"file_path": "/repo/a.py"}, 0, 0),
    ("Cursor of old", "read_file", {"target_file": "/repo/a.py", "start_line_one_indexed": 20,
                                    "end_line_one_indexed_inclusive": 59}, 20, 40),
    ("Devin", "read", {"file_path": "/repo/a.py"}, 0, 0),
    ("a Gemini that limits the end alone", "read_file", {"file_path": "/repo/a.py", "end_line": 40}, 0, 40),
    ("numbers as text", "read", {"path": "/repo/a.py", "offset": "20", "limit": 40.0}, 20, 40),
    ("an address of a file", "read_file", {"uri": "file:///repo/a.py"}, 0, 0),
]  # fmt: skip
SEARCHES: list[tuple[str, str, dict[str, Any], ToolUse]] = [
    ("Claude Code", "Grep", {**NEEDLE, "path": "src", "glob": "*.py", "-i": True},
     ToolUse("search", "Grep", "src", pattern="needle", globs=("*.py",))),
    ("Cursor", "Grep", {**NEEDLE, "file_path": "/repo", "glob": "**/*.py", "output_mode": "content"},
     ToolUse("search", "Grep", "/repo", pattern="needle", globs=("**/*.py",))),
    ("Gemini CLI", "grep_search", {**NEEDLE, "dir_path": "src", "include_pattern": "*.py"},
     ToolUse("search", "grep_search", "src", pattern="needle", globs=("*.py",))),
    ("OpenCode", "grep", {**NEEDLE, "path": "/repo/src", "include": "*.py"},
     ToolUse("search", "grep", "/repo/src", pattern="needle", globs=("*.py",))),
    ("VS Code", "grep_search", {"query": "needle", "isRegexp": False, "includePattern": "src/**"},
     ToolUse("search", "grep_search", pattern="needle", globs=("src/**",))),
    ("VS Code by meaning", "semantic_search", {"query": "where is it parsed"},
     ToolUse("search", "semantic_search", pattern="where is it parsed")),
    ("Copilot CLI", "grep", {**NEEDLE, "paths": "src", "glob": "*.py"},
     ToolUse("search", "grep", "src", pattern="needle", globs=("*.py",))),
    ("Copilot CLI in two folders", "glob", {"pattern": "*.py", "paths": ["src", "tests"]},
     ToolUse("search", "glob", pattern="*.py")),
    ("Devin", "grep", {**NEEDLE, "glob_pattern": "*.py"},
     ToolUse("search", "grep", pattern="needle", globs=("*.py",))),
]  # fmt: skip
EDITS: list[tuple[str, str, dict[str, Any], ToolUse]] = [
    ("Claude Code", "Edit", {"file_path": "a.py", "old_string": "1", "new_string": "2"},
     ToolUse("edit", "Edit", "a.py", edits=(("1", "2"),))),
    ("Claude Code writes", "Write", {"file_path": "a.py", "content": "x"},
     ToolUse("write", "Write", "a.py", edits=(("", "x"),))),
    ("Claude Code's notebooks", "NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "x"},
     ToolUse("edit", "NotebookEdit", "a.ipynb", edits=(("", "x"),))),
    ("OpenCode", "edit", {"filePath": "a.py", "oldString": "1", "newString": "2"},
     ToolUse("edit", "edit", "a.py", edits=(("1", "2"),))),
    ("Copilot CLI", "edit", {"path": "a.py", "old_str": "1", "new_str": "2"},
     ToolUse("edit", "edit", "a.py", edits=(("1", "2"),))),
    ("Copilot CLI creates", "create", {"path": "a.py", "file_text": "x"},
     ToolUse("write", "create", "a.py", edits=(("", "x"),))),
    ("Cascade", "edit", {"file_path": "a.py", "edits": [{"old_string": "1", "new_string": "2"},
                                                       {"old_string": "3", "new_string": ""}]},
     ToolUse("edit", "edit", "a.py", edits=(("1", "2"), ("3", "")))),
    ("VS Code inserts", "insert_edit_into_file", {"filePath": "a.py", "code": "x", "explanation": "why"},
     ToolUse("edit", "insert_edit_into_file", "a.py", edits=(("", "x"),))),
    ("one tool for all", "str_replace_editor", {"command": "create", "path": "a.py", "file_text": "x"},
     ToolUse("write", "str_replace_editor", "a.py", edits=(("", "x"),))),
    ("one tool for all, reading", "str_replace_editor", {"command": "view", "path": "a.py", "view_range": [1, 5]},
     ToolUse("read", "str_replace_editor", "a.py", 1, 5)),
]  # fmt: skip
PATCH = """\
*** Begin Patch
*** Update File: src/a.py
@@ def a():
 before
-old
+new
@@ def b():
-gone
*** Add File: src/b.py
+one
+two
*** Delete File: src/c.py
*** Update File: src/d.py
*** Move to: src/e.py
@@
-x
+y
*** End Patch"""
PATCHED = [
    ("edit", "src/a.py", (("before\nold", "before\nnew"), ("gone", ""))),
    ("write", "src/b.py", (("", "one\ntwo"),)),
    ("delete", "src/c.py", ()),
    ("delete", "src/d.py", ()),
    ("edit", "src/e.py", (("x", "y"),)),
]
PATCHES: list[tuple[str, object]] = [
    ("Codex", {"command": PATCH}),
    ("Codex with words", {"command": ["apply_patch", PATCH]}),
    ("OpenCode", {"patchText": PATCH}),
    ("VS Code", {"input": PATCH}),
    ("a bare text", PATCH),
]
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from([
    "file_path", "path", "paths", "offset", "limit", "start_line", "endLine", "view_range", "pattern", "query", "glob",
    "include", "command", "cwd", "edits", "old_string", "new_str", "replacements", "patchText", "input", "ids", "url",
    "content", "output", "error", "exit_code", "metadata", "success",
])  # fmt: skip
NAMES = st.sampled_from(["Read", "view", "grep", "Bash", "edit", "apply_patch", "Write", "mcp__cairn__fetch", "", "x"])


@pytest.mark.parametrize(("agent", "name", "asked", "offset", "limit"), READS)
def test_a_read_has_its_file_and_lines_whatever_an_agent_calls_them(
    agent: str, name: str, asked: dict[str, Any], offset: int, limit: int
) -> None:
    assert uses_of(name, asked) == (ToolUse("read", name, "/repo/a.py", offset, limit),), agent


@pytest.mark.parametrize(("agent", "name", "asked", "expected"), SEARCHES + EDITS)
def test_a_search_or_an_edit_has_what_it_is_about_whatever_an_agent_calls_it(
    agent: str, name: str, asked: dict[str, Any], expected: ToolUse
) -> None:
    assert uses_of(name, asked) == (expected,), agent


@pytest.mark.parametrize(("agent", "asked"), PATCHES)
def test_a_patch_is_one_use_for_each_file(agent: str, asked: object) -> None:
    uses = uses_of("apply_patch", asked)
    assert [(use.tool, use.path, use.edits) for use in uses] == PATCHED, agent
    assert [call.target for call in calls_of(uses, asked)] == [path for _, path, _ in PATCHED]


def test_replacements_in_several_files_are_one_use_for_each_file() -> None:
    replacements = [
        {"filePath": "a.py", "oldString": "1", "newString": "2"},
        {"filePath": "b.py", "oldString": "3", "newString": "4"},
        {"filePath": "a.py", "oldString": "5", "newString": "6"},
    ]
    uses = uses_of("multi_replace_string_in_file", {"explanation": "why", "replacements": replacements})
    assert [(use.path, use.edits) for use in uses] == [("a.py", (("1", "2"), ("5", "6"))), ("b.py", (("3", "4"),))]


def test_a_read_of_several_files_is_one_use_for_each() -> None:
    assert [use.path for use in uses_of("read_many_files", {"paths": ["a.py", "b.py"]})] == ["a.py", "b.py"]


def test_a_command_is_told_where_it_runs() -> None:
    assert uses_of("bash", {"command": "ls", "workdir": "src"}) == (ToolUse("shell", "bash", "src", command="ls"),)
    assert uses_of("shell", {"command": ["bash", "-lc", "rg x"]})[0].command == "rg x"


def test_a_command_too_long_to_be_understood_is_kept_but_not_looked_at() -> None:
    asked = {"command": "echo " + "x" * 30_000}
    (use,) = uses_of("Bash", asked)
    (call,) = calls_of((use,), asked)
    assert use.command == ""
    assert call.target.startswith("echo xxx")
    assert len(call.target) == 4_000
    assert call.input_bytes == 30_005


def test_what_a_tool_is_handed_as_json_in_a_text_is_read() -> None:
    assert uses_of("search", '{"query": "needle"}', "mcp") == (ToolUse("mcp", "search", pattern="needle"),)


def test_the_target_of_a_call_is_what_it_is_about() -> None:
    def target(name: str, asked: dict[str, Any]) -> str:
        return calls_of(uses_of(name, asked), asked)[0].target

    assert target("Bash", {"command": "ls", "cwd": "/repo"}) == "ls"
    assert target("Grep", {"pattern": "x", "path": "src"}) == "x"
    assert target("WebFetch", {"url": "https://a.example", "prompt": "what"}) == "https://a.example"
    assert target("mcp__cairn__fetch", {"ids": ["m_1", "c_2"]}) == "m_1 c_2"
    assert target("Task", {"description": "look", "prompt": "long"}) == "look"


@for_all(NAMES | st.text(max_size=10), st.dictionaries(KEYS, ANY, max_size=5) | ANY, ANY)
def test_no_payload_makes_reading_fail(name: str, asked: object, duration: float) -> None:
    uses = uses_of(name, asked)
    calls = calls_of(uses, asked, result_of(asked, uses[0].tool), duration)
    assert len(calls) == len(uses) > 0
    for use, call in zip(uses, calls, strict=True):
        assert use.tool in TOOLS
        assert use.offset >= 0
        assert use.limit >= 0
        assert "\0" not in use.path
        assert call.outcome in OUTCOMES
        call.target.encode()


ENDS: list[tuple[str, object, str, ToolResult]] = [
    ("Claude Code", {"stdout": "3 passed", "stderr": "", "interrupted": False}, "ok",
     ToolResult("ok", None, "3 passed")),
    ("Codex of old", "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nbad", "", ToolResult("failed", 2, "bad")),
    ("Codex", "3 passed\n", "", ToolResult("", None, "3 passed\n")),
    ("Cursor", unpack('{"output":"bad","exitCode":1}'), "ok", ToolResult("failed", 1, "bad")),
    ("Gemini CLI", {"llmContent": "Output: bad\nExit Code: 1\nProcess Group PGID: 47", "returnDisplay": "bad"}, "ok",
     ToolResult("failed", 1, "bad")),
    ("Gemini CLI, 0.61", {"llmContent": "<untrusted_context>\nOutput: (empty)\nExit Code: 1\nProcess Group PGID: 47\n"
     "</untrusted_context>"}, "ok", ToolResult("failed", 1, "")),
    ("Gemini CLI, well", {"llmContent": "Output: 3 passed\nProcess Group PGID: 47"}, "ok",
     ToolResult("ok", None, "3 passed")),
    ("OpenCode", {"title": "t", "output": "bad", "metadata": {"exit": 1, "truncated": False}}, "ok",
     ToolResult("failed", 1, "bad")),
    ("Copilot CLI", {"resultType": "success", "textResultForLlm": "bad\n<shellId: 0 completed with exit code 1>"}, "",
     ToolResult("failed", 1, "bad")),
    ("Copilot CLI, snake case", {"result_type": "failure", "text_result_for_llm": "bad"}, "",
     ToolResult("failed", None, "bad")),
    ("Copilot CLI, denied", {"result_type": "denied", "text_result_for_llm": "no"}, "",
     ToolResult("denied", None, "no")),
    ("Devin", {"success": True, "output": "a.py:3", "error": None}, "", ToolResult("ok", None, "a.py:3")),
    ("Devin, failed", {"success": False, "output": "", "error": "bad"}, "", ToolResult("failed", None, "bad")),
    ("VS Code", "bad\n\nCommand exited with code 1", "", ToolResult("failed", 1, "bad\n")),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "answer", "outcome", "expected"), ENDS)
def test_how_a_command_ended_is_read_whatever_form_an_agent_reports_it_in(
    agent: str, answer: object, outcome: str, expected: ToolResult
) -> None:
    assert result_of(answer, "shell", outcome)._replace(output_bytes=0) == expected, agent


def test_a_file_that_speaks_of_exit_codes_did_not_fail() -> None:
    assert result_of("Exit code 1\n", "read", "ok").outcome == "ok"


def test_the_answer_of_an_mcp_server_is_its_text() -> None:
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert result_of(blocks, "mcp", "ok") == ToolResult("ok", None, "one\ntwo", 14)
    assert result_of({"content": blocks, "isError": True}, "mcp").outcome == "failed"


def test_a_failure_says_whether_it_was_forbidden() -> None:
    assert failure_of("Exit code 1\nbad", "shell")[:3] == ("failed", 1, "bad")
    assert failure_of("no", "shell", "permission_denied").outcome == "denied"
    assert failure_of(None, "read", "timeout") == ToolResult("failed")


def test_of_a_long_output_the_end_is_kept_and_all_of_it_counted() -> None:
    result = result_of("x" * 50_000 + "end", "shell")
    assert result.output_bytes == 50_003
    assert len(result.output) == 20_000
    assert result.output.endswith("end")
