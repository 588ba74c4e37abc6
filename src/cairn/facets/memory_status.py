"""What `cairn status` says of the memory; read, never written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from cairn.errors import StoreError
from cairn.facets.memory import MemoryFacet
from cairn.facets.project_index import ProjectIndex
from cairn.memory.spool import Spool
from cairn.memory.summaries import read_meter
from cairn.storage.memory.chat_db import ChatMeter
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import EventSource

METER_DAYS = 30
_DAY_SECONDS = 86_400.0
_MOST_AGENTS = 20


def read_memory_status(index: ProjectIndex, memory: MemoryFacet) -> dict[str, Any]:
    """Return how many memories are active, what waits, and what summaries cost; `error` says why that is not known."""
    status: dict[str, Any] = {"active": 0, "pending": 0, "chat": chat_of(ChatMeter(0, 0, 0, 0, 0.0)), "error": ""}
    status["agents"] = []
    status["waiting"] = Spool(index.root).count()
    try:
        status["active"] = memory.store.count(Conditions(statuses=("active",)))
        status["pending"] = memory.recall.models.pending()
        status["chat"] = chat_of(read_meter(memory.store, meter_start()))
        status["agents"] = last_heard(memory.usage.sources())
    except StoreError as error:
        status["error"] = str(error)
    return status


def last_heard(sources: Sequence[EventSource]) -> list[dict[str, Any]]:
    """Return when each agent reported an event last, in seconds since the epoch, the last one first.

    `events` says the same of each kind of event, with how many there were and how many milliseconds the last and the
    slowest of them took, and 95 of a hundred of the last.
    """
    agents: dict[str, dict[str, Any]] = {}
    for source in sorted(sources, key=lambda source: source.heard, reverse=True):
        agent = agents.setdefault(source.agent, {"agent": source.agent, "heard": source.heard, "events": []})
        event = {"event": source.event, "heard": source.heard, "count": source.n_events}
        took = {"last_ms": source.last_ms, "p95_ms": source.p95_ms, "slowest_ms": source.slowest_ms}
        agent["events"].append(event | took)
    return list(agents.values())[:_MOST_AGENTS]


def meter_start() -> float:
    """Return since when costs are shown, in seconds since the epoch."""
    return time.time() - METER_DAYS * _DAY_SECONDS


def chat_of(meter: ChatMeter) -> dict[str, Any]:
    """Return what questions to a chat model cost, as JSON has it."""
    return {
        "calls": meter.n_calls,
        "failed": meter.n_failed,
        "input_tokens": meter.input_tokens,
        "output_tokens": meter.output_tokens,
        "cost": round(meter.cost, 4),
        "days": METER_DAYS,
    }
