"""How observations and events look as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, cast

from cairn.errors import StoreError
from cairn.facets.memory import MemoryFacet
from cairn.memory.events import Event
from cairn.memory.handles import handle_of
from cairn.memory.links import name_of
from cairn.memory.shown import moment_of, sources_of, summary_of, tokens_of
from cairn.protocol.memory_documents import (
    ChangedMemoriesDocument,
    MemoryDocument,
    MemoryEventDocument,
    MemoryRowDocument,
    ShownDocument,
)
from cairn.storage.memory.rows import InjectedMemory, Observation
from cairn.workspace import Workspace


def memory_of(workspace: Workspace, *, ends_stale: bool = False) -> MemoryFacet:
    """Return the memory once it has taken in what waited; if that cannot be, what it knows is shown all the same."""
    with suppress(StoreError):
        workspace.memory.inbox.catch_up(ends_stale=ends_stale)
    return workspace.memory


def memory_rows(memory: MemoryFacet, observations: Sequence[Observation]) -> list[MemoryRowDocument]:
    """Return memories as rows of a list, with their files as these are called now."""
    sources, now = sources_of(memory.store, observations), memory.recall.followed(observations)
    return [memory_row(observation, sources.get(observation.id, "")) for observation in now]


def changed_rows(memory: MemoryFacet, observations: Sequence[Observation]) -> ChangedMemoriesDocument:
    """Return memories that were changed just now, as rows."""
    return {"memories": list(map(memory_row, memory.recall.followed(observations)))}


def memory_row(observation: Observation, source: str = "") -> MemoryRowDocument:
    """Return a memory as a row; see `event_db.find_sources` for where it is from."""
    row: dict[str, Any] = {
        "id": handle_of(observation.id),
        "type": observation.type,
        "status": observation.status,
        "summary": summary_of(observation.text),
        "files": list(map(name_of, observation.links)),
        "importance": observation.importance,
        "tags": list(observation.tags),
        "created": moment_of(observation.created),
        "tokens": tokens_of(observation.text),
    }
    if observation.superseded_by:
        row["superseded_by"] = handle_of(observation.superseded_by)
    facts = {
        "session": observation.session,
        "branch": observation.branch,
        "shared": observation.is_shared,
        "source": source,
    }
    row |= {name: value for name, value in facts.items() if value}
    return cast("MemoryRowDocument", row)


def shown_rows(injections: Sequence[InjectedMemory]) -> list[ShownDocument]:
    """Return what agents were shown unasked, as rows; what stood around memories has none."""
    return [
        {
            "session": injection.session,
            "time": f"{datetime.fromtimestamp(injection.seconds, UTC):%Y-%m-%dT%H:%M:%SZ}",
            "event": injection.event,
            "memory": handle_of(injection.observation),
            "why": injection.why,
            "tokens": injection.tokens,
            "use": injection.use,
        }
        for injection in injections
        if injection.observation
    ]


def whole_memory(
    observation: Observation, history: Sequence[Event], source: str, shown: Sequence[InjectedMemory]
) -> MemoryDocument:
    """Return a memory with its text and all that happened to it."""
    document = {
        "id": handle_of(observation.id),
        "uuid": observation.id,
        "type": observation.type,
        "status": observation.status,
        "superseded_by": handle_of(observation.superseded_by) if observation.superseded_by else "",
        "text": observation.text,
        "files": list(map(name_of, observation.links)),
        "importance": observation.importance,
        "tags": list(observation.tags),
        "shared": observation.is_shared,
        "origin": observation.origin,
        "actor": observation.actor,
        "source": source,
        "session": observation.session,
        "branch": observation.branch,
        "revision": observation.revision,
        "created": moment_of(observation.created),
        "changed": moment_of(observation.changed),
        "tokens": tokens_of(observation.text),
        "shown": shown_rows(shown),
        "history": [_event(event) for event in history],
    }
    return cast("MemoryDocument", document)


def _event(event: Event) -> MemoryEventDocument:
    """Return an event; what was created is what the memory says, or what later events say it said."""
    value = dict(event.value)
    if "superseded_by" in value:
        value["superseded_by"] = handle_of(value["superseded_by"])
    document = {
        "time": moment_of(event.time),
        "actor": event.actor,
        "authority": event.authority,
        "kind": event.kind,
        "value": value,
    }
    return cast("MemoryEventDocument", document)
