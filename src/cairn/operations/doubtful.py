"""Memories that may be false or useless by now: whose code is gone or changed, or that agents were shown in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.memory.choosing import IMPORTANT
from cairn.memory.links import Staleness
from cairn.memory.recall import ACTIVE
from cairn.operations.memory_rows import memory_rows
from cairn.operations.whole_text import perform_all
from cairn.protocol.memory_documents import DoubtfulDocument, DoubtfulRowDocument
from cairn.protocol.memory_requests import DoubtfulRequest
from cairn.storage.memory.rows import Observation
from cairn.storage.memory.usage_db import ShownCounts
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_MOST_LOOKED_AT = 2_000  # active memories, the newest: each may be tied to files that are read
_SHOWN_IN_VAIN = 5  # times without any use, from which on a memory is doubtful
# How much each reason weighs; the most doubtful come first.
_GONE, _UNHELPFUL, _CHANGED, _UNUSED = 4, 3, 2, 1
_NEVER_SHOWN = ShownCounts()
_CURRENT = Staleness()


def list_doubtful(workspace: Workspace, request: DoubtfulRequest, progress: Progress | None = None) -> DoubtfulDocument:
    """List active memories that somebody should look at, the most doubtful first."""
    memory = workspace.memory
    in_vain = dict(memory.usage.shown_in_vain(_SHOWN_IN_VAIN))
    stale, ids = memory.recall.find_stale(ACTIVE, _MOST_LOOKED_AT)
    unused = [id for id in ids if id in in_vain and not in_vain[id].unhelpful]
    for observation in memory.store.observations(unused) if unused else ():
        if _is_kept_silently(observation):
            del in_vain[observation.id]
    weights = {
        id: _weight(stale.get(id, _CURRENT), in_vain.get(id, _NEVER_SHOWN))
        for id in reversed(ids)  # of equal ones the oldest first
        if id in stale or id in in_vain
    }
    doubtful = sorted(weights, key=weights.__getitem__, reverse=True)
    chosen = doubtful[request.offset :][: request.limit or None]
    page = memory.store.observations(chosen) if chosen else []
    counts = memory.usage.shown_counts(chosen)
    rows: list[DoubtfulRowDocument] = []
    for observation, row in zip(page, memory_rows(memory, page), strict=True):
        id = observation.id
        reasons = _reasons(stale.get(id, _CURRENT), in_vain.get(id, _NEVER_SHOWN))
        shown = counts.get(id, _NEVER_SHOWN)
        rows.append({**row, "reasons": reasons, "shown": shown.times, "used": shown.used})
    return {"memories": rows, "total": len(doubtful), "looked_at": len(ids)}


def _is_kept_silently(observation: Observation) -> bool:
    """Tell whether nothing tells that a memory was used: a rule of no file is kept to without a word."""
    return observation.importance >= IMPORTANT and not observation.links


def _weight(staleness: Staleness, shown: ShownCounts) -> int:
    """Return how much the heaviest reason weighs for which a memory is doubtful."""
    if staleness.state == "gone":
        return _GONE
    if shown.unhelpful > shown.helpful:
        return _UNHELPFUL
    return _CHANGED if staleness.state == "changed" else _UNUSED


def _reasons(staleness: Staleness, shown: ShownCounts) -> list[str]:
    """Return why a memory is doubtful."""
    found: list[str] = []
    if staleness.state == "gone":
        found.append(staleness.note)
    elif staleness.state == "changed":
        found.append(f"its code changed since: {', '.join([*staleness.changed, *staleness.gone])}")
    if shown.unhelpful > shown.helpful:
        found.append(f"said to be of no help {_times(shown.unhelpful)}")
    if shown.times >= _SHOWN_IN_VAIN and not shown.used:
        found.append(f"shown {_times(shown.times)} and never used")
    return found


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


PERFORM = perform_all({"memories/doubtful": list_doubtful})
