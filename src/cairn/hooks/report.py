"""What agents' hooks report and how they are answered, in one form for all agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cairn.memory.moments import Moment


class Report(NamedTuple):
    """What the hook program hands over: an event as described by the agent.

    Attributes:
        id: of this run of the hook program; identifies the event if the agent has no id for it.
        agent: the name of the adapter of the hook's agent.
        event: one of `cairn.memory.moments.EVENTS`.
        seconds: when, since the epoch.
        folder: in which the hook ran.
        environment: those variables used by adapters that are set.
        payload: the agent's own JSON.
    """

    id: str
    agent: str
    event: str
    seconds: float
    folder: str
    environment: Mapping[str, str]
    payload: Mapping[str, Any]


class ToolUse(NamedTuple):
    """A tool's input, as far as it decides what an agent may be shown.

    Attributes:
        tool: one of `cairn.memory.moments.TOOLS`.
        name: the agent's name for it.
        path: the file or folder, absolute or relative to the happening's folder; for a shell, where its command runs,
            empty for that folder.
        offset, limit: the first line and the number of lines to read; 0 if not given.
        pattern: of a search.
        globs: the files that it is limited to.
        command: of a shell.
        edits: (old, new) texts of an edit; the content of a written file replaces the empty string.
        id: the agent's own id of this use, the same before and after the tool; empty if it has none.
    """

    tool: str
    name: str
    path: str = ""
    offset: int = 0
    limit: int = 0
    pattern: str = ""
    globs: tuple[str, ...] = ()
    command: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    id: str = ""


class Happening(NamedTuple):
    """The interpretation of an event.

    Attributes:
        event: one of `cairn.memory.moments.EVENTS`.
        session: the agent's name and its own id of the session: `claude-code:40c3b001`.
        subagent: the sub-agent in question, empty for the session itself.
        folder: the agent's working folder.
        moments: to be recorded: one, or several for a tool that changes several files.
        use: of `before-tool` and `after-tool`.
    """

    event: str
    session: str
    folder: str
    moments: tuple[Moment, ...]
    use: ToolUse | None = None
    subagent: str = ""


class Reply(NamedTuple):
    """The answer to an agent: nothing, context, or the denial of a tool with the reason.

    Attributes:
        context: shown in addition.
        denial: shown instead of what it asked for.
    """

    context: str = ""
    denial: str = ""


SILENCE = Reply()
