"""What `cairn doctor` says of agents that were set up: whether their files are right, and whether they work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cairn.errors import CairnError
from cairn.hints import Hint
from cairn.hooks.adapter import Adapter, Level
from cairn.hooks.agents import NAMES, adapter_of
from cairn.index.health import Finding
from cairn.index.health import Level as Kind
from cairn.install.place import place_of
from cairn.install.plan import plan_install
from cairn.install.record import RecordFile
from cairn.install.selftest import try_agent

_LEVELS: Sequence[Level] = ("project", "user")


def examine_agents(root: Path, environment: Mapping[str, str] = os.environ) -> list[Finding]:
    """Return what there is to say about each agent that was set up for a project, or for all of the user's."""
    return [
        finding
        for level in _LEVELS
        for name in _names(root, level)
        for finding in _examine(name, root, level, environment)
    ]


def _names(root: Path, level: Level) -> list[str]:
    told = {agent for record in RecordFile(level, root).read().values() for agent in record.agents}
    return [name for name in NAMES if name in told]


def _examine(name: str, root: Path, level: Level, environment: Mapping[str, str]) -> Iterator[Finding]:
    adapter = adapter_of(name)
    try:
        place = place_of(root, level, environment)
        changes = plan_install([adapter], place, RecordFile(level, root).read())
    except CairnError as error:
        yield _finding(adapter, "error", str(error), error.hint)
        return
    for change in changes:
        if change.problem is not None:
            yield _finding(adapter, "error", str(change.problem), change.problem.hint)
        elif change.is_change:
            message = f"{change.shown} is not as this version of Cairn writes it"
            yield _finding(adapter, "warning", message, _again(adapter, level))
    for result in try_agent(adapter, place):
        yield _finding(adapter, "ok" if result.works else "error", result.message, result.hint)


def _again(adapter: Adapter, level: Level) -> Hint:
    return Hint.of("init", agent=adapter.name, user=level == "user")


def _finding(adapter: Adapter, kind: Kind, message: str, hint: str = "") -> Finding:
    return Finding("agents", kind, f"{adapter.title}: {message}", hint=hint)
