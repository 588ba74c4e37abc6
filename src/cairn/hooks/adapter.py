"""The particulars of an agent: how to detect it, which files configure Cairn for it, and its hooks' formats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from cairn.hooks.report import Happening, Reply, Report

Level = Literal["project", "user"]
Format = Literal["json", "jsonc", "toml", "yaml"]
TEST_SESSION = "cairn-self-test"  # id of a test session, which leaves no trace in the memory
Ability = Literal["context", "denial"]  # what an agent accepts in answer to an event


class Place(NamedTuple):
    """Where Cairn is installed for an agent.

    Attributes:
        level: one project's files, or the user's, which apply to all projects.
        root: of the project.
        home: of the user.
        environment: the user's variables; some relocate an agent's folder.
        command: the words that start Cairn: `cairn`, or an absolute path for programs with a short PATH.
    """

    level: Level
    root: Path
    home: Path
    environment: Mapping[str, str]
    command: tuple[str, ...] = ("cairn",)


class FileEntry(NamedTuple):
    """A value at a path of keys in a shared file.

    Attributes:
        file: absolute.
        path: the keys that lead to it; missing ones are created.
        value: as in JSON.
        is_default: whether it is only set if missing, and stays after uninstalling if others rely on it.
    """

    file: Path
    format: Format
    path: tuple[str, ...]
    value: Any
    is_default: bool = False


class Item(NamedTuple):
    """An element of a list in a shared file; ours is recognised by Cairn's command in it."""

    file: Path
    format: Format
    path: tuple[str, ...]
    value: Any


class Block(NamedTuple):
    """A passage between two marks in a shared text file."""

    file: Path
    text: str


class Whole(NamedTuple):
    """A file of Cairn's own."""

    file: Path
    text: str


Change = FileEntry | Item | Block | Whole


class Detection(NamedTuple):
    """How to detect an agent.

    Attributes:
        programs: on the PATH.
        in_project: files and folders below the root.
        in_home: files and folders below the user's home.
    """

    programs: tuple[str, ...] = ()
    in_project: tuple[str, ...] = ()
    in_home: tuple[str, ...] = ()


class Adapter(ABC):
    """An agent. Agents without hooks have no `events`; they only get the MCP server.

    Attributes:
        name: such as `claude-code`; also the module's name.
        title: such as `Claude Code`.
        detection: how to detect it.
        levels: where Cairn can be installed for it, the usual one first.
        events: its names for the events of `cairn.memory.moments.EVENTS`, as far as it has them.
        abilities: what it accepts in answer to each event; use `takes`.
        max_context_chars: in one answer.
        some_lines: how to ask its reading tool for some lines of a file, with `{first}`, `{last}`, `{count}` and, for
            tools that count from 0, `{before}`.
        max_read_tokens: how much of a large file one read gives it at least before its own limit.
        by_hand: what a person still has to do, in sentences.
        first_payload: its documented hook input at the start of a session, or at its first event if it does not report
            starts; used to test the installation. `FOLDER` in it stands for the project's folder, and `SESSION` for the
            session's id.
        first_environment: the variables that it then sets for the hook.
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
        """Return what has to be in the agent's files, including shared ones."""

    def takes(self, report: Report) -> frozenset[Ability]:
        """Return what the agent accepts in answer to this report; by default that depends on the event."""
        return self.abilities.get(report.event, frozenset())

    def read(self, report: Report) -> Happening | None:
        """Interpret a report; None if another agent runs this one's hooks, or the report does not matter.

        Raises:
            RequestError: if the payload is not what this agent sends.
        """
        return None

    def answer(self, report: Report, reply: Reply) -> str:
        """Return what the hook program prints; the reply only has what the agent accepts at this event."""
        return ""
