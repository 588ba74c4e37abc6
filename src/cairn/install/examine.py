"""The findings of `cairn doctor` on installed agents: whether their files are right, and whether they work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cairn.hints import Hint
from cairn.hooks.adapter import Adapter, Level, Place
from cairn.hooks.agents import NAMES, adapter_of
from cairn.index.health import Finding
from cairn.index.health import Level as Kind
from cairn.install.place import place_of
from cairn.install.plan import plan_install
from cairn.install.record import RecordFile, Records
from cairn.install.selftest import SelfTest

_LEVELS: Sequence[Level] = ("project", "user")


def examine_agents(root: Path, environment: Mapping[str, str] = os.environ) -> list[Finding]:
    """Return the findings on each agent that was set up for a project, or for all of the user's projects."""
    return [finding for level in _LEVELS for finding in _examine_level(root, level, environment)]


def told_agents(root: Path) -> list[str]:
    """Return the names of the agents that were set up for a project, or for all of the user's projects."""
    told = {agent for level in _LEVELS for agent in _told(RecordFile(level, root).read())}
    return [name for name in NAMES if name in told]


def _told(records: Records) -> set[str]:
    return {agent for record in records.values() for agent in record.agents}


def _examine_level(root: Path, level: Level, environment: Mapping[str, str]) -> Iterator[Finding]:
    records = RecordFile(level, root).read()
    told = _told(records)
    if not told:
        return
    place = place_of(root, level, environment)
    trial = SelfTest(place)
    for adapter in [adapter_of(name) for name in NAMES if name in told]:
        yield from _examine_files(adapter, place, records)
        for result in trial.try_agent(adapter):
            yield _finding(adapter, "ok" if result.works else "error", result.message, result.hint)


def _examine_files(adapter: Adapter, place: Place, records: Records) -> Iterator[Finding]:
    for change in plan_install([adapter], place, records):
        if change.problem is not None:
            yield _finding(adapter, "error", str(change.problem), change.problem.hint)
        elif change.is_change:
            message = f"{change.shown} is not as this version of Cairn writes it"
            yield _finding(adapter, "warning", message, _again(adapter, place.level))


def _again(adapter: Adapter, level: Level) -> Hint:
    return Hint.of("init", agent=adapter.name, user=level == "user")


def _finding(adapter: Adapter, kind: Kind, message: str, hint: str = "") -> Finding:
    return Finding("agents", kind, f"{adapter.title}: {message}", hint=hint)
