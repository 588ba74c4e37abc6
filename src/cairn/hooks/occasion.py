"""A use of a tool as an occasion to answer an agent, and what it may be answered."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

from cairn.hooks.adapter import Ability
from cairn.hooks.report import Happening, Reply, ToolUse
from cairn.hooks.session_state import SessionState
from cairn.hooks.shell import understand_command
from cairn.hooks.shell_programs import FileRead, Search
from cairn.memory.identity import session_to_keep
from cairn.storage.memory.rows import ServedAnswer

SHELL = "shell"
_EDITING = ("edit", "write")


class Occasion(NamedTuple):
    """A tool that an agent is about to use or has used.

    Attributes:
        use: the use, but for a shell command that only reads one file, the read; see `asked`.
        asked: the use as reported by the agent.
        path: the file of a read or edit, relative to the root with slashes; empty if it is not below the root.
        edited: the files that an edit changes, likewise relative.
        command: a shell command's meaning, if it is nothing but a search or the reading of one file.
        target: a summary of the tool's input; see `cairn.memory.moments.ToolCall`.
        agent: such as `claude-code`.
        session: the agent's session, shared with its sub-agents.
        ledger: the key for what was shown, since a sub-agent has not seen what its session was shown.
        folder: the agent's working folder.
        seconds: when, since the epoch.
        is_over: whether the tool has run.
        has_failed: whether it has run and failed.
        output: what it printed or answered, as far as the agent reports it, once it is over.
        was_asked: whether this use was, or could have been, answered before the tool ran.
        can_see: whether the agent accepts context now.
        can_deny: whether the use can be denied now, and that can be recorded.
    """

    use: ToolUse
    asked: ToolUse
    path: str
    agent: str
    session: str
    ledger: str
    folder: str
    seconds: float
    command: Search | FileRead | None = None
    target: str = ""
    edited: tuple[str, ...] = ()
    is_over: bool = False
    has_failed: bool = False
    output: str = ""
    was_asked: bool = False
    can_see: bool = False
    can_deny: bool = False

    @property
    def is_shell(self) -> bool:
        """Whether the tool is a shell."""
        return self.asked.tool == SHELL


class Offer(NamedTuple):
    """What a part of the interceptor has to say about a use.

    Attributes:
        reply: what to show the agent.
        row: its record; the tokens of `reply` are filled in.
        settle: called once it is certain that the agent will see this.
        is_lasting: whether it is still good at the next use if it is not ready in time.
        note: called after the agent has it, to record what does not have to be recorded before.
    """

    reply: Reply
    row: ServedAnswer | None = None
    settle: Callable[[], None] | None = None
    is_lasting: bool = False
    note: Callable[[], None] | None = None


class Part(Protocol):
    """A part of the interceptor, which knows what to say about some uses."""

    def answer(self, occasion: Occasion, state: SessionState) -> Offer | None:
        """Return what to say about a use; None for nothing. It runs in its own thread.

        If it takes too long, nothing is shown, and `cairn.waiting.check` stops it.
        """


def occasion_of(
    happening: Happening, asked: ToolUse, abilities: Collection[Ability], root: str, *, now: float, is_over: bool
) -> Occasion:
    """Return the use of a tool as an occasion.

    Args:
        happening: the agent's report.
        asked: the use in it.
        abilities: what the agent accepts now.
        root: of the project.
        now: the time, for a happening without one.
        is_over: whether the tool has run.
    """
    moment = next((moment for moment in happening.moments if moment.event == happening.event), None)
    call = moment.call if moment is not None else None
    command = understand_command(asked.command) if asked.tool == SHELL else None
    use = _read_by(asked, command) if isinstance(command, FileRead) else asked
    return Occasion(
        use=use,
        asked=asked,
        command=command,
        path=path_below(root, happening.folder, use.path),
        agent=moment.agent if moment is not None and moment.agent else happening.session.partition(":")[0],
        session=session_of(happening),
        ledger=ledger_of(happening),
        folder=happening.folder,
        seconds=moment.seconds if moment is not None and moment.seconds else now,
        target=call.target if call is not None else "",
        edited=_edited(happening, use, root),
        is_over=is_over,
        has_failed=call is not None and (call.is_failure or call.outcome == "denied"),
        output=call.output if call is not None and is_over else "",
        can_see="context" in abilities,
        can_deny="denial" in abilities and not is_over,
    )


def session_of(happening: Happening) -> str:
    """Return the id of a session as stored, without secrets."""
    return session_to_keep(happening.session)


def ledger_of(happening: Happening) -> str:
    """Return the key for what was shown, since a sub-agent has not seen what its session was shown."""
    session = session_of(happening)
    return f"{session}/{session_to_keep(happening.subagent)}" if happening.subagent else session


def _read_by(asked: ToolUse, read: FileRead) -> ToolUse:
    """Return the read that a shell command does."""
    path = os.path.join(asked.path, read.folder, read.path)
    return ToolUse("read", asked.name, path, read.offset, read.limit, command=asked.command, id=asked.id)


def _edited(happening: Happening, use: ToolUse, root: str) -> tuple[str, ...]:
    targets = [use.path] if use.tool in _EDITING else []
    targets += [moment.call.target for moment in happening.moments if moment.call and moment.call.tool in _EDITING]
    paths = (path_below(root, happening.folder, target) for target in targets)
    return tuple(dict.fromkeys(filter(None, paths)))


def path_below(root: str, folder: str, path: str) -> str:
    """Return a path relative to the root, with slashes; empty if it does not lead below the root.

    Symbolic links in the path to the project are followed; those inside the project are not.
    """
    if not path or "\0" in path:
        return ""
    given = os.path.normpath(os.path.join(folder or root, os.path.expanduser(path)))
    for whole in (given, os.path.join(os.path.realpath(os.path.dirname(given)), os.path.basename(given))):
        if whole.startswith(root + os.sep):
            return whole[len(root) + 1 :].replace(os.sep, "/")
    return ""


def id_of(use: ToolUse) -> str:
    """Return an id of a use, the same before and after the tool; derived from its content if the agent has none."""
    return use.id or "\0".join(map(str, use._replace(edits=())))
