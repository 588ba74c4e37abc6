"""The settings of what agents are answered by their hooks, apart from the others: few commands need them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from cairn.errors import ConfigError
from cairn.setting import (
    Entry,
    PlacedValue,
    UnusableError,
    check_all,
    milder_values,
    read_section,
    read_settings,
    setting,
)

SECTION = "hooks."
_HINT = "see docs/configuration.md#hooks"
ReadMode = Literal["off", "suggest", "auto", "replace"]
READ_MODES = ("off", "suggest", "auto", "replace")  # each does more than the one before
_OF_AGENT = re.compile(r"([a-z0-9-]{1,50})=(\w+)")


def _check_agents(text: str) -> None:
    for part in text.split():
        match = _OF_AGENT.fullmatch(part.rstrip(","))
        if match is None or match[2] not in READ_MODES:
            raise UnusableError(f"must be pairs such as `codex=suggest`; the modes are {', '.join(READ_MODES)}", _HINT)


@dataclass(frozen=True, slots=True)
class HooksSettings:
    """What agents are answered by their hooks; docs/configuration.md has a line for each setting."""

    # What a full read of a large code file is answered with: nothing, an outline beside it or in its place.
    reads: str = setting("auto", "lowers", choices=READ_MODES)
    reads_of: str = setting("", "never", check=_check_agents)  # the same for single agents
    read_tokens: int = setting(750, "raises", 100, 1_000_000)  # a file with fewer is read as ever
    searches: bool = setting(True, "lowers")
    search_tokens: int = setting(300, "lowers", 0, 5_000)  # of one answer
    # When anything is shown unasked.
    session_start: bool = setting(True, "lowers")
    subagent_start: bool = setting(True, "lowers")
    prompt: bool = setting(True, "lowers")
    files: bool = setting(True, "lowers")  # memories of a file that is read
    edits: bool = setting(True, "lowers")  # memories and callers of what was edited
    # Of what is shown beside what an agent asked for; memories have a limit of their own.
    session_tokens: int = setting(20_000, "lowers", 0, 1_000_000)

    def __post_init__(self) -> None:
        try:
            check_all(self)
        except UnusableError as error:
            raise ConfigError(f"{SECTION}{error}", error.hint) from None

    def reads_by(self, agent: str) -> ReadMode:
        """Return what full reads of an agent are answered with."""
        return cast("ReadMode", _modes_of(self.reads_of).get(agent, self.reads))

    def shows_at(self, event: str, tool: str = "") -> bool:
        """Tell whether memories are shown at an event, and for tools whether they are after what the tool does."""
        if tool:
            return self.edits if tool in ("edit", "write", "delete") else self.files
        switches = {"session-start": self.session_start, "subagent-start": self.subagent_start, "prompt": self.prompt}
        return switches.get(event, True)


def choose_hooks(
    user: Entry | None, project: Entry | None, environment: Mapping[str, Entry], user_file: str
) -> HooksSettings:
    """Return the settings of hooks.

    Args:
        user, project: the section `hooks` of each file; what the project sets may only ask for less.
        environment: what variables set, by the name of the setting.
        user_file: for messages.

    Raises:
        ConfigError: for an unknown name, an unusable value, or what a project may not set.
    """
    own, shared = (read_section(HooksSettings, entry, SECTION, _HINT) for entry in (user, project))
    if (refused := shared.get("reads_of")) is not None:
        message = f"{refused.place}: a project's file may not set {SECTION}reads_of"
        raise ConfigError(message, f"set it in {user_file} instead")
    given = {**own, **milder_values(HooksSettings, shared, own)}
    if "reads" in shared and "reads_of" in given:
        given["reads_of"] = _lowered(given["reads_of"], str(shared["reads"].value))
    given |= read_settings(HooksSettings, environment, SECTION)
    return HooksSettings(**{name: placed.value for name, placed in given.items()})


def _lowered(own: PlacedValue, most: str) -> PlacedValue:
    """Return the user's modes of single agents, none of which does more than the project allows."""
    modes = {agent: min(mode, most, key=READ_MODES.index) for agent, mode in _modes_of(own.value).items()}
    return own._replace(value=" ".join(f"{agent}={mode}" for agent, mode in modes.items()))


def _modes_of(text: str) -> dict[str, str]:
    return {match[1]: match[2] for match in _OF_AGENT.finditer(text)}
