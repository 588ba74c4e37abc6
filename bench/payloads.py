"""Turns what four agents send to hooks into moments, to replay logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cairn.hooks.tool_result import Result, failure_of, result_of, unpack
from cairn.hooks.tool_use import calls_of, uses_of
from cairn.memory.moments import Moment, ToolCall

Payload = Mapping[str, Any]

_EVENTS = {
    "SessionStart": "session-start", "UserPromptSubmit": "prompt", "PreToolUse": "before-tool",
    "PostToolUse": "after-tool", "PostToolUseFailure": "after-tool", "Stop": "turn-end", "SessionEnd": "session-end",
    "sessionStart": "session-start", "beforeSubmitPrompt": "prompt", "preToolUse": "before-tool",
    "postToolUse": "after-tool", "postToolUseFailure": "after-tool", "afterAgentResponse": "turn-end",
    "sessionEnd": "session-end", "BeforeAgent": "prompt", "BeforeTool": "before-tool", "AfterTool": "after-tool",
    "AfterAgent": "turn-end",
}  # fmt: skip


def moments_of(agent: str, payloads: list[Payload], start: float) -> Iterator[Moment]:
    """Yield the moments of a session.

    Args:
        agent: `claude-code`, `codex`, `cursor` or `gemini`.
        payloads: as the agent sent them, in their order.
        start: of the first, in seconds since the epoch.
    """
    for place, payload in enumerate(payloads):
        event = _EVENTS.get(str(payload["hook_event_name"]))
        if event is None:
            continue
        session = f"{agent}:{payload.get('session_id') or payload['conversation_id']}"
        details = {name: str(payload[name]) for name in ("source", "reason") if name in payload}
        for number, call in enumerate(_calls(payload) if event == "after-tool" else [None]):
            yield Moment(
                f"{place}.{number}", event, session, agent, start + place, _text(payload), call, details=details
            )


def _text(payload: Payload) -> str:
    for name in ("prompt_response", "last_assistant_message", "prompt", "text"):
        if isinstance(payload.get(name), str):
            return str(payload[name])
    return ""


def _calls(payload: Payload) -> tuple[ToolCall, ...]:
    """Return the canonical calls of a payload: one, but for a patch one for each file."""
    uses = uses_of(payload["tool_name"], payload["tool_input"])
    return calls_of(uses, payload["tool_input"], _result(payload, uses[0].tool))


def _result(payload: Payload, tool: str) -> Result:
    """Return what an agent says of how a call ended."""
    if "error" in payload or "error_message" in payload:  # Claude Code, Cursor
        error = payload.get("error", payload.get("error_message"))
        return failure_of(error, tool, str(payload.get("failure_type")))
    if "tool_output" in payload:  # Cursor
        return result_of(unpack(payload["tool_output"]), tool, "ok")
    answer = payload.get("tool_response")
    return result_of(answer, tool, "" if isinstance(answer, str) else "ok")  # Codex says nothing of how a command ended
