"""The common part of VS Code Copilot and Copilot CLI: they read the same hook files, and each runs all hooks in them.

So there is one file with one hook for each event, which both understand, with names in Claude Code's style. The
environment and the payload tell which of the two runs a hook.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from cairn.hooks.adapter import Ability, Adapter, Place, Whole
from cairn.hooks.commands import hook_command
from cairn.hooks.outputs import nested
from cairn.hooks.payload import details_at, digest_at, folder_at, happening_of, number_at, text_at
from cairn.hooks.report import Happening, Reply, Report
from cairn.hooks.tool_result import NO_RESULT, ToolResult, failure_of, result_of
from cairn.hooks.tool_use import calls_of, uses_of

VSCODE, COPILOT_CLI = "vscode", "copilot-cli"
_TIMEOUT_SECONDS = 10
_OF_A_CALL = ("tool_name", "toolName", "tool_input", "toolArgs")
_FAILURES = ("PostToolUseFailure", "postToolUseFailure")


class Copilot(Adapter):
    """Either of the two programs."""

    events: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "session-start": ("SessionStart",),
        "prompt": ("UserPromptSubmit",),
        "before-tool": ("PreToolUse",),
        "after-tool": ("PostToolUse", "PostToolUseFailure"),
        "before-compaction": ("PreCompact",),
        "turn-end": ("Stop",),
        "session-end": ("SessionEnd",),
        "subagent-start": ("SubagentStart",),
        "subagent-end": ("SubagentStop",),
    }
    abilities: ClassVar[Mapping[str, frozenset[Ability]]] = {
        "session-start": frozenset({"context"}),
        "prompt": frozenset({"context"}),
        "before-tool": frozenset({"context", "denial"}),
        "after-tool": frozenset({"context"}),
        "subagent-start": frozenset({"context"}),
    }

    def hooks_file(self, place: Place, folder: Path) -> Whole:
        """Return the hooks file, the same for both programs.

        Args:
            place: where Cairn is installed for the agent.
            folder: that of the hook files.
        """
        hooks: dict[str, list[dict[str, Any]]] = {}
        for event, names in self.events.items():
            command = hook_command(place, event, COPILOT_CLI)
            on_windows = _powershell_command(place, event)
            hook = {
                "type": "command",
                "command": command,
                "powershell": on_windows,
                "cwd": ".",
                "timeout": _TIMEOUT_SECONDS,
            }
            hooks |= {name: [hook] for name in names}
        return Whole(folder / "cairn.json", json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n")

    def takes(self, report: Report) -> frozenset[Ability]:
        """Return what the running program accepts; neither accepts anything after a failed tool."""
        if _event_of(report.payload) in _FAILURES:
            return frozenset()
        if report.event == "subagent-start" and host_of(report) == COPILOT_CLI:
            return frozenset()
        return super().takes(report)

    def read(self, report: Report) -> Happening | None:
        """Interpret a report, which may come from the other program."""
        payload = report.payload
        agent = host_of(report)
        name, given = text_at(payload, "tool_name", "toolName"), payload.get("tool_input", payload.get("toolArgs"))
        uses = uses_of(name, given) if report.event in ("before-tool", "after-tool") else ()
        result = _result(payload, uses[0].tool, agent) if report.event == "after-tool" else NO_RESULT
        use_id = text_at(payload, "tool_use_id", "toolCallId")
        details = details_at(payload, ("source", "reason", "trigger", "stop_reason", "agent_type"))
        return happening_of(
            report,
            agent=agent,
            session=text_at(payload, "session_id", "sessionId"),
            folder=folder_at(report, payload.get("cwd"), report.environment.get("COPILOT_PROJECT_DIR")),
            id=use_id or digest_at(payload, *_OF_A_CALL),
            text=text_at(payload, "prompt", "last_assistant_message"),
            details=details,
            subagent=text_at(payload, "agent_id", "agentId"),
            uses=uses,
            calls=calls_of(uses, given, result, number_at(payload, "duration_ms", "duration")),
            use_id=use_id,
        )

    def answer(self, report: Report, reply: Reply) -> str:
        """Return the form for the running program: Copilot CLI reads the top level, VS Code a nested object."""
        if host_of(report) == VSCODE:
            return nested(self.events[report.event][0], reply)
        said: dict[str, str] = {}
        if reply.denial:
            said |= {"permissionDecision": "deny", "permissionDecisionReason": reply.denial}
        if reply.context:
            said["additionalContext"] = reply.context
        return json.dumps(said) if said else ""


def _powershell_command(place: Place, event: str) -> str:
    """Return a hook's command for Windows, which also succeeds if Cairn is missing."""
    program = " ".join("'" + word.replace("'", "''") + "'" for word in place.command)
    return f"& {program} hook {event} --agent {COPILOT_CLI} 2>$null; exit 0"


def host_of(report: Report) -> str:
    """Return which of the two programs runs a hook. VS Code may run inside the other, but only it gives calls ids."""
    is_cli = report.environment.get("COPILOT_CLI") == "1" and "tool_use_id" not in report.payload
    return COPILOT_CLI if is_cli else VSCODE


def _event_of(payload: Mapping[str, Any]) -> str:
    return text_at(payload, "hook_event_name", "hookEventName")


def _result(payload: Mapping[str, Any], tool: str, agent: str) -> ToolResult:
    if _event_of(payload) in _FAILURES:
        return failure_of(payload.get("error", payload.get("error_message")), tool)
    names = ("tool_result", "toolResult", "tool_response", "toolResponse")
    answer = next((payload[name] for name in names if name in payload), None)
    return result_of(answer, tool, "ok" if agent == VSCODE else "")
