"""How memories are shown: beginnings of their texts, times to the second, and what was found as values of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from cairn.answers import MemoryHit
from cairn.memory.handles import handle_of
from cairn.memory.links import name_of
from cairn.source.text import cut_at_word, estimate_tokens
from cairn.storage.memory import event_db

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.memory.recall import Recollection
    from cairn.memory.store import MemoryStore
    from cairn.storage.memory.rows import Observation
    from cairn.types import MemorySource, MemoryStatus, MemoryType

SUMMARY_CHARS = 160
_SECONDS = len("2026-01-31T23:59:59")


def memory_hits(store: MemoryStore, found: Sequence[Recollection]) -> tuple[MemoryHit, ...]:
    """Return memories that were found, as answers have them."""
    sources = sources_of(store, [recollection.observation for recollection in found])
    return tuple(_memory_hit(recollection, sources.get(recollection.observation.id, "")) for recollection in found)


def sources_of(store: MemoryStore, observations: Sequence[Observation]) -> dict[str, str]:
    """Return where what some memories say is from, by id; see `event_db.find_sources`."""
    if not observations:
        return {}
    with store.reading() as connection:
        return event_db.find_sources(connection, [observation.id for observation in observations])


def _memory_hit(found: Recollection, source: str) -> MemoryHit:
    observation = found.observation
    return MemoryHit(
        id=handle_of(observation.id),
        type=cast("MemoryType", observation.type),
        status=cast("MemoryStatus", observation.status),
        summary=summary_of(observation.text),
        text=observation.text,
        files=tuple(map(name_of, observation.links)),
        importance=observation.importance,
        tags=observation.tags,
        created=moment_of(observation.created),
        tokens=tokens_of(observation.text),
        relevance=round(found.relevance, 3),
        confidence=found.confidence,
        why=found.why,
        check=found.staleness.note,
        source=cast("MemorySource", source),
    )


def summary_of(text: str) -> str:
    """Return how a text begins, on one line."""
    return cut_at_word(" ".join(text.split()), SUMMARY_CHARS)


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has."""
    return estimate_tokens(len(text.encode("utf-8", "replace")))


def moment_of(time: str) -> str:
    """Return a time of the clock to the second, in UTC."""
    return f"{time[:_SECONDS]}Z"
