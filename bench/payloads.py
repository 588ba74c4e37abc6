"""Turns what four agents send to hooks into the moments that `/api/hook/{event}` takes, to replay logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cairn.memory.moments import Moment, parse_moment

Payload = Mapping[str, Any]

_EVENTS = {
    "SessionStart": "session-start", "UserPromptSubmit": "prompt", "PreToolUse": "before-tool",
    "PostToolUse": "after-tool", "PostToolUseFailure": "after-tool", "Stop": "turn-end", "SessionEnd": "session-end",
    "sessionStart": "session-start", "beforeSubmitPrompt": "prompt", "preToolUse": "before-tool",
    "postToolUse": "after-tool", "postToolUseFailure": "after-tool", "afterAgentResponse": "turn-end",
    "sessionEnd": "session-end", "BeforeAgent": "prompt", "BeforeTool": "before-tool", "AfterTool": "after-tool",
    "AfterAgent": "turn-end",
}  # fmt: skip
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_EXIT_CODE = re.compile(r"^Exit code:? (\d+)\n?", re.IGNORECASE | re.MULTILINE)


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
        for number, call in enumerate(_calls(payload) if event == "after-tool" else [None]):
            document = {
                "id": f"{place}.{number}",
                "seconds": start + place,
                "text": _text(payload),
                "call": call,
                "details": {name: payload[name] for name in ("source", "reason") if name in payload},
            }
            yield parse_moment(event, session, agent, json.dumps(document))


def _text(payload: Payload) -> str:
    for name in ("prompt_response", "last_assistant_message", "prompt", "text"):
        if isinstance(payload.get(name), str):
            return str(payload[name])
    return ""


def _calls(payload: Payload) -> list[dict[str, Any]]:
    """Return the canonical calls of a payload: one, but for a patch one for each file."""
    name, given = str(payload["tool_name"]), payload["tool_input"]
    call = {"name": name, "input_bytes": len(json.dumps(given)), **_outcome(payload)}
    if name == "apply_patch":
        return [call | {"target": path} for path in _PATCHED.findall(given["command"])]
    target = next((given[key] for key in ("command", "file_path", "pattern", "dir_path", "query") if key in given), "")
    return [call | {"target": target}]


def _outcome(payload: Payload) -> dict[str, Any]:
    """Return what an agent says of how a call ended."""
    if "error" in payload or "error_message" in payload:  # Claude Code, Cursor
        text = str(payload.get("error", payload.get("error_message")))
        code = _EXIT_CODE.match(text)
        outcome = "denied" if payload.get("failure_type") == "permission_denied" else "failed"
        output = text[code.end() :] if code else text
        return {"outcome": outcome, "exit_code": int(code[1]) if code else None, "output": output}
    if "tool_output" in payload:  # Cursor
        answer = json.loads(payload["tool_output"])
        return {"outcome": "ok" if not answer.get("exitCode") else "failed", "exit_code": answer.get("exitCode"),
                "output": str(answer.get("output", ""))}  # fmt: skip
    answer = payload.get("tool_response")
    if isinstance(answer, str):  # Codex says nothing of how a command ended
        return {"output": answer}
    if isinstance(answer, dict) and "llmContent" in answer:  # Gemini
        text = str(answer["llmContent"])
        code = _EXIT_CODE.search(text)
        has_failed = "error" in answer or code is not None
        output = text.removeprefix("Output: ").split("\nExit Code: ")[0].split("\nProcess Group PGID: ")[0]
        return {
            "outcome": "failed" if has_failed else "ok",
            "exit_code": int(code[1]) if code else None,
            "output": output,
        }
    answer = answer if isinstance(answer, dict) else {}
    return {"outcome": "ok", "output": f"{answer.get('stdout', '')}{answer.get('stderr', '')}"}
