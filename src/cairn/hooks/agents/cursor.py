"""Cursor: `.cursor/hooks.json` and `.cursor/mcp.json`; flat answers in snake case, `{}` if there is nothing to say."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any, ClassVar, NamedTuple

from cairn.hooks.adapter import Ability, Adapter, Change, Detection, FileEntry, Place
from cairn.hooks.commands import hook_command
from cairn.hooks.payload import details_at, folder_at, happening_of, number_at, text_at
from cairn.hooks.report import Happening, Reply, Report
from cairn.hooks.shared_files import base_of, hook_items, server_entry, skill
from cairn.hooks.tool_result import NO_RESULT, ToolResult, failure_of, result_of, unpack
from cairn.hooks.tool_use import calls_of, uses_of
from cairn.memory.moments import Moment

_FAILURE = "postToolUseFailure"
_TIMEOUT_SECONDS = 10
_BEFORE = "^(Read|Shell|Grep)$"  # a JavaScript regular expression for the tools that an answer may replace
_DETAILS = ("reason", "final_status", "composer_mode", "trigger", "status", "subagent_type")
_START = "first-event"  # the id of a start that was not reported
_MAX_KNOWN = 200  # conversations to remember
_TO_USER = "Cairn answers this from its index."


class _KnownChats(NamedTuple):
    """The state of conversations: whether it was seen to start, and the prompt with which nothing was shown yet."""

    is_begun: bool = False
    prompt: Moment | None = None


class Cursor(Adapter):
    """Cursor on the desktop and in the terminal, which report the same.

    Some starts are not reported, and prompts accept no context. What is to be shown then comes with the next tool.
    """

    name = "cursor"
    title = "Cursor"
    detection = Detection(("cursor", "cursor-agent"), (".cursor", ".cursorrules"), (".cursor",))
    events: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "session-start": ("sessionStart",),
        "prompt": ("beforeSubmitPrompt",),
        "before-tool": ("preToolUse",),
        "after-tool": ("postToolUse", _FAILURE),
        "before-compaction": ("preCompact",),
        "turn-end": ("afterAgentResponse",),
        "session-end": ("sessionEnd",),
        "subagent-start": ("subagentStart",),
        "subagent-end": ("subagentStop",),
    }
    # Context for a prompt is not documented, and unknown fields in an answer may block the prompt.
    abilities: ClassVar[Mapping[str, frozenset[Ability]]] = {
        "session-start": frozenset({"context"}),
        "before-tool": frozenset({"denial"}),
        "after-tool": frozenset({"context"}),
    }
    by_hand = (
        "In Cursor, open the project as a trusted workspace; hooks of a project run only there.",
        "If Cursor asks whether to enable the MCP server `cairn`, say yes. In a terminal: agent mcp enable cairn",
    )
    first_payload: ClassVar[Mapping[str, Any]] = {
        "conversation_id": "SESSION",
        "generation_id": "1",
        "model": "default",
        "session_id": "SESSION",
        "is_background_agent": False,
        "composer_mode": "agent",
        "hook_event_name": "sessionStart",
        "cursor_version": "3.18.25",
        "workspace_roots": ["FOLDER"],
        "user_email": None,
        "transcript_path": None,
    }

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[str, _KnownChats] = OrderedDict()

    def changes(self, place: Place) -> list[Change]:
        """Return the hooks, the MCP server and the skill.

        Cursor ignores the whole hooks file if it has an unknown event, or `//` inside a string.
        """
        folder = base_of(place) / ".cursor"
        hooks: dict[str, dict[str, Any]] = {}
        for event, names in self.events.items():
            command = hook_command(place, event, self.name).replace("//", "/")
            for name in names:
                hooks[name] = {"command": command, "timeout": _TIMEOUT_SECONDS}
        hooks["preToolUse"]["matcher"] = _BEFORE
        file = folder / "hooks.json"
        return [
            FileEntry(file, "jsonc", ("version",), 1, is_default=True),
            *hook_items(file, "jsonc", hooks),
            server_entry(folder / "mcp.json", place, more={"type": "stdio"}),
            skill(place),
        ]

    def takes(self, report: Report) -> frozenset[Ability]:
        """Return what Cursor accepts, which is nothing after a failed tool."""
        return frozenset() if _name_of(report.payload) == _FAILURE else super().takes(report)

    def read(self, report: Report) -> Happening | None:
        """Return what a report means."""
        payload = report.payload
        session = text_at(payload, "conversation_id", "session_id")
        roots = payload.get("workspace_roots")
        folder = folder_at(
            report, *(roots[:1] if isinstance(roots, list) else ()), report.environment.get("CURSOR_PROJECT_DIR")
        )
        given, use_id = payload.get("tool_input"), text_at(payload, "tool_use_id")
        uses = uses_of(text_at(payload, "tool_name"), given) if report.event in ("before-tool", "after-tool") else ()
        if uses and uses[0].tool == "shell" and not uses[0].path:
            uses = (uses[0]._replace(path=text_at(payload, "cwd")), *uses[1:])
        result = _result(payload, uses[0].tool) if report.event == "after-tool" else NO_RESULT
        happening = happening_of(
            report,
            agent=self.name,
            session=session,
            folder=folder,
            id=text_at(payload, "generation_id") if report.event == "prompt" else use_id,
            text=text_at(payload, "prompt", "text", "summary"),
            details=details_at(payload, _DETAILS),
            subagent=text_at(payload, "subagent_id") if report.event.startswith("subagent-") else "",
            uses=uses,
            calls=calls_of(uses, given, result, number_at(payload, "duration")),
            use_id=use_id,
        )
        return self._with_unshown(happening, report)

    def _with_unshown(self, happening: Happening, report: Report) -> Happening:
        """Return a happening that also answers the start and the prompt, which could not be answered themselves."""
        session, moment = happening.session, happening.moments[0]
        before: list[Moment] = []
        with self._lock:
            known = self._known.pop(session, _KnownChats())
            if happening.event == "session-start":
                known = _KnownChats(is_begun=True)
            elif happening.event == "prompt":
                known = known._replace(prompt=moment)
            elif "context" in self.takes(report):
                if not known.is_begun:
                    before.append(moment._replace(id=_START, event="session-start", text="", call=None, details={}))
                if known.prompt is not None:
                    before.append(known.prompt)
                known = _KnownChats(is_begun=True)
            if happening.event != "session-end":
                self._known[session] = known
            while len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
        return happening._replace(moments=(*before, *happening.moments))

    def answer(self, report: Report, reply: Reply) -> str:
        """Return a JSON object in any case."""
        if reply.denial:
            return json.dumps({"permission": "deny", "user_message": _TO_USER, "agent_message": reply.denial})
        return json.dumps({"additional_context": reply.context} if reply.context else {})


def _name_of(payload: Mapping[str, Any]) -> str:
    return text_at(payload, "hook_event_name")


def _result(payload: Mapping[str, Any], tool: str) -> ToolResult:
    """Return how a tool ended; of reads, Cursor only reports the length."""
    if _name_of(payload) == _FAILURE:
        return failure_of(payload.get("error_message"), tool, text_at(payload, "failure_type"))
    answer = unpack(payload.get("tool_output"))
    result = result_of(answer, tool, "ok")
    if isinstance(answer, Mapping) and (length := int(number_at(answer, "content_length"))) > 0:
        return result._replace(output_bytes=length)
    return result


ADAPTER = Cursor()
