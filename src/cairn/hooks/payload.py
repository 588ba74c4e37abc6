"""Reads hook payloads into happenings; shared by all adapters.

Payloads come from other programs, so a field of an unexpected type counts as missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cairn.digest import blake2b
from cairn.errors import RequestError
from cairn.hooks.report import Happening, Report, ToolUse
from cairn.memory.fresh import FRESH
from cairn.memory.moments import MAX_NAME_CHARS, MAX_TEXT_CHARS, Moment, ToolCall
from cairn.memory.uses import SUBAGENT

FRESH_VARIABLE = "CAIRN_FRESH"
_MAX_SESSION_CHARS = 150
_TOOL_EVENTS = ("before-tool", "after-tool")


def text_at(payload: Mapping[str, Any], *names: str) -> str:
    """Return the first non-empty text under some names, without lone surrogates; empty if there is none."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value.encode("utf-8", "replace").decode()
    return ""


def number_at(payload: Mapping[str, Any], *names: str) -> float:
    """Return the first number under some names, 0 if there is none."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
    return 0


def folder_at(report: Report, *folders: object) -> str:
    """Return the first of some folders that is absolute, else the one that the hook ran in."""
    for folder in folders:
        if isinstance(folder, str) and os.path.isabs(folder) and "\0" not in folder:
            return folder.encode("utf-8", "replace").decode()
    return report.folder


def digest_at(payload: Mapping[str, Any], *names: str) -> str:
    """Return an event's id for an agent that gives its events a time but no ids; empty without a time.

    Two hooks that report the same event get the same id.
    """
    if not payload.get("timestamp"):
        return ""
    parts = [payload.get(name) for name in ("timestamp", *names)]
    text = json.dumps(parts, sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=12).hexdigest()


def details_at(payload: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Return the short texts under some names."""
    return {name: text[:MAX_NAME_CHARS] for name in names if (text := text_at(payload, name))}


def happening_of(
    report: Report,
    *,
    agent: str,
    session: str,
    folder: str,
    id: str = "",
    text: str = "",
    details: Mapping[str, str] | None = None,
    subagent: str = "",
    uses: Sequence[ToolUse] = (),
    calls: Sequence[ToolCall] = (),
    use_id: str = "",
) -> Happening:
    """Return the happening for an event.

    Args:
        report: of the event.
        agent: the agent's name.
        session: the agent's own id of its session.
        folder: where the agent works.
        id: the agent's own id of the event, if any; unique in a session together with the event's name.
        text: of a prompt or of the agent's message.
        details: further fields.
        subagent: the id of the sub-agent in question.
        uses: of a tool.
        calls: one for each use.
        use_id: the agent's own id of a tool use, the same before and after it.

    Raises:
        RequestError: if the session has no id.
    """
    if not session:
        raise RequestError(
            f"the payload of {agent} names no session", "update the agent, and report it if that does not help"
        )
    session = f"{agent}:{session[:_MAX_SESSION_CHARS]}"
    subagent = subagent[:_MAX_SESSION_CHARS]
    said = dict(details or {})
    if subagent:
        said[SUBAGENT] = subagent
    if report.event == "session-start" and report.environment.get(FRESH_VARIABLE) == "1":
        said[FRESH] = "1"
    id = (id or report.id)[:MAX_NAME_CHARS]
    moment = Moment(id, report.event, session, agent, report.seconds, text[:MAX_TEXT_CHARS], details=said)
    moments = tuple(
        moment._replace(id=f"{id}.{number}" if number else id, call=call) for number, call in enumerate(calls)
    )
    use = uses[0]._replace(id=use_id[:MAX_NAME_CHARS]) if uses and report.event in _TOOL_EVENTS else None
    return Happening(report.event, session, folder, moments or (moment,), use, subagent)
