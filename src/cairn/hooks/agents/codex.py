"""Codex CLI: hooks like Claude Code's with a strict schema, and `notify` if hooks are not approved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from cairn.digest import blake2b
from cairn.errors import RequestError
from cairn.hooks.adapter import Ability, Adapter, Block, Change, Detection, Place
from cairn.hooks.commands import hook_command
from cairn.hooks.outputs import nested
from cairn.hooks.payload import details_at, folder_at, happening_of, text_at
from cairn.hooks.report import Happening, Reply, Report
from cairn.hooks.shared_files import hook_items, server_entry, skill
from cairn.hooks.texts import text_of
from cairn.hooks.tool_result import NO_RESULT, result_of
from cairn.hooks.tool_use import calls_of, uses_of
from cairn.memory.moments import MAX_TEXT_CHARS, Moment

_NOTICE = "agent-turn-complete"  # the type of `notify`'s payload
_CONTEXT: frozenset[Ability] = frozenset({"context"})
_DETAILS = ("source", "reason", "trigger", "model", "agent_type", "permission_mode", "client")
_TIMEOUT_SECONDS = 10
_SHORT_SECONDS = 3  # the most that a session's end may take
_MOST_PROMPTS = 10  # prompts in one turn


class Codex(Adapter):
    """Codex in the terminal, which does all its reading and searching in a shell."""

    name = "codex"
    title = "Codex CLI"
    detection = Detection(("codex",), (".codex",), (".codex",))
    events: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "session-start": ("SessionStart",),
        "prompt": ("UserPromptSubmit",),
        "before-tool": ("PreToolUse",),
        "after-tool": ("PostToolUse",),
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
    }
    max_context_chars = 8_000  # Codex keeps 2,500 tokens
    by_hand = (
        "In Codex, type /hooks and approve those of Cairn; until then it skips them without a word.",
        "Codex reads the files of a project only if you trust it; it asks when it starts there.",
    )
    first_payload: ClassVar[Mapping[str, Any]] = {
        "session_id": "SESSION",
        "transcript_path": None,
        "cwd": "FOLDER",
        "hook_event_name": "SessionStart",
        "model": "gpt-5.5",
        "permission_mode": "default",
        "source": "startup",
    }

    def changes(self, place: Place) -> list[Change]:
        """Return the hooks, the MCP server, the skill, and a passage in AGENTS.md.

        Codex hides MCP tools behind a search, skips unapproved hooks, and only searches in a shell.
        """
        folder = (place.root if place.level == "project" else place.home) / ".codex"
        moved = place.environment.get("CODEX_HOME", "")
        if place.level == "user" and moved:
            folder = Path(moved)
        hooks = {
            name: {"hooks": [_hook(hook_command(place, event, self.name), event)]}
            for event, names in self.events.items()
            for name in names
        }
        return [
            *hook_items(folder / "hooks.json", "json", hooks),
            server_entry(folder / "config.toml", place, format="toml", servers="mcp_servers"),
            skill(place),
            Block((place.root if place.level == "project" else folder) / "AGENTS.md", text_of("block.md")),
        ]

    def read(self, report: Report) -> Happening | None:
        """Interpret a report; `notify` reports the end of a turn with its prompts.

        Raises:
            RequestError: if the payload is of another event, or names no session.
        """
        payload = report.payload
        if text_at(payload, "type"):
            return self._read_notice(report)
        name = text_at(payload, "hook_event_name")
        if name and name not in self.events[report.event]:
            raise RequestError(f"{name[:50]} is not {report.event}", "register the hook for its own event")
        given = payload.get("tool_input")
        uses = uses_of(text_at(payload, "tool_name"), given) if report.event in ("before-tool", "after-tool") else ()
        result = NO_RESULT
        if uses and report.event == "after-tool":
            outcome = "" if uses[0].tool == "shell" else "ok"  # a command's exit code is not reported
            result = result_of(payload.get("tool_response"), uses[0].tool, outcome)
        text = text_at(payload, "prompt", "last_assistant_message")
        return happening_of(
            report,
            agent=self.name,
            session=text_at(payload, "session_id"),
            folder=folder_at(report, payload.get("cwd")),
            id=_id_of(report, text),
            text=text,
            details={} if uses else details_at(payload, _DETAILS),  # those of a session
            subagent=text_at(payload, "agent_id"),
            uses=uses,
            calls=calls_of(uses, given, result),
            use_id=text_at(payload, "tool_use_id"),
        )

    def _read_notice(self, report: Report) -> Happening | None:
        payload = report.payload
        if payload.get("type") != _NOTICE or report.event != "turn-end":
            return None
        turn = text_at(payload, "turn-id")
        end = happening_of(
            report,
            agent=self.name,
            session=text_at(payload, "thread-id"),
            folder=folder_at(report, payload.get("cwd")),
            id=turn,
            text=text_at(payload, "last-assistant-message"),
            details=details_at(payload, _DETAILS),
        )
        return end._replace(moments=(*_prompts(payload, end.moments[0], turn), *end.moments))

    def answer(self, report: Report, reply: Reply) -> str:
        """Return an answer with only what the schema names; otherwise Codex drops all of it."""
        return nested(self.events[report.event][0], reply) if reply.context or reply.denial else ""


def _prompts(payload: Mapping[str, Any], end: Moment, turn: str) -> Iterator[Moment]:
    """Yield the prompts of a turn, with the same ids as from the hook, so that each counts once."""
    given = payload.get("input-messages")
    for number, text in enumerate(given[-_MOST_PROMPTS:] if isinstance(given, list) else ()):
        if isinstance(text, str) and text:
            text = text.encode("utf-8", "replace").decode()
            id = _prompt_id(turn, text) if turn else f"{end.id}.prompt-{number}"
            yield end._replace(id=id, event="prompt", text=text[:MAX_TEXT_CHARS], details={})


def _prompt_id(turn: str, text: str) -> str:
    return f"{turn}-{blake2b(text.encode(), digest_size=8).hexdigest()}"


def _id_of(report: Report, text: str) -> str:
    """Return an id of an event, empty if there is none."""
    payload = report.payload
    turn = text_at(payload, "turn_id")
    if report.event in ("before-tool", "after-tool"):
        return text_at(payload, "tool_use_id")
    if report.event in ("subagent-start", "subagent-end"):
        return text_at(payload, "agent_id")
    if report.event == "prompt" and turn:
        return _prompt_id(turn, text)
    if report.event == "turn-end" and turn:  # the same as from `notify`, unless a hook extended the turn
        return _prompt_id(turn, text) if payload.get("stop_hook_active") is True else turn
    return ""


def _hook(command: str, event: str) -> dict[str, Any]:
    return {
        "type": "command",
        "command": command,
        "timeout": _SHORT_SECONDS if event == "session-end" else _TIMEOUT_SECONDS,
    }


ADAPTER = Codex()
