"""Gemini CLI: everything is in `.gemini/settings.json`; milliseconds, nested answers, `{}` for silence."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from cairn.hooks.adapter import Ability, Adapter, Change, Detection, Place
from cairn.hooks.commands import hook_command
from cairn.hooks.outputs import nested
from cairn.hooks.payload import details_at, digest_at, folder_at, happening_of, text_at
from cairn.hooks.report import Happening, Reply, Report
from cairn.hooks.shared_files import base_of, hook_items, server_entry, skill
from cairn.hooks.tool_result import NO_RESULT, result_of
from cairn.hooks.tool_use import calls_of, uses_of

_TIMEOUT_MS = 10_000
_BEFORE = "read_file|read_many_files|run_shell_command|grep_search|search_file_content|glob"
# What a session is shown at its start is put before its first prompt.
_SHOWN = re.compile(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)


class GeminiCli(Adapter):
    """Gemini CLI. Its `PreCompress` comes before every request, so compactions cannot be detected."""

    name = "gemini-cli"
    title = "Gemini CLI"
    detection = Detection(("gemini",), (".gemini", "GEMINI.md"), (".gemini",))
    events: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "session-start": ("SessionStart",),
        "prompt": ("BeforeAgent",),
        "before-tool": ("BeforeTool",),
        "after-tool": ("AfterTool",),
        "turn-end": ("AfterAgent",),
        "session-end": ("SessionEnd",),
    }
    abilities: ClassVar[Mapping[str, frozenset[Ability]]] = {
        "session-start": frozenset({"context"}),
        "prompt": frozenset({"context"}),
        "before-tool": frozenset({"denial"}),
        "after-tool": frozenset({"context"}),
    }
    some_lines = "start_line={first}, end_line={last}"
    by_hand = ("Start Gemini CLI in the project and trust the folder; it warns of new hooks once.",)
    first_payload: ClassVar[Mapping[str, Any]] = {
        "session_id": "SESSION",
        "transcript_path": "",
        "cwd": "FOLDER",
        "hook_event_name": "SessionStart",
        "timestamp": "2026-11-20T21:00:17.743Z",
        "source": "startup",
    }

    def changes(self, place: Place) -> list[Change]:
        """Return the hooks, the MCP server and the skill."""
        file = base_of(place) / ".gemini" / "settings.json"
        hooks: dict[str, dict[str, Any]] = {}
        for event, names in self.events.items():
            command = {"type": "command", "name": "cairn", "command": hook_command(place, event, self.name)}
            hooks[names[0]] = {"hooks": [{**command, "timeout": _TIMEOUT_MS}]}
        hooks["BeforeTool"] = {"matcher": _BEFORE, **hooks["BeforeTool"]}
        return [*hook_items(file, "jsonc", hooks), server_entry(file, place, format="jsonc"), skill(place)]

    def read(self, report: Report) -> Happening | None:
        """Interpret a report."""
        payload = report.payload
        name, given = text_at(payload, "tool_name"), payload.get("tool_input")
        uses = uses_of(name, given) if report.event in ("before-tool", "after-tool") else ()
        answer = payload.get("tool_response")
        result = result_of(answer, uses[0].tool, "ok") if report.event == "after-tool" else NO_RESULT
        text = text_at(payload, "prompt_response") if report.event == "turn-end" else text_at(payload, "prompt")
        return happening_of(
            report,
            agent=self.name,
            session=text_at(payload, "session_id") or report.environment.get("GEMINI_SESSION_ID", ""),
            folder=folder_at(report, payload.get("cwd"), report.environment.get("GEMINI_PROJECT_DIR")),
            id=digest_at(payload, "tool_name", "tool_input"),
            text=without_context(text) if report.event == "prompt" else text,
            details=details_at(payload, ("source", "reason")),
            uses=uses,
            calls=calls_of(uses, given, result),
        )

    def answer(self, report: Report, reply: Reply) -> str:
        """Return a JSON object in any case."""
        if reply.denial:
            return json.dumps({"decision": "deny", "reason": reply.denial})
        return nested(self.events[report.event][0], reply) or "{}"


def without_context(prompt: str) -> str:
    """Return a prompt without the context that hooks put before it."""
    while (shown := _SHOWN.match(prompt)) is not None:
        prompt = prompt[shown.end() :]
    return prompt


ADAPTER = GeminiCli()
