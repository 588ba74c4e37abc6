"""What a hook of an agent reports, and what it is answered, in one form for all agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cairn.memory.moments import Moment


class Report(NamedTuple):
    """What the hook program hands over: an event as the agent described it.

    Attributes:
        id: of this run of the hook program; it names the event once and for all where the agent does not.
        agent: whose hook this is, by the name of its adapter.
        event: one of `cairn.memory.moments.EVENTS`.
        seconds: when, since the epoch.
        folder: in which the hook ran.
        environment: the variables that adapters look at, as far as they are set.
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
    """What a tool is asked for, or was: as much of it as decides what an agent may be shown.

    Attributes:
        tool: one of `cairn.memory.moments.TOOLS`.
        name: what the agent calls it.
        path: the file or folder, absolute or relative to the folder of the happening; of a shell, where its command
            runs, empty for that folder.
        offset, limit: the first line and the number of lines to read; 0 where none is given.
        pattern: what a search looks for.
        globs: the files that it is limited to.
        command: of a shell.
        edits: what an edit replaces, and by what; the whole of a file that is written replaces the empty string.
        id: the agent's own id of this use, the same before and after the tool; empty where it has none.
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
    """What an event means.

    Attributes:
        event: one of `cairn.memory.moments.EVENTS`.
        session: the agent's own id of its session, with the agent's name before it: `claude-code:40c3b001`.
        subagent: which helper of the session this is about, empty for the session's own.
        folder: where the agent works.
        moments: what is taken in: one, but for a tool that changes several files.
        use: of `before-tool` and `after-tool`.
    """

    event: str
    session: str
    folder: str
    moments: tuple[Moment, ...]
    use: ToolUse | None = None
    subagent: str = ""


class Reply(NamedTuple):
    """What an agent is answered: nothing, something to know, or that a tool is not run and why.

    Attributes:
        context: what it is shown beside what it has.
        denial: what it is shown in the place of what it asked for.
    """

    context: str = ""
    denial: str = ""


SILENCE = Reply()
