"""Devin, in the terminal and as Devin Local on the desktop: `.devin/hooks.v1.json`, in the style of Claude Code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from cairn.hooks.adapter import Ability, Adapter, Change, Detection, Place
from cairn.hooks.commands import hook_command
from cairn.hooks.outputs import nested
from cairn.hooks.payload import details_at, folder_at, happening_of, text_at
from cairn.hooks.report import Happening, Reply, Report
from cairn.hooks.shared_files import hook_items, server_entry, skill
from cairn.hooks.tool_result import NO_RESULT, result_of
from cairn.hooks.tool_use import calls_of, uses_of

_TIMEOUT_SECONDS = 10
_BEFORE = "^(read|exec|grep|glob)$"


class Devin(Adapter):
    """Devin. Its payloads name no folder; a variable does."""

    name = "devin"
    title = "Devin"
    detection = Detection(("devin",), (".devin",), (".config/devin",))
    events: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "session-start": ("SessionStart",),
        "prompt": ("UserPromptSubmit",),
        "before-tool": ("PreToolUse",),
        "after-tool": ("PostToolUse",),
        "before-compaction": ("PostCompaction",),  # all that matters is that the agent has forgotten
        "turn-end": ("Stop",),
        "session-end": ("SessionEnd",),
    }
    abilities: ClassVar[Mapping[str, frozenset[Ability]]] = {
        "session-start": frozenset({"context"}),
        "prompt": frozenset({"context"}),
        "before-tool": frozenset({"denial"}),
        "after-tool": frozenset({"context"}),
    }
    by_hand = ("Devin runs hooks only in folders that you trust, not in Restricted Mode.",)
    first_payload: ClassVar[Mapping[str, Any]] = {
        "hook_event_name": "SessionStart",
        "session_id": "SESSION",
        "source": "startup",
    }

    def changes(self, place: Place) -> list[Change]:
        """Return the hooks, the MCP server and the skill."""
        hooks: dict[str, dict[str, Any]] = {}
        for event, names in self.events.items():
            command = {"type": "command", "command": hook_command(place, event, self.name)}
            hooks[names[0]] = {"hooks": [{**command, "timeout": _TIMEOUT_SECONDS}]}
        hooks["PreToolUse"] = {"matcher": _BEFORE, **hooks["PreToolUse"]}
        if place.level == "project":
            folder = place.root / ".devin"
            items = hook_items(folder / "hooks.v1.json", "json", hooks, ())
        else:
            folder = place.home / ".config" / "devin"
            items = hook_items(folder / "config.json", "jsonc", hooks)
        return [*items, server_entry(folder / "mcp_config.json", place), skill(place)]

    def read(self, report: Report) -> Happening | None:
        """Interpret a report."""
        payload = report.payload
        given = payload.get("tool_input")
        uses = uses_of(text_at(payload, "tool_name"), given) if report.event in ("before-tool", "after-tool") else ()
        result = result_of(payload.get("tool_response"), uses[0].tool) if report.event == "after-tool" else NO_RESULT
        prompt, use_id = text_at(payload, "prompt_id"), text_at(payload, "tool_use_id")
        if use_id:
            use_id = f"{prompt}/{use_id}"  # the model numbers the uses of a tool from one again
        return happening_of(
            report,
            agent=self.name,
            session=text_at(payload, "session_id"),
            folder=folder_at(report, report.environment.get("DEVIN_PROJECT_DIR"), payload.get("cwd")),
            id=prompt if report.event == "prompt" else use_id,
            text=text_at(payload, "prompt", "last_assistant_message"),
            details=details_at(payload, ("source", "reason")),
            uses=uses,
            calls=calls_of(uses, given, result),
            use_id=use_id,
        )

    def answer(self, report: Report, reply: Reply) -> str:
        """Return Devin's form: a denial at the top level, context below `hookSpecificOutput`."""
        if reply.denial:
            return json.dumps({"decision": "block", "reason": reply.denial})
        return nested(self.events[report.event][0], reply)


ADAPTER = Devin()
