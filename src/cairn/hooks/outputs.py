"""Writes hook answers in the form that most agents adopted from Claude Code."""

from __future__ import annotations

import json
from typing import Any

from cairn.hooks.report import Reply


def nested(event: str, reply: Reply) -> str:
    """Return an answer below `hookSpecificOutput`, empty for silence.

    Args:
        event: the agent's name for it.
        reply: what to say.
    """
    said: dict[str, Any] = {}
    if reply.denial:
        said |= {"permissionDecision": "deny", "permissionDecisionReason": reply.denial}
    if reply.context:
        said["additionalContext"] = reply.context
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}}) if said else ""
