"""What is particular to an agent: how it is found, which files tell it of Cairn, what its hooks say and understand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from cairn.hooks.report import Happening, Reply, Report

Level = Literal["project", "user"]
Format = Literal["json", "jsonc", "toml", "yaml"]
TEST_SESSION = "cairn-self-test"  # of no agent: the id of a session that leaves no trace in the memory
Ability = Literal["context", "denial"]  # what an agent takes in answer to an event


class Place(NamedTuple):
    """Where an agent is told of Cairn.

    Attributes:
        level: in the files of one project, or in those of the user, which count in all projects.
        root: of the project.
        home: of the user.
        environment: the user's variables; some move an agent's folder.
        command: the words that start Cairn: `cairn`, or an absolute path where programs have a short PATH.
    """

    level: Level
    root: Path
    home: Path
    environment: Mapping[str, str]
    command: tuple[str, ...] = ("cairn",)


class FileEntry(NamedTuple):
    """A value under a path of names in a file that others write, too.

    Attributes:
        file: absolute.
        path: the names that lead to it; what is missing on the way is created.
        value: as JSON has it.
        is_default: it is set only where there is nothing, and stays when Cairn goes if others rely on it.
    """

    file: Path
    format: Format
    path: tuple[str, ...]
    value: Any
    is_default: bool = False


class Item(NamedTuple):
    """An element of a list in a file that others write, too; ours is known by the command of Cairn in it."""

    file: Path
    format: Format
    path: tuple[str, ...]
    value: Any


class Block(NamedTuple):
    """A passage of a text file that others write, too, between two marks."""

    file: Path
    text: str


class Whole(NamedTuple):
    """A file that is Cairn's own."""

    file: Path
    text: str


Change = FileEntry | Item | Block | Whole


class Detection(NamedTuple):
    """How an agent is found.

    Attributes:
        programs: on the PATH.
        in_project: files and folders below the root.
        in_home: files and folders below the user's home.
    """

    programs: tuple[str, ...] = ()
    in_project: tuple[str, ...] = ()
    in_home: tuple[str, ...] = ()


class Adapter(ABC):
    """An agent. Agents without hooks have no `events`; they are told of the MCP server alone.

    Attributes:
        name: `claude-code`; the module is called so, too.
        title: `Claude Code`.
        detection: how it is found.
        levels: where it can be told of Cairn, the usual one first.
        events: what it calls the events of `cairn.memory.moments.EVENTS` that it has.
        abilities: what it takes in answer to each event; ask `takes`.
        max_context_chars: of one answer.
        some_lines: how its tool for reading is asked for some lines of a file; `{first}`, `{last}`, `{count}` and, for
            those that count from 0, `{before}` are filled in.
        max_read_tokens: what one read of a large file gives it at least, before its own limit cuts the text.
        by_hand: what a person has yet to do, in sentences.
        first_payload: what it gives to its hook when a session starts, as documented, to test what was installed. The
            text `FOLDER` in it stands for the project's folder, `SESSION` for the id of the session. One that does not
            report this: when its first event happens.
        first_environment: the variables that it sets for the hook then.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    detection: ClassVar[Detection]
    levels: ClassVar[tuple[Level, ...]] = ("project", "user")
    events: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    abilities: ClassVar[Mapping[str, frozenset[Ability]]] = {}
    max_context_chars: ClassVar[int] = 9_500
    some_lines: ClassVar[str] = "offset={first}, limit={count}"
    max_read_tokens: ClassVar[int] = 10_000
    by_hand: ClassVar[tuple[str, ...]] = ()
    first_payload: ClassVar[Mapping[str, Any]] = {}
    first_environment: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def changes(self, place: Place) -> list[Change]:
        """Return what has to be in the agent's files, and in those that it shares with others."""

    def takes(self, report: Report) -> frozenset[Ability]:
        """Return what the agent takes in answer to this report: what is true of the event, unless it says more."""
        return self.abilities.get(report.event, frozenset())

    def read(self, report: Report) -> Happening | None:
        """Return what a report means; None if another agent runs this one's hooks, or it means nothing to us.

        Raises:
            RequestError: if the payload is not what this agent sends.
        """
        return None

    def answer(self, report: Report, reply: Reply) -> str:
        """Return what the hook program prints; the reply holds nothing that the agent does not take at this event."""
        return ""
