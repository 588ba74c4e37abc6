"""Turns what agents send to hooks into moments, as the daemon does, to replay logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cairn.hooks.agents import adapter_of
from cairn.hooks.report import Report
from cairn.memory.moments import Moment


def moments_of(agent: str, payloads: list[Mapping[str, Any]], start: float) -> Iterator[Moment]:
    """Yield the moments of a session.

    Args:
        agent: by the name of its adapter.
        payloads: as the agent sent them, in their order.
        start: of the first, in seconds since the epoch.
    """
    adapter = adapter_of(agent)
    events = {name: event for event, names in adapter.events.items() for name in names}
    for place, payload in enumerate(payloads):
        event = events.get(str(payload["hook_event_name"]))
        if event is None:
            continue
        happening = adapter.read(Report(str(place), agent, event, start + place, "/", {}, payload))
        yield from happening.moments if happening is not None else ()
