"""Which memories nobody needs any more: old, of little importance, tied to nothing, no decision and no person's."""

from __future__ import annotations

from cairn.memory.clock import seconds_of
from cairn.memory.events import AUTHORITIES
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.storage.memory import usage_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Observation

MAX_IMPORTANCE = 4
_BY = By("rule:retention", "rule")
_DAY_SECONDS = 86_400.0


def find_unneeded(store: MemoryStore, days: float, now: float) -> list[Observation]:
    """Return the active memories that were neither recalled nor changed for so many days and that matter little.

    Left out are decisions, what is tied to code, what is shared (for others may recall it), and what a person had a
    hand in, or an agent decided on.

    Args:
        store: the memory.
        days: how long; 0 to find none.
        now: in seconds since the epoch.
    """
    if not days or not store.exists:
        return []
    since = now - days * _DAY_SECONDS
    found = [
        observation
        for observation in store.select(Conditions(statuses=("active",), is_shared=False))
        if observation.importance <= MAX_IMPORTANCE
        and observation.type != "decision"
        and not observation.links
        and seconds_of(observation.changed) < since
    ]
    with store.reading() as connection:
        uses = usage_db.last_uses(connection, [observation.id for observation in found])
    return [
        observation
        for observation in found
        if uses.get(observation.id, 0.0) < since and not _is_decided(store, observation)
    ]


def prune(store: MemoryStore, days: float, now: float, *, dry_run: bool = False) -> list[Observation]:
    """Archive what `find_unneeded` finds, all at once, and return it as it was; a dry run only returns it."""
    unneeded = find_unneeded(store, days, now)
    if unneeded and not dry_run:
        value = {"status": "archived", "reason": f"not recalled for {days:g} days"}
        store.record([MemoryChange(observation.id, "status", value) for observation in unneeded], _BY)
    return unneeded


def _is_decided(store: MemoryStore, observation: Observation) -> bool:
    """Tell whether a person had a hand in a memory, or somebody decided that it is active."""
    return observation.origin == "person" or any(
        event.authority == "person" or (event.kind == "status" and event.authority != AUTHORITIES[0])
        for event in store.history(observation.id)
    )
