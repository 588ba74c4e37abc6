"""Reads recent failures of the hook program from its own log, which is shared by all projects."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from cairn.errors import UnsafeStateError
from cairn.hooks.plain_files import LOG, MAX_LOG_BYTES
from cairn.storage.own_files import read_own

_RECENT_SECONDS = 86_400.0
_MOST_AGENTS = 20
_LINE = re.compile(r"\S+ (\S+) (\S+): (.*)")  # time, agent, event, failure
_UNHEARD = {"heard": 0.0, "count": 0, "last_ms": 0.0, "p95_ms": 0.0, "slowest_ms": 0.0}


def recent_lines(state: Path, now: float | None = None) -> list[str]:
    """Return the lines of the last day; they begin with a time that sorts as text.

    Args:
        state: the user's state folder.
        now: the time, in seconds since the epoch.
    """
    try:
        lines = read_own(state / LOG, 2 * MAX_LOG_BYTES).decode("utf-8", "replace").splitlines()
    except (OSError, UnsafeStateError):
        return []
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime((time.time() if now is None else now) - _RECENT_SECONDS))
    return [line for line in lines if line >= since]


def with_errors(status: dict[str, Any], state: Path, now: float | None = None) -> dict[str, Any]:
    """Return a project's status, with how often each agent's hooks failed in the last day, and the last failure.

    Args:
        status: from `UpkeepFacet.status`.
        state: the user's state folder.
        now: the time, in seconds since the epoch.
    """
    agents = {agent["agent"]: {**agent, "events": []} for agent in status["memory"]["agents"]}
    events = {
        (agent["agent"], event["event"]): {**event, "errors": 0, "error": ""}
        for agent in status["memory"]["agents"]
        for event in agent["events"]
    }
    for line in recent_lines(state, now):
        match = _LINE.fullmatch(line)
        if match is None or (match[1] not in agents and len(agents) >= _MOST_AGENTS):
            continue
        agents.setdefault(match[1], {"agent": match[1], "heard": 0.0, "events": []})
        event = events.setdefault((match[1], match[2]), {"event": match[2], **_UNHEARD, "errors": 0})
        event.update(errors=event["errors"] + 1, error=match[3])
    for (agent, _), event in events.items():
        agents[agent]["events"].append(event)
    return {**status, "memory": {**status["memory"], "agents": list(agents.values())}}
