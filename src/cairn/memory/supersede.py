"""Lets a new memory take the place of an older one that says the same, or what was so before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.memory.events import AUTHORITIES
from cairn.memory.objections import objections
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.memory_settings import MemorySettings
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Observation

BY = By("rule:supersede", "rule")
NEAREST = 5  # how many older memories are looked at
_MORE = 15  # that are of the same session, perhaps
_EXEMPT = "session_summary"  # each stands for a session of its own
_MAIN_BRANCHES = ("", "main", "master", "trunk")

# Returns the memories nearest to one, at most so many, which meet the conditions: as `Recall.nearest`.
Nearest = Callable[[Observation, int, Conditions], list[tuple[Observation, float]]]


class Thresholds(NamedTuple):
    """How similar memories must be: if they are linked to a common file, and otherwise."""

    same_file: float
    elsewhere: float


_UNKNOWN_MODEL = Thresholds(0.85, 0.92)
# By the fingerprint of the model, measured by bench/supersede.py; a new model has to be measured again.
CALIBRATED: Mapping[str, Thresholds] = {"000259eb10a3ef2f": Thresholds(0.85, 0.92)}


def thresholds_of(fingerprint: str, settings: MemorySettings | None) -> Thresholds:
    """Return the thresholds for the vectors of a model; what the user sets counts for any model."""
    calibrated = CALIBRATED.get(fingerprint, _UNKNOWN_MODEL)
    if settings is None:
        return calibrated
    return Thresholds(settings.supersede_same_file or calibrated.same_file, settings.supersede or calibrated.elsewhere)


class Supersession:
    """Marks older memories as superseded when a new one is made.

    Looks at the nearest active ones of the same type from other sessions. One is superseded if it is similar enough,
    nothing in the two texts speaks against it, its maker has no more authority than that of the new one, and the new
    one counts wherever it did. Who undoes this has the last word, for a rule has the least authority.

    Args:
        store: the memory.
        nearest: finds the nearest memories.
        settings: the user's, None for the defaults.
    """

    def __init__(self, store: MemoryStore, nearest: Nearest, settings: MemorySettings | None = None) -> None:
        self._store, self._nearest = store, nearest
        self._thresholds = thresholds_of(bundled_fingerprint(), settings)

    def apply(self, new: Observation) -> list[Observation]:
        """Mark what a new memory takes the place of, and return it; call this in the transaction that makes it.

        Raises:
            StoreError: if it cannot be written.
        """
        if new.type == _EXEMPT or new.status != "active":
            return []
        wanted = Conditions(statuses=("active",), types=(new.type,))
        older = [(old, score) for old, score in self._nearest(new, NEAREST + _MORE, wanted) if _may_yield(old, new)]
        changes = [
            MemoryChange(old.id, "status", {"status": "superseded", "superseded_by": new.id, "reason": reason})
            for old, score in older[:NEAREST]
            if (reason := self._reason(old, new, score)) and not self._is_decided(old)
        ]
        changed = {change.observation for change in changes}
        return [observation for observation in self._store.record(changes, BY) if observation.id in changed]

    def _reason(self, old: Observation, new: Observation, similarity: float) -> str:
        """Return why one takes the other's place, empty if it does not."""
        shared = sorted({link.path for link in old.links} & {link.path for link in new.links})
        least = self._thresholds.same_file if shared else self._thresholds.elsewhere
        if similarity < least or objections(old.text, new.text):
            return ""
        where = f", and both are about {shared[0]}" if shared else ""
        return f"the newer one is similar ({similarity:.2f}){where}"[:500]

    def _is_decided(self, old: Observation) -> bool:
        """Tell whether an agent or a person said what its status is."""
        events = self._store.history(old.id)
        return any(event.kind == "status" and event.authority != BY.authority for event in events)


def _may_yield(old: Observation, new: Observation) -> bool:
    """Tell whether a memory is one that another could take the place of, whatever they say."""
    is_elsewhere = not new.session or old.session != new.session
    is_seen = old.branch in ("", new.branch) or new.branch in _MAIN_BRANCHES
    return old.created < new.created and is_elsewhere and is_seen and _authority(old) <= _authority(new)


def _authority(observation: Observation) -> int:
    """Return the authority of whoever made a memory, higher is more."""
    kind = observation.actor.partition(":")[0]
    return AUTHORITIES.index(kind) if kind in AUTHORITIES else 0
