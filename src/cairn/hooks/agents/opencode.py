"""OpenCode: a plugin that runs the hook program, and the MCP server in `opencode.json` or `opencode.jsonc`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from cairn.hooks.adapter import Ability, Adapter, Change, Detection, FileEntry, Place, Whole
from cairn.hooks.payload import details_at, folder_at, happening_of, number_at, text_at
from cairn.hooks.report import Happening, Reply, Report
from cairn.hooks.shared_files import SERVER, config_folder, skill
from cairn.hooks.texts import text_of
from cairn.hooks.tool_result import NO_RESULT, ToolResult, failure_of, result_of
from cairn.hooks.tool_use import calls_of, uses_of

_SCHEMA = "https://opencode.ai/config.json"
_FAILURE = "message.part.updated"
_COMMAND = '["cairn"]'  # as in the plugin
_DENIALS = ("rejected permission", "prevents you from using")  # a tool's error if it was not allowed
_CONTEXT: frozenset[Ability] = frozenset({"context"})


class OpenCode(Adapter):
    """OpenCode. Its plugin is ours, `texts/opencode.ts`, so the payload has our own form."""

    name = "opencode"
    title = "OpenCode"
    detection = Detection(
        ("opencode",), (".opencode", "opencode.json", "opencode.jsonc"), (".config/opencode", ".opencode")
    )
    events: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "session-start": ("session.created",),
        "prompt": ("chat.message",),
        "before-tool": ("tool.execute.before",),
        "after-tool": ("tool.execute.after", _FAILURE),
        "before-compaction": ("session.compacted",),
        "turn-end": ("session.idle",),
        "session-end": ("session.deleted",),
        "subagent-start": ("session.created",),
        "subagent-end": ("session.idle",),
    }
    abilities: ClassVar[Mapping[str, frozenset[Ability]]] = {
        "session-start": _CONTEXT,
        "prompt": _CONTEXT,
        "before-tool": frozenset({"denial"}),
        "after-tool": _CONTEXT,
        "subagent-start": _CONTEXT,
    }
    by_hand = ("Restart OpenCode if it is running; it loads plugins when it starts.",)
    first_payload: ClassVar[Mapping[str, Any]] = {
        "session_id": "SESSION",
        "agent_id": "",
        "cwd": "FOLDER",
        "hook_event_name": "session.created",
        "source": "startup",
    }

    def changes(self, place: Place) -> list[Change]:
        """Return the plugin, the MCP server and the skill."""
        if place.level == "project":
            folder, plugins = place.root, place.root / ".opencode" / "plugins"
        else:
            folder = Path(place.environment.get("OPENCODE_CONFIG_DIR") or config_folder(place) / "opencode")
            plugins = folder / "plugins"
        plugin = text_of("opencode.ts").replace(_COMMAND, json.dumps(list(place.command)), 1)
        server = {"type": "local", "command": [*place.command, "mcp"], "enabled": True}
        return [
            Whole(plugins / "cairn.ts", plugin),
            FileEntry(_config(folder), "jsonc", ("$schema",), _SCHEMA, is_default=True),  # otherwise OpenCode adds it
            FileEntry(_config(folder), "jsonc", ("mcp", SERVER), server),
            skill(place),
        ]

    def takes(self, report: Report) -> frozenset[Ability]:
        """Return what OpenCode accepts; its plugin is only notified of failures."""
        return frozenset() if _is_failure(report.payload) else super().takes(report)

    def read(self, report: Report) -> Happening | None:
        """Interpret a report."""
        payload = report.payload
        given = payload.get("tool_input")
        uses = uses_of(text_at(payload, "tool_name"), given) if report.event in ("before-tool", "after-tool") else ()
        result = _result(payload, uses[0].tool) if report.event == "after-tool" else NO_RESULT
        return happening_of(
            report,
            agent=self.name,
            session=text_at(payload, "session_id"),
            folder=folder_at(report, payload.get("cwd")),
            id=text_at(payload, "message_id"),  # some models reuse ids of calls
            text=text_at(payload, "prompt", "last_assistant_message"),
            details=details_at(payload, ("source", "reason")),
            subagent=text_at(payload, "agent_id"),
            uses=uses,
            calls=calls_of(uses, given, result, number_at(payload, "duration_ms")),
        )

    def answer(self, report: Report, reply: Reply) -> str:
        """Return the answer for the plugin."""
        said = {name: text for name, text in reply._asdict().items() if text}
        return json.dumps(said) if said else ""


def _config(folder: Path) -> Path:
    """Return the settings file that exists, else the one without comments."""
    with_comments = folder / "opencode.jsonc"
    return with_comments if with_comments.exists() else folder / "opencode.json"


def _is_failure(payload: Mapping[str, Any]) -> bool:
    return text_at(payload, "hook_event_name") == _FAILURE


def _result(payload: Mapping[str, Any], tool: str) -> ToolResult:
    if _is_failure(payload):
        error = text_at(payload, "error")
        return failure_of(error, tool, "denied" if any(words in error for words in _DENIALS) else "")
    answer = payload.get("tool_response")
    result = result_of(answer, tool, "ok")
    n_bytes = int(number_at(answer, "bytes")) if isinstance(answer, Mapping) else 0
    return result._replace(output_bytes=n_bytes) if n_bytes > 0 else result


ADAPTER = OpenCode()
