"""Lets a new memory take the place of an older one that says the same, or what was so before."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.memory.actors import SAID_BY_USER
from cairn.memory.clock import seconds_of
from cairn.memory.contradictions import contradicts, read_ruling
from cairn.memory.events import AUTHORITIES
from cairn.memory.objections import is_correction, may_correct, objections
from cairn.memory.store import By, MemoryChange, MemoryStore
from cairn.memory_settings import MemorySettings
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import Observation

BY = By("rule:supersede", "rule")
NEAREST = 5  # how many older memories are looked at
_MORE = 15  # that are of the same session, perhaps
_EXEMPT = "session_summary"  # each stands for a session of its own
# What a correction may take the place of: it is often of another type than what it corrects.
_CORRECTED = ("gotcha", "decision", "discovery", "trade_off")
_LEAST_OF_CORRECTIONS = 0.15  # similarity; the words say the rest
_MOST_RULES = 2_000  # memories that may decide the same otherwise
_CLOCK_SECONDS = 60.0  # that clocks may differ by
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
    and nothing in the two texts speaks against it. A new one that says what changed, or the same but for a value, also
    supersedes what it corrects, of other types and its own session, too; and so does a rule that decides otherwise what
    an older one decides. The maker of the older must have no more
    authority than that of the new one, where what a user said in a prompt counts as much as what agents remember, and
    the new one must count wherever it did. Who undoes this has the last word, for a rule has the least authority.

    Args:
        store: the memory.
        nearest: finds the nearest memories.
        settings: the user's, None for the defaults.
        now: the machine's clock, in seconds since the epoch.
    """

    def __init__(
        self,
        store: MemoryStore,
        nearest: Nearest,
        settings: MemorySettings | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._nearest, self._now = store, nearest, now
        self._thresholds = thresholds_of(bundled_fingerprint(), settings)

    def apply(self, new: Observation) -> list[Observation]:
        """Mark what a new memory takes the place of, and return it; call this in the transaction that makes it.

        Raises:
            StoreError: if it cannot be written.
        """
        if new.type == _EXEMPT or new.status != "active":
            return []
        types = _CORRECTED if may_correct(new.text) else (new.type,)
        wanted = Conditions(statuses=("active",), types=types)
        older = [
            (old, score) for old, score in self._nearest(new, NEAREST + _MORE, wanted) if self._may_yield(old, new)
        ]
        changes = [
            MemoryChange(old.id, "status", {"status": "superseded", "superseded_by": new.id, "reason": reason})
            for old, reason in chain(self._alike(older, new), _corrected(older, new), self._overruled(new))
            if not self._is_decided(old)
        ]
        first = {change.observation: change for change in reversed(changes)}
        return [one for one in self._store.record(list(first.values()), BY) if one.id in first]

    def _alike(self, older: Sequence[tuple[Observation, float]], new: Observation) -> Iterator[tuple[Observation, str]]:
        """Yield what says the same, and why."""
        others = [(old, score) for old, score in older if old.type == new.type and _is_elsewhere(old, new)]
        for old, score in others[:NEAREST]:
            if reason := self._reason(old, new, score):
                yield old, reason

    def _reason(self, old: Observation, new: Observation, similarity: float) -> str:
        """Return why one takes the other's place, empty if it does not."""
        shared = sorted({link.path for link in old.links} & {link.path for link in new.links})
        least = self._thresholds.same_file if shared else self._thresholds.elsewhere
        if similarity < least or objections(old.text, new.text):
            return ""
        where = f", and both are about {shared[0]}" if shared else ""
        return f"the newer one is similar ({similarity:.2f}){where}"[:500]

    def _overruled(self, new: Observation) -> Iterator[tuple[Observation, str]]:
        """Yield rules that decide otherwise what a new one decides, whatever their words, and why.

        What a user said yields to what a user says or somebody remembers on purpose, not to an agent's words.
        """
        ruling = read_ruling(new.text) if new.type in _CORRECTED else None
        if ruling is None:
            return
        for old in self._store.select(Conditions(statuses=("active",), types=_CORRECTED), _MOST_RULES):
            is_free = old.actor != SAID_BY_USER or new.actor == SAID_BY_USER or _authority(new) > _authority(old)
            if is_free and self._may_yield(old, new) and _may_concern(old, new) and contradicts(old.text, new.text):
                yield old, f"both decide the same ({ruling.topic}), each otherwise"

    def _may_yield(self, old: Observation, new: Observation) -> bool:
        """Tell whether a memory is one that another could take the place of, whatever they say."""
        is_seen = old.branch in ("", new.branch) or new.branch in _MAIN_BRANCHES
        authority = max(_authority(new), AUTHORITIES.index("agent")) if new.actor == SAID_BY_USER else _authority(new)
        is_older = old.created < new.created or self._is_ahead(old)
        return is_older and is_seen and _authority(old) <= authority

    def _is_ahead(self, old: Observation) -> bool:
        """Tell whether a memory was made under a clock that was ahead of what it is now: the new one came later."""
        return seconds_of(old.created) > self._now() + _CLOCK_SECONDS

    def _is_decided(self, old: Observation) -> bool:
        """Tell whether an agent or a person said what its status is."""
        events = self._store.history(old.id)
        return any(event.kind == "status" and event.authority != BY.authority for event in events)


def _corrected(older: Sequence[tuple[Observation, float]], new: Observation) -> Iterator[tuple[Observation, str]]:
    """Yield what the newer says to have changed, and why."""
    for old, similarity in older:
        if similarity >= _LEAST_OF_CORRECTIONS and _may_concern(old, new) and is_correction(old.text, new.text):
            yield old, "the newer one says what changed"


def _may_concern(old: Observation, new: Observation) -> bool:
    """Tell whether nothing that two memories are tied to says that they speak of different files."""
    paths, others = ({link.path for link in one.links} for one in (old, new))
    return not paths or not others or bool(paths & others)


def _is_elsewhere(old: Observation, new: Observation) -> bool:
    """Tell whether two memories are not of one session: what one says it says of different things, as a rule."""
    return not new.session or old.session != new.session


def _authority(observation: Observation) -> int:
    """Return the authority of whoever made a memory, higher is more."""
    kind = observation.actor.partition(":")[0]
    return AUTHORITIES.index(kind) if kind in AUTHORITIES else 0
