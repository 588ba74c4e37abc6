"""What observations are now: a pure function of their events, whatever the order in which these arrive.

Events count in the order of their times, then of their ids. Fields and links are as the last event says. A status holds
until an event of at least its own authority. `redact` leaves nothing of what was said before and after. Where
observations supersede each other in a circle, the weakest and then oldest of those events does not count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cairn.memory.events import Event
from cairn.storage.memory.rows import CodeLink, Observation


class Folded(NamedTuple):
    """An observation, and the event that gave it its present status; None while it is as it was created."""

    observation: Observation
    status_event: Event | None


def fold(events: Iterable[Event]) -> dict[str, Observation]:
    """Return what the observations of some events are now, by id. One whose creation is not among them is left out.

    The events of observations that supersede each other have to come together: see `components` in the store.
    """
    by_observation: dict[str, list[Event]] = {}
    for event in sorted({event.id: event for event in events}.values(), key=_order):
        by_observation.setdefault(event.observation, []).append(event)
    folded = {observation: state for observation, own in by_observation.items() if (state := fold_one(own)) is not None}
    uncounted: set[str] = set()
    while weakest := [min(circle, key=_strength) for circle in _iter_circles(folded)]:
        uncounted.update(event.id for event in weakest)
        for event in weakest:
            state = fold_one(by_observation[event.observation], uncounted)
            if state is not None:
                folded[event.observation] = state
    return {observation: state.observation for observation, state in folded.items()}


def fold_one(events: Iterable[Event], uncounted: Collection[str] = ()) -> Folded | None:
    """Return what one observation is by its own events, None if its creation is not among them.

    Args:
        events: in their order.
        uncounted: ids of those that do not count.
    """
    fields: dict[str, Any] = {}
    links: dict[tuple[str, str], CodeLink] = {}
    created = status = last = None
    for event in events:
        if event.kind == "redact":
            return Folded(_redacted_observation(event), event)
        if event.id in uncounted:
            continue
        if event.kind in ("created", "set"):
            fields.update(event.value)
            created = created or (event if event.kind == "created" else None)
        elif event.kind == "link":
            links[event.value["path"], event.value["symbol"]] = CodeLink(**event.value)
        elif event.kind == "unlink":
            links.pop((event.value["path"], event.value["symbol"]), None)
        elif event.kind == "status":
            if status is not None and event.rank < status.rank:
                continue
            status = event
        last = event
    if created is None or last is None:
        return None
    return Folded(_observation(fields, links.values(), created, status, last), status)


def _observation(
    fields: Mapping[str, Any], links: Collection[CodeLink], created: Event, status: Event | None, last: Event
) -> Observation:
    return Observation(
        id=created.observation,
        type=fields["type"],
        text=fields["text"],
        importance=fields["importance"],
        tags=tuple(sorted(set(fields["tags"]))),
        origin=fields["origin"],
        session=fields["session"],
        branch=fields["branch"],
        revision=fields["revision"],
        is_shared=fields["is_shared"],
        status="active" if status is None else status.value["status"],
        superseded_by="" if status is None else status.value.get("superseded_by", ""),
        links=tuple(sorted(links)),
        actor=created.actor,
        created=created.time,
        changed=last.time,
    )


def _redacted_observation(event: Event) -> Observation:
    return Observation(
        id=event.observation,
        type="",
        text="",
        importance=1,
        tags=(),
        origin="",
        session="",
        branch="",
        revision="",
        is_shared=False,
        status="archived",
        superseded_by="",
        links=(),
        actor=event.actor,
        created=event.time,
        changed=event.time,
        is_redacted=True,
    )


def _iter_circles(folded: Mapping[str, Folded]) -> Iterator[list[Event]]:
    """Yield the events of each circle of observations that supersede each other. Each observation has one at most."""
    seen: set[str] = set()
    for start in folded:
        way: dict[str, Event] = {}
        place = start
        while place in folded and place not in seen and place not in way:
            state = folded[place]
            if state.observation.status != "superseded" or state.status_event is None:
                break
            way[place] = state.status_event
            place = state.observation.superseded_by
        if place in way:
            names = list(way)
            yield [way[name] for name in names[names.index(place) :]]
        seen.update(way)


def _order(event: Event) -> tuple[str, str]:
    return event.time, event.id


def _strength(event: Event) -> tuple[int, str, str]:
    return event.rank, event.time, event.id
