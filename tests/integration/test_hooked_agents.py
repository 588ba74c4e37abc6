"""A session of each agent by its own payloads: what it is shown arrives in its form, and what it did is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cairn.hooks.dispatch import Case, open_case, take_in
from cairn.hooks.entry import pack
from cairn.workspace import Workspace

NOTE = "The quokka exporter must flush its ledger before it closes, or the last page is lost."
PROMPT = "Why does the quokka exporter lose the last page of its ledger when it closes?"
CODE = "def flush(ledger):\n    return ledger\n"


class Step(NamedTuple):
    """An event as an agent reports it."""

    event: str
    payload: dict[str, Any]


class Session(NamedTuple):
    """The start, a prompt and an edit of an agent; at which of them it is first shown the note."""

    steps: tuple[Step, Step, Step]
    environment: dict[str, str]
    first: int


CURSOR = {"conversation_id": "s", "cursor_version": "3.18.25", "workspace_roots": ["ROOT"], "generation_id": "g"}
GEMINI = {"session_id": "s", "cwd": "ROOT"}
COPILOT = {"session_id": "s", "cwd": "ROOT"}
CODE_OF = {"session_id": "s", "cwd": "ROOT", "transcript_path": "/t"}
DEVIN = {"session_id": "s", "prompt_id": "p"}
CASCADE = {"trajectory_id": "s", "execution_id": "e"}
OPENCODE = {"session_id": "s", "agent_id": "", "cwd": "ROOT"}
FILE = "ROOT/exporter.py"


def _claude(common: dict[str, Any], edit: dict[str, Any]) -> tuple[Step, Step, Step]:
    """Return the steps of an agent that names events as Claude Code does."""
    return (
        Step("session-start", {**common, "hook_event_name": "SessionStart", "source": "startup", "timestamp": "1"}),
        Step("prompt", {**common, "hook_event_name": "UserPromptSubmit", "prompt": PROMPT, "timestamp": "2"}),
        Step("after-tool", {**common, "hook_event_name": "PostToolUse", "timestamp": "3", **edit}),
    )


SESSIONS = {
    "cursor": Session(
        (
            Step("session-start", {**CURSOR, "hook_event_name": "sessionStart"}),
            Step("prompt", {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": PROMPT}),
            Step("after-tool", {**CURSOR, "hook_event_name": "postToolUse", "tool_name": "Write", "tool_use_id": "1",
                                "tool_input": {"file_path": FILE, "content": CODE}, "tool_output": '{"success":true}'}),
        ),
        {"CURSOR_VERSION": "3.18.25"},
        0,
    ),
    "gemini-cli": Session(
        (
            Step("session-start", {**GEMINI, "hook_event_name": "SessionStart", "timestamp": "1", "source": "startup"}),
            Step("prompt", {**GEMINI, "hook_event_name": "BeforeAgent", "timestamp": "2", "prompt": PROMPT}),
            Step("after-tool", {**GEMINI, "hook_event_name": "AfterTool", "timestamp": "3", "tool_name": "write_file",
                                "tool_input": {"file_path": FILE, "content": CODE},
                                "tool_response": {"llmContent": "written", "returnDisplay": ""}}),
        ),
        {"GEMINI_SESSION_ID": "s"},
        0,
    ),
    "copilot-cli": Session(
        _claude(COPILOT, {"tool_name": "Write", "tool_input": {"path": FILE, "file_text": CODE},
                          "tool_result": {"result_type": "success", "text_result_for_llm": "written"}}),
        {"COPILOT_CLI": "1"},
        0,
    ),
    "vscode": Session(
        _claude(CODE_OF, {"tool_name": "create_file", "tool_input": {"filePath": FILE, "content": CODE},
                          "tool_use_id": "1", "tool_response": "written"}),
        {},
        0,
    ),
    "devin": Session(
        _claude(DEVIN, {"tool_name": "write", "tool_input": {"file_path": FILE}, "tool_use_id": "1",
                        "tool_response": {"success": True, "output": "written", "error": None}}),
        {"DEVIN_PROJECT_DIR": "ROOT"},
        0,
    ),
    "windsurf": Session(
        (
            Step("prompt", {**CASCADE, "agent_action_name": "pre_user_prompt", "tool_info": {"user_prompt": PROMPT}}),
            Step("after-tool", {**CASCADE, "agent_action_name": "post_read_code", "tool_info": {"file_path": FILE}}),
            Step("after-tool", {**CASCADE, "agent_action_name": "post_write_code",
                                "tool_info": {"file_path": FILE, "edits": [{"old_string": "", "new_string": CODE}]}}),
        ),
        {},
        9,
    ),
    "opencode": Session(
        (
            Step("session-start", {**OPENCODE, "hook_event_name": "session.created", "source": "startup"}),
            Step("prompt", {**OPENCODE, "hook_event_name": "chat.message", "message_id": "m", "prompt": PROMPT}),
            Step("after-tool", {**OPENCODE, "hook_event_name": "tool.execute.after", "tool_name": "write",
                                "tool_input": {"filePath": FILE, "content": CODE},
                                "tool_response": {"output": "written", "exit": None}}),
        ),
        {"OPENCODE": "1"},
        0,
    ),
}  # fmt: skip


def _answers(agent: str, steps: Sequence[Step], session: Session, workspace: Workspace) -> list[str]:
    """Return what an agent reads at each step."""
    root = str(workspace.root)
    environment = {name: value.replace("ROOT", root) for name, value in session.environment.items()}
    answers = []
    for number, step in enumerate(steps):
        content = json.dumps(step.payload).replace("ROOT", root).encode()
        case = open_case(pack(f"run-{number}", agent, step.event, 1e9, environment, content, len(content)), {root})
        assert isinstance(case, Case), f"{agent} is not understood at {step.event}"
        answers.append(take_in(case, workspace))
    return answers


@pytest.fixture
def workspace(checkout: Path) -> Iterator[Workspace]:
    (checkout / "exporter.py").write_text(CODE)
    with Workspace.open(checkout) as workspace:
        workspace.memory.remember(NOTE, type="gotcha", files=["exporter.py"])
        yield workspace


@pytest.mark.parametrize("agent", SESSIONS)
def test_an_agent_is_shown_a_note_once_and_what_it_did_is_kept(
    agent: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = SESSIONS[agent]
    monkeypatch.chdir(workspace.root)
    answers = _answers(agent, session.steps, session, workspace)
    shown = [number for number, answer in enumerate(answers) if "quokka exporter must flush" in answer]
    assert shown == ([session.first] if session.first < len(answers) else [])
    kept = workspace.memory.sessions.session(f"{agent}:s")
    assert (kept.agent, kept.n_prompts, kept.n_edits) == (agent, 1, 1)


def test_cursor_is_shown_with_the_next_tool_what_its_prompt_calls_for(workspace: Workspace) -> None:
    session = SESSIONS["cursor"]
    steps = [Step(step.event, {**step.payload, "conversation_id": "other"}) for step in session.steps[1:]]
    asked, done = _answers("cursor", steps, session, workspace)
    assert json.loads(asked) == {}
    assert "quokka exporter must flush" in json.loads(done)["additional_context"]
    assert workspace.memory.sessions.session("cursor:other").n_prompts == 1
