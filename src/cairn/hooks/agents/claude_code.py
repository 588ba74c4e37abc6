"""Claude Code: hooks with answers below `hookSpecificOutput`; several other programs also run its hooks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from cairn.digest import blake2b
from cairn.errors import RequestError
from cairn.hooks.adapter import Ability, Adapter, Change, Detection, Place, Whole
from cairn.hooks.commands import hook_command
from cairn.hooks.hosts import CURSOR, GEMINI_CLI, host_of, is_foreign
from cairn.hooks.outputs import nested
from cairn.hooks.payload import details_at, folder_at, happening_of, number_at, text_at
from cairn.hooks.report import Happening, Reply, Report
from cairn.hooks.shared_files import hook_items, server_entry, workspace_servers
from cairn.hooks.texts import text_of
from cairn.hooks.tool_result import NO_RESULT, ToolResult, failure_of, result_of
from cairn.hooks.tool_use import calls_of, uses_of

_FAILURE = "PostToolUseFailure"
_TIMEOUT_SECONDS = 10
_READING_TOOLS = "Read|Bash|Grep|Glob"  # only letters and bars, so each matches a whole name
_CONTEXT: frozenset[Ability] = frozenset({"context"})
_DETAILS = ("source", "reason", "trigger", "model", "agent_type", "permission_mode")


class ClaudeCode(Adapter):
    """Claude Code in the terminal, and everything built on it."""

    name = "claude-code"
    title = "Claude Code"
    detection = Detection(("claude",), (".claude", "CLAUDE.md"), (".claude",))
    events: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "session-start": ("SessionStart",),
        "prompt": ("UserPromptSubmit",),
        "before-tool": ("PreToolUse",),
        "after-tool": ("PostToolUse", _FAILURE),
        "before-compaction": ("PreCompact",),
        "turn-end": ("Stop",),
        "session-end": ("SessionEnd",),
        "subagent-start": ("SubagentStart",),
        "subagent-end": ("SubagentStop",),
    }
    abilities: ClassVar[Mapping[str, frozenset[Ability]]] = {
        "session-start": _CONTEXT,
        "prompt": _CONTEXT,
        "before-tool": _CONTEXT | {"denial"},
        "after-tool": _CONTEXT,
        "subagent-start": _CONTEXT,
    }

    by_hand = (
        "In Claude Code, approve the MCP server `cairn` when it asks, or with /mcp.",
        "Claude Code runs the hooks of a project only in a folder that you trust; it asks when it starts there.",
    )
    first_payload: ClassVar[Mapping[str, Any]] = {
        "session_id": "SESSION",
        "transcript_path": "",
        "cwd": "FOLDER",
        "hook_event_name": "SessionStart",
        "source": "startup",
    }

    def changes(self, place: Place) -> list[Change]:
        """Return the hooks, the MCP server, the skill and the sub-agent, since sub-agents often see no MCP server.

        CLAUDE.md is left alone: it is read at each request, and would only repeat the server and the skill.
        """
        folder = place.root / ".claude"
        servers = workspace_servers(place)
        if place.level == "user":
            moved = place.environment.get("CLAUDE_CONFIG_DIR", "")
            folder = Path(moved) if moved else place.home / ".claude"
            servers = server_entry((folder if moved else place.home) / ".claude.json", place)
        hooks = {
            name: _hook(hook_command(place, event, self.name), _READING_TOOLS if event == "before-tool" else "")
            for event, names in self.events.items()
            for name in names
        }
        return [
            *hook_items(folder / "settings.json", "json", hooks),
            servers,
            Whole(folder / "skills" / "cairn" / "SKILL.md", text_of("skill.md")),
            Whole(folder / "agents" / "cairn-explorer.md", text_of("subagent.md")),
        ]

    def read(self, report: Report) -> Happening | None:
        """Interpret a report; None if another agent runs this hook.

        Raises:
            RequestError: if the payload is of another event, or names no session.
        """
        if is_foreign(report):
            return None
        payload = report.payload
        name = text_at(payload, "hook_event_name")
        if name and name not in self.events[report.event]:
            raise RequestError(f"{name[:50]} is not {report.event}", "register the hook for its own event")
        given = payload.get("tool_input")
        uses = uses_of(text_at(payload, "tool_name"), given) if report.event in ("before-tool", "after-tool") else ()
        result = _result(report, uses[0].tool) if uses and report.event == "after-tool" else NO_RESULT
        text = text_at(payload, "prompt", "last_assistant_message")
        return happening_of(
            report,
            agent=self.name,
            session=text_at(payload, "session_id") or report.environment.get("CLAUDE_CODE_SESSION_ID", ""),
            folder=folder_at(report, payload.get("cwd"), report.environment.get("CLAUDE_PROJECT_DIR")),
            id=_id_of(report, text),
            text=text,
            details={} if uses else details_at(payload, _DETAILS),  # a session's own
            subagent=text_at(payload, "agent_id"),
            uses=uses,
            calls=calls_of(uses, given, result, number_at(payload, "duration_ms")),
            use_id=text_at(payload, "tool_use_id"),
        )

    def answer(self, report: Report, reply: Reply) -> str:
        """Return an answer to the event that Claude Code named; silence in the form that the running program wants."""
        if not reply.context and not reply.denial:
            return "{}" if host_of(report) in (CURSOR, GEMINI_CLI) else ""
        return nested(text_at(report.payload, "hook_event_name") or self.events[report.event][0], reply)


def _hook(command: str, matcher: str) -> dict[str, Any]:
    hook = {"type": "command", "command": command, "timeout": _TIMEOUT_SECONDS}
    return {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}


def _id_of(report: Report, text: str) -> str:
    """Return an id of an event: of a tool call, a sub-agent, or a prompt with its text; empty if there is none."""
    payload = report.payload
    if report.event in ("before-tool", "after-tool"):
        return text_at(payload, "tool_use_id")
    if report.event in ("subagent-start", "subagent-end"):
        return text_at(payload, "agent_id")
    prompt = text_at(payload, "prompt_id")
    if report.event in ("prompt", "turn-end") and prompt:
        digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        return f"{prompt}-{digest}"  # a turn may end more than once per prompt
    return ""


def _result(report: Report, tool: str) -> ToolResult:
    payload = report.payload
    if text_at(payload, "hook_event_name") == _FAILURE:
        return failure_of(payload.get("error"), tool, "denied" if payload.get("is_interrupt") is True else "")
    return result_of(payload.get("tool_response"), tool, "ok")


ADAPTER = ClaudeCode()
