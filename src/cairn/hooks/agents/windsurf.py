"""Windsurf and its agent Cascade: hooks that only report, and a rule that tells the agent about Cairn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from cairn.hooks.adapter import Adapter, Change, Detection, Place, Whole
from cairn.hooks.commands import hook_command
from cairn.hooks.payload import digest_at, folder_at, happening_of, text_at
from cairn.hooks.report import Happening, Report, ToolUse
from cairn.hooks.shared_files import hook_items, server_entry, skill
from cairn.hooks.texts import text_of
from cairn.hooks.tool_result import NO_RESULT, ToolResult, result_of
from cairn.hooks.tool_use import calls_of, uses_of

# The kind of tool by the event that reports it.
_TOOLS = {
    "post_read_code": "read",
    "post_write_code": "edit",
    "post_run_command": "shell",
    "post_mcp_tool_use": "mcp",
}
_RULE = "---\ntrigger: always_on\n---\n\n"


class Windsurf(Adapter):
    """Windsurf. Cascade accepts no context, and denials only as an exit code, which the hook program never uses."""

    name = "windsurf"
    title = "Windsurf (Cascade)"
    detection = Detection(("windsurf",), (".windsurf", ".windsurfrules"), (".codeium/windsurf",))
    events: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "prompt": ("pre_user_prompt",),
        "after-tool": tuple(_TOOLS),
        "turn-end": ("post_cascade_response",),
    }
    by_hand = (
        "Windsurf from before it became Devin Desktop takes MCP servers from your own files only, "
        "which `cairn init --agent windsurf --user` writes.",
    )
    first_payload: ClassVar[Mapping[str, Any]] = {
        "agent_action_name": "pre_user_prompt",
        "trajectory_id": "SESSION",
        "execution_id": "1",
        "timestamp": "2026-11-20T10:00:00Z",
        "tool_info": {"user_prompt": "cairn self-test"},
    }

    def changes(self, place: Place) -> list[Change]:
        """Return the hooks, the MCP server, the skill, and for projects the rule."""
        hooks = {
            name: {"command": hook_command(place, event, self.name), "show_output": False}
            for event, names in self.events.items()
            for name in names
        }
        if place.level == "project":
            folder = place.root / ".windsurf"
            servers = [place.root / ".devin" / "mcp_config.json"]  # since the renaming, both agents read it
            rules: list[Change] = [Whole(folder / "rules" / "cairn.md", _RULE + text_of("block.md"))]
        else:
            folder, rules = place.home / ".codeium" / "windsurf", []
            servers = [folder / "mcp_config.json", *_renamed(place)]
        return [
            *hook_items(folder / "hooks.json", "json", hooks),
            *(server_entry(file, place) for file in servers),
            skill(place),
            *rules,
        ]

    def read(self, report: Report) -> Happening | None:
        """Interpret a report."""
        payload = report.payload
        info = payload.get("tool_info")
        given: Mapping[str, Any] = info if isinstance(info, dict) else {}
        action = text_at(payload, "agent_action_name")
        uses = _uses(action, given) if report.event == "after-tool" else ()
        return happening_of(
            report,
            agent=self.name,
            session=text_at(payload, "trajectory_id"),
            folder=folder_at(report),
            id=digest_at(payload, "agent_action_name", "execution_id", "tool_info"),
            text=text_at(given, "user_prompt", "response"),
            uses=uses,
            calls=calls_of(uses, _arguments(action, given), _result(action, given) if uses else NO_RESULT),
        )


def _renamed(place: Place) -> list[Path]:
    """Return the user's file of MCP servers since the renaming, if there is such an installation."""
    folder = place.home / ".config" / "devin"
    return [folder / "mcp_config.json"] if folder.is_dir() else []


def _uses(action: str, given: Mapping[str, Any]) -> tuple[ToolUse, ...]:
    tool = _TOOLS.get(action, "other")
    name = text_at(given, "mcp_tool_name") if tool == "mcp" else action.removeprefix("post_")
    return uses_of(name, _arguments(action, given), tool)


def _arguments(action: str, given: Mapping[str, Any]) -> object:
    return given.get("mcp_tool_arguments") if action == "post_mcp_tool_use" else given


def _result(action: str, given: Mapping[str, Any]) -> ToolResult:
    """Return how a tool ended; nothing is reported about commands."""
    if action == "post_mcp_tool_use":
        return result_of(given.get("mcp_result"), "mcp")
    return ToolResult("" if action == "post_run_command" else "ok")


ADAPTER = Windsurf()
