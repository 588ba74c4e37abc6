"""`cairn init` and `cairn uninstall` without their output: choose agents, plan, write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cairn.errors import ConfigError, NotFoundError
from cairn.hints import Hint
from cairn.hooks.adapter import Adapter, Level, Place
from cairn.hooks.agents import NAMES, adapter_of
from cairn.install.apply import Outcome, apply
from cairn.install.detect import Found, detect
from cairn.install.place import home_folder, place_of
from cairn.install.plan import FileChange, plan_install, plan_removal
from cairn.install.record import RecordFile, Records


class SetupPlan(NamedTuple):
    """A complete plan, of which nothing has been written.

    Attributes:
        place: where to install or remove.
        agents: the agents concerned, each with how it was found.
        changes: of files.
        others: other agents in use, each with the reason and what to do.
        records: the file of records.
        known: the present records.
    """

    place: Place
    agents: tuple[Found, ...]
    changes: tuple[FileChange, ...]
    others: tuple[tuple[Adapter, Hint], ...]
    records: RecordFile
    known: Records

    @property
    def to_write(self) -> list[FileChange]:
        """The files that change."""
        return [change for change in self.changes if change.is_change]

    @property
    def problems(self) -> list[FileChange]:
        """The files that are left alone."""
        return [change for change in self.changes if change.problem is not None]

    def carry_out(self) -> Outcome:
        """Write the files.

        Raises:
            StoreError: as `cairn.install.apply.apply`.
        """
        return apply(self.changes, self.records, self.known)


def plan_init(
    root: Path, level: Level, names: Sequence[str] = (), environment: Mapping[str, str] = os.environ
) -> SetupPlan:
    """Plan the installation for agents.

    Args:
        root: the project.
        level: the project's files or the user's own.
        names: of the agents; by default those in use and those already installed.
        environment: the user's variables.

    Raises:
        RequestError: if there is no agent of a name.
        NotFoundError: if no agent is in use.
        ConfigError: if a named agent has no files at this level.
    """
    place = place_of(root, level, environment)
    records = RecordFile(level, root)
    known = records.read()
    found, others = _named(names, level) if names else _in_use(place, known)
    if not found and not others:
        raise NotFoundError(
            "no coding agent was found here", Hint(f"name one of {', '.join(NAMES)}", "init", agent=None)
        )
    changes = plan_install([agent.adapter for agent in found], place, known)
    return SetupPlan(place, tuple(found), tuple(changes), tuple(others), records, known)


def _named(names: Sequence[str], level: Level) -> tuple[list[Found], list[tuple[Adapter, Hint]]]:
    chosen = [adapter_of(name) for name in dict.fromkeys(names)]
    for adapter in chosen:
        if level not in adapter.levels:
            where, hint = (
                ("every project", Hint.of("init", agent=adapter.name, user=True))
                if level == "project"
                else ("one project", Hint.of("init", agent=adapter.name))
            )
            raise ConfigError(f"{adapter.title} can be set up for {where} only", hint)
    return [Found(adapter, ("named",)) for adapter in sorted(chosen, key=lambda agent: NAMES.index(agent.name))], []


def _in_use(place: Place, known: Records) -> tuple[list[Found], list[tuple[Adapter, Hint]]]:
    made = {path for old in known.values() for path in (*old.folders, *([old.file] if old.is_new else []))}
    detected = detect(place.root, home_folder(), place.environment.get("PATH", os.defpath), place.level, made)
    told = {agent for record in known.values() for agent in record.agents} & set(NAMES)
    missing = told - {found.adapter.name for found in detected}
    everywhere = set()
    if place.level == "project":
        everywhere = {agent for record in RecordFile("user", place.root).read().values() for agent in record.agents}
    chosen, others = [], []
    for found in [*detected, *(Found(adapter_of(name), ("set up before",)) for name in sorted(missing))]:
        name = found.adapter.name
        if place.level not in found.adapter.levels:
            others.append((found.adapter, Hint("can be set up for every project only", "init", agent=name, user=True)))
        elif name in everywhere and name not in told:
            others.append((found.adapter, Hint("is set up for every project; for this one, too", "init", agent=name)))
        else:
            chosen.append(found)
    return sorted(chosen, key=lambda found: NAMES.index(found.adapter.name)), others


def plan_uninstall(
    root: Path, level: Level, names: Sequence[str] = (), environment: Mapping[str, str] = os.environ
) -> SetupPlan:
    """Plan the removal of Cairn from agents' files.

    Args:
        root, level, environment: as `plan_init`.
        names: of the agents; by default all.

    Raises:
        RequestError: if there is no agent of a name.
    """
    place = place_of(root, level, environment)
    records = RecordFile(level, root)
    known = records.read()
    adapters = [adapter_of(name) for name in names or NAMES]
    able = [adapter for adapter in adapters if level in adapter.levels]
    changes = plan_removal(able, place, known, every=not names)
    touched = [
        change for change in changes if change.is_change or change.problem or change.notes or _is_known(change, known)
    ]
    return SetupPlan(place, tuple(Found(adapter, ()) for adapter in able), tuple(touched), (), records, known)


def _is_known(change: FileChange, known: Records) -> bool:
    """Tell whether a file was written or was about to be, since a killed process leaves something beside it."""
    return str(change.file) in known
