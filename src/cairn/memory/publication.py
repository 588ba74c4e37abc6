"""What of the memory may leave this machine: the events of shared memories, and that one is not shared any more."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from itertools import starmap
from typing import NamedTuple

from cairn.memory.events import parse_stored
from cairn.storage.memory import event_db, observation_db, sharing_db, team_db
from cairn.storage.memory.rows import Observation
from cairn.storage.memory.sharing_db import PRIVATE, SHARED
from cairn.storage.sealed import read_meta

FROM_REPOSITORY = "shared"  # the source of events that came with the repository
FROM_TEAM = "team"  # and of those from a team's server
FOREIGN = (FROM_REPOSITORY, FROM_TEAM)  # others wrote these, unasked
# What was learned of the code; digests of sessions tell what somebody did, and stay.
TEAM_TYPES = ("gotcha", "decision", "bug_fix", "discovery", "trade_off")
LINK = "team"  # in `meta`, with whom the memory is shared through a server
_MAY_LEAVE = {"is_shared", "reason"}  # of the event that says that a memory is not shared any more


class Stand(NamedTuple):
    """How far some observations were shared before something was said of them.

    Attributes:
        folder: through git, see `sharing_db.sharing_of`.
        team: which of them a team's server has, or is to have; None where the memory is shared with no team.
    """

    folder: Mapping[str, int]
    team: Collection[str] | None


def stand_of(connection: sqlite3.Connection, observations: Collection[str]) -> Stand:
    """Return how far some observations are shared now."""
    told = team_db.told_of(connection, observations) if read_meta(connection, LINK) else None
    return Stand(sharing_db.sharing_of(connection, observations), told)


def plan(connection: sqlite3.Connection, touched: Collection[str], before: Stand, source: str) -> bool:
    """Mark the events that have to be shared, once some were added.

    What is done here is shared at once, with the team if there is one, else through git. What was imported is not,
    unless its memory is in the folder or on the server already: it was shared where it is from. What is in the folder
    stays up to date there.

    Args:
        connection: to the memory, in a transaction.
        touched: ids of the observations whose events were added.
        before: how far they were shared.
        source: where the events are from.

    Returns:
        whether anything has to be written to the folder.
    """
    for id, observation in observation_db.load(connection, touched).items():
        was = before.folder.get(id, PRIVATE)
        _plan_folder(connection, observation, was, source, is_open=before.team is None)
        if before.team is not None:
            _plan_team(connection, observation, source, was_told=id in before.team)
    return sharing_db.has_due(connection)


def _plan_folder(
    connection: sqlite3.Connection, observation: Observation, was: int, source: str, *, is_open: bool
) -> None:
    if observation.is_redacted:
        if was != PRIVATE:
            sharing_db.mark_due(connection, observation.id, "redact")
    elif observation.is_shared:
        if (source == "" and (is_open or was != PRIVATE)) or (was == SHARED and source not in FOREIGN):
            sharing_db.mark_due(connection, observation.id)
    elif was != PRIVATE:
        sharing_db.withdraw(connection, observation.id, _last_word(connection, observation.id) if was == SHARED else "")


def _plan_team(connection: sqlite3.Connection, observation: Observation, source: str, *, was_told: bool) -> None:
    if observation.is_redacted:
        if was_told:
            team_db.mark_due(connection, observation.id, "redact")
    elif observation.is_shared and observation.type in TEAM_TYPES:
        if was_told or source in ("", FROM_TEAM):
            team_db.mark_due(connection, observation.id)
    elif was_told:
        team_db.withdraw(connection, observation.id, _last_word(connection, observation.id))


def _last_word(connection: sqlite3.Connection, observation: str) -> str:
    """Return the id of the event that took a memory out of what is shared; empty if it says more than that."""
    events = starmap(parse_stored, event_db.read_events(connection, [observation]))
    ends = [event for event in events if event.kind == "set" and event.value.get("is_shared") is False]
    last = max(ends, key=lambda event: (event.time, event.id), default=None)
    return last.id if last is not None and _MAY_LEAVE.issuperset(last.value) else ""
