"""OpenCode: its plugin, run by Node against a program that stands for `cairn`, and what the adapter makes of it.

The objects that a plugin is handed are those of 1.18.33.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cairn.hooks.adapter import FileEntry, Level, Place, Whole
from cairn.hooks.agents.opencode import ADAPTER
from cairn.hooks.report import Happening, Reply, ToolUse
from cairn.source.content import check_content
from cairn.source.eligible import GENERATED
from hook_reports import fields, read, report_of, said

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
# Runs steps `[hook, input, output]` one after another and prints what became of each output, and what was thrown.
HARNESS = """
import { readFileSync } from "node:fs"
const { Cairn } = await import(process.argv[2])
const { folder, steps } = JSON.parse(readFileSync(0, "utf8"))
const hooks = await Cairn({ directory: folder, worktree: "/" })
const second = await Cairn({ directory: folder, worktree: "/" })
const done = []
for (const [name, input, output] of steps) {
  let thrown = ""
  try {
    await hooks[name](input, output)
  } catch (error) {
    thrown = error.message
  }
  done.push({ output, thrown })
}
console.log(JSON.stringify({ done, second: Object.keys(second) }))
"""
# Stands for `cairn`: notes what it is told, and answers what the file beside it says for the event.
PROGRAM = """\
#!{python} -IS
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
payload = json.load(sys.stdin)
with open(os.path.join(here, "told.jsonl"), "a") as file:
    file.write(json.dumps([sys.argv[1:], payload]) + "\\n")
with open(os.path.join(here, "answers.json")) as file:
    answer = json.load(file).get(sys.argv[2], "")
if answer == "hang":
    time.sleep(30)
print(answer if isinstance(answer, str) else json.dumps(answer))
"""
SESSION = "ses_1"
CREATED = ["event", {"event": {"type": "session.created", "properties": {"info": {"id": SESSION}}}}, None]
IDLE = ["event", {"event": {"type": "session.idle", "properties": {"sessionID": SESSION}}}, None]
READ_BEFORE = [
    "tool.execute.before",
    {"tool": "read", "sessionID": SESSION, "callID": "call_1"},
    {"args": {"filePath": "/repo/a.py"}},
]
READ_AFTER = [
    "tool.execute.after",
    {"tool": "read", "sessionID": SESSION, "callID": "call_1", "args": {"filePath": "/repo/a.py"}},
    {"title": "a.py", "output": "<path>…", "metadata": {"truncated": False}},
]
SHELL_AFTER = [
    "tool.execute.after",
    {"tool": "bash", "sessionID": SESSION, "callID": "call_2", "args": {"command": "make"}},
    {"title": "make", "output": "bad\n", "metadata": {"exit": 2}},
]
MCP_AFTER = [
    "tool.execute.after",
    {"tool": "cairn_search", "sessionID": SESSION, "callID": "call_3", "args": {"query": "x"}},
    {"content": [{"type": "text", "text": "found"}], "isError": False},
]
SYSTEM = ["experimental.chat.system.transform", {"sessionID": SESSION, "model": {}}, {"system": ["You are"]}]
MESSAGE = [
    "chat.message",
    {"sessionID": SESSION, "agent": "build"},
    {
        "message": {"id": "msg_1", "sessionID": SESSION},
        "parts": [{"type": "text", "text": "fix it"}, {"type": "text", "text": "a file", "synthetic": True}],
    },
]
FAILED = [
    "event",
    {
        "event": {
            "type": "message.part.updated",
            "properties": {
                "part": {
                    "type": "tool",
                    "tool": "read",
                    "sessionID": SESSION,
                    "messageID": "msg_2",
                    "callID": "call_4",
                    "state": {
                        "status": "error",
                        "input": {"filePath": "/repo/nope.py"},
                        "error": "File not found",
                        "time": {"start": 5, "end": 9},
                    },
                }
            },
        }
    },
    None,
]


class Told(NamedTuple):
    """One run of the program that stands for `cairn`."""

    arguments: list[str]
    payload: dict[str, Any]


class Outcome(NamedTuple):
    """What became of each step, and what the program was told."""

    done: list[dict[str, Any]]
    second: list[str]
    told: list[Told]


class Bench:
    """A folder with the plugin as it is installed, and a program that stands for `cairn`."""

    def __init__(self, folder: Path, command: tuple[str, ...] = ()) -> None:
        self._folder = folder
        program = folder / "cairn"
        program.write_text(PROGRAM.replace("{python}", sys.executable))
        program.chmod(0o755)
        place = Place("project", folder, folder, {}, command or (str(program),))
        (plugin,) = [change for change in ADAPTER.changes(place) if change.file.name == "cairn.ts"]
        assert isinstance(plugin, Whole)
        self._plugin = folder / "plugin.mjs"  # Node runs no `.ts`; what is in it is JavaScript
        self._plugin.write_text(plugin.text)
        (folder / "harness.mjs").write_text(HARNESS)

    def run(self, steps: Sequence[Any], answers: dict[str, Any] | None = None) -> Outcome:
        (self._folder / "answers.json").write_text(json.dumps(answers or {}))
        assert NODE is not None
        done = subprocess.run(
            [NODE, str(self._folder / "harness.mjs"), self._plugin.as_uri()],
            input=json.dumps({"folder": str(self._folder), "steps": steps}),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        file = self._folder / "told.jsonl"
        told = [Told(*json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []
        return Outcome(**json.loads(done.stdout), told=told)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def _read(told: Told) -> Happening:
    """Return what the adapter makes of what the program was told."""
    assert told.arguments[0] == "hook"
    assert told.arguments[2:] == ["--agent", "opencode"]
    return read(ADAPTER, told.arguments[1], told.payload)


@needs_node
def test_what_happens_in_a_session_is_reported_in_its_order(bench: Bench, tmp_path: Path) -> None:
    said_last = ["experimental.text.complete", {"sessionID": SESSION}, {"text": "done"}]
    compacted = ["event", {"event": {"type": "session.compacted", "properties": {"sessionID": SESSION}}}, None]
    deleted = ["event", {"event": {"type": "session.deleted", "properties": {"info": {"id": SESSION}}}}, None]
    steps = [CREATED, MESSAGE, READ_BEFORE, READ_AFTER, SHELL_AFTER, said_last, IDLE, compacted, deleted]
    happenings = [_read(told) for told in bench.run(steps).told]
    assert [happening.event for happening in happenings] == [
        "session-start", "prompt", "before-tool", "after-tool", "after-tool", "turn-end", "before-compaction",
        "session-end",
    ]  # fmt: skip
    assert {happening.session for happening in happenings} == {"opencode:ses_1"}
    assert {happening.folder for happening in happenings} == {str(tmp_path)}
    assert [happenings[1].moments[0].text, happenings[5].moments[0].text] == ["fix it", "done"]
    assert happenings[2].use == ToolUse("read", "read", "/repo/a.py")
    call = happenings[4].moments[0].call
    assert call is not None
    assert (call.target, call.outcome, call.exit_code, call.output) == ("make", "failed", 2, "bad\n")


@needs_node
def test_the_start_is_asked_once_and_stands_in_every_request(bench: Bench) -> None:
    outcome = bench.run([CREATED, SYSTEM, MESSAGE, SYSTEM], {"session-start": {"context": "know this"}})
    assert [outcome.done[place]["output"]["system"] for place in (1, 3)] == [["You are", "know this"]] * 2
    assert [told.arguments[1] for told in outcome.told] == ["session-start", "prompt"]


@needs_node
def test_a_session_that_goes_on_is_started_by_its_first_prompt(bench: Bench) -> None:
    outcome = bench.run([MESSAGE, SYSTEM], {"session-start": {"context": "know this"}})
    assert [told.arguments[1] for told in outcome.told] == ["session-start", "prompt"]
    assert outcome.done[1]["output"]["system"] == ["You are", "know this"]


@needs_node
def test_context_for_a_prompt_is_a_part_of_the_message(bench: Bench) -> None:
    outcome = bench.run([MESSAGE], {"prompt": {"context": "know this"}})
    part = outcome.done[0]["output"]["parts"][-1]
    assert part.pop("id").startswith("prt_")
    assert part == {"messageID": "msg_1", "sessionID": SESSION, "type": "text", "text": "know this", "synthetic": True}


@needs_node
def test_context_after_a_tool_follows_what_it_printed(bench: Bench) -> None:
    outcome = bench.run([READ_AFTER, MCP_AFTER], {"after-tool": {"context": "know this"}})
    assert outcome.done[0]["output"]["output"] == "<path>…\n\nknow this"
    assert outcome.done[1]["output"]["content"][-1] == {"type": "text", "text": "know this"}
    call = _read(outcome.told[1]).moments[0].call
    assert call is not None
    assert (call.tool, call.target, call.outcome, call.output) == ("mcp", "x", "ok", "found")


@needs_node
def test_a_denial_is_thrown_and_its_failure_not_reported(bench: Bench) -> None:
    failure = json.loads(json.dumps(FAILED).replace("call_4", "call_1"))
    outcome = bench.run([READ_BEFORE, failure, IDLE], {"before-tool": {"denial": "here is the outline"}})
    assert [step["thrown"] for step in outcome.done] == ["here is the outline", "", ""]
    assert [told.arguments[1] for told in outcome.told] == ["before-tool", "turn-end"]


@needs_node
def test_a_tool_that_failed_is_reported_once(bench: Bench) -> None:
    told = bench.run([FAILED, FAILED, IDLE]).told
    assert [one.arguments[1] for one in told] == ["after-tool", "turn-end"]
    call = _read(told[0]).moments[0].call
    assert call is not None
    assert (call.target, call.outcome, call.output, call.duration_ms) == (
        "/repo/nope.py",
        "failed",
        "File not found",
        4,
    )
    assert ADAPTER.takes(report_of("opencode", "after-tool", told[0].payload)) == frozenset()


@needs_node
def test_what_a_helper_does_is_told_from_its_session(bench: Bench) -> None:
    helper = {"id": "ses_2", "parentID": SESSION}
    created = ["event", {"event": {"type": "session.created", "properties": {"info": helper}}}, None]
    steps = json.loads(json.dumps([MESSAGE, SYSTEM, READ_AFTER, IDLE]).replace(SESSION, "ses_2"))
    outcome = bench.run([created, *steps], {"subagent-start": {"context": "know this"}})
    happenings = [_read(told) for told in outcome.told]
    assert [happening.event for happening in happenings] == ["subagent-start", "after-tool", "subagent-end"]
    assert {(happening.session, happening.subagent) for happening in happenings} == {("opencode:ses_1", "ses_2")}
    assert outcome.done[2]["output"]["system"] == ["You are", "know this"]


@needs_node
@pytest.mark.parametrize("answer", ["", "no JSON", "null", "[1]", '"text"', '{"context": ""}', '{"context": '])
def test_an_answer_of_another_form_changes_nothing(bench: Bench, answer: str) -> None:
    steps: list[list[Any]] = [MESSAGE, READ_BEFORE, READ_AFTER, SYSTEM]
    outcome = bench.run(steps, dict.fromkeys(["session-start", "prompt", "before-tool", "after-tool"], answer))
    assert [step["output"] for step in outcome.done] == [step[2] for step in steps]
    assert not any(step["thrown"] for step in outcome.done)


@needs_node
def test_a_program_that_hangs_costs_its_deadline_and_changes_nothing(bench: Bench) -> None:
    outcome = bench.run([READ_BEFORE, READ_AFTER], {"before-tool": "hang"})
    assert [step["output"] for step in outcome.done] == [READ_BEFORE[2], READ_AFTER[2]]
    assert [told.arguments[1] for told in outcome.told] == ["before-tool", "after-tool"]


@needs_node
def test_a_program_that_is_missing_changes_nothing(tmp_path: Path) -> None:
    steps: list[list[Any]] = [CREATED, MESSAGE, READ_BEFORE, READ_AFTER, MCP_AFTER, SYSTEM, FAILED, IDLE]
    outcome = Bench(tmp_path, (str(tmp_path / "nowhere"),)).run(steps)
    assert [step["output"] for step in outcome.done] == [step[2] for step in steps]
    assert not any(step["thrown"] for step in outcome.done)
    assert outcome.told == []


@needs_node
def test_hooks_that_are_handed_what_they_do_not_expect_change_nothing(bench: Bench) -> None:
    hooks = ["event", "chat.message", "experimental.chat.system.transform", "experimental.text.complete",
             "tool.execute.before", "tool.execute.after"]  # fmt: skip
    outcome = bench.run([[hook, given, None] for hook in hooks for given in ({}, {"event": {"type": 3}}, None)])
    assert not any(step["thrown"] for step in outcome.done)


@needs_node
def test_a_plugin_that_is_loaded_twice_reports_once(bench: Bench) -> None:
    assert bench.run([CREATED]).second == []


def test_the_plugin_is_not_taken_for_code_of_the_project(tmp_path: Path) -> None:
    plugin = ADAPTER.changes(Place("project", tmp_path, tmp_path, {}))[0]
    assert isinstance(plugin, Whole)
    assert check_content(plugin.text.encode(), ".opencode/plugins/cairn.ts") == GENERATED


@pytest.mark.parametrize("event", list(ADAPTER.events))
def test_an_answer_is_what_the_plugin_reads(event: str) -> None:
    report = report_of("opencode", event, {"session_id": "s1"})
    abilities = ADAPTER.takes(report)
    full = Reply("know this" if "context" in abilities else "", "no" if "denial" in abilities else "")
    document = fields(said(ADAPTER.answer(report, full)), {"context": str, "denial": str})
    assert document == {name: text for name, text in full._asdict().items() if text}
    assert ADAPTER.answer(report, Reply()) == ""


def test_a_tool_that_the_user_forbade_did_not_fail() -> None:
    error = "The user rejected permission to use this specific tool call."
    payload = {"session_id": "s", "hook_event_name": "message.part.updated", "tool_name": "bash", "error": error}
    call = read(ADAPTER, "after-tool", payload).moments[0].call
    assert call is not None
    assert call.outcome == "denied"


@pytest.mark.parametrize(
    ("level", "there", "plugin", "config"),
    [
        ("project", "", "repo/.opencode/plugins/cairn.ts", "repo/opencode.json"),
        ("project", "repo/opencode.jsonc", "repo/.opencode/plugins/cairn.ts", "repo/opencode.jsonc"),
        ("user", "", "home/.config/opencode/plugins/cairn.ts", "home/.config/opencode/opencode.json"),
    ],
)
def test_the_plugin_and_the_server_are_where_opencode_looks(
    level: Level, there: str, plugin: str, config: str, tmp_path: Path
) -> None:
    if there:
        (tmp_path / there).parent.mkdir()
        (tmp_path / there).write_text("{}")
    changes = ADAPTER.changes(Place(level, tmp_path / "repo", tmp_path / "home", {}, ("/opt/cairn",)))
    whole, schema, entry = changes[:3]
    assert isinstance(whole, Whole)
    assert isinstance(schema, FileEntry)
    assert schema.is_default
    assert isinstance(entry, FileEntry)
    assert whole.file == tmp_path / plugin
    assert 'const COMMAND = ["/opt/cairn"]' in whole.text
    assert (entry.file, entry.path) == (tmp_path / config, ("mcp", "cairn"))
    assert entry.value == {"type": "local", "command": ["/opt/cairn", "mcp"], "enabled": True}
