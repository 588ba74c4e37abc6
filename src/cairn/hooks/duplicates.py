"""Recognises repeated events: two hooks of an agent may report the same one, and a hook may send one again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, NamedTuple

from cairn.digest import blake2b
from cairn.hooks.report import Happening, Report

MOST_EVENTS = 5_000
TWIN_SECONDS = 2.0  # two equal payloads without an id within this time are one event
Standing = Literal["new", "in work", "done"]


class SeenEvent(NamedTuple):
    """The first report of an event.

    Attributes:
        id: of the run of the hook program that reported it.
        seconds: when, since the epoch.
        is_done: whether it was recorded.
    """

    id: str
    seconds: float
    is_done: bool = False


class SeenEvents:
    """The latest events of all projects. Kept in memory only, and used by one thread."""

    def __init__(self) -> None:
        self._seen: OrderedDict[bytes, SeenEvent] = OrderedDict()

    def see(self, key: bytes, report: Report, *, has_id: bool) -> Standing:
        """Return whether an event is new, and if so mark it as in progress.

        Args:
            key: of the event, as from `key_of`.
            report: of the event.
            has_id: whether the agent gave it an id; otherwise it is recognised by its payload, for a short time only.
        """
        first = self._seen.get(key)
        is_same = first is not None and (
            has_id or first.id == report.id or abs(first.seconds - report.seconds) <= TWIN_SECONDS
        )
        if first is not None and is_same:
            self._seen.move_to_end(key)
            return "done" if first.is_done or first.id != report.id else "in work"
        self._seen[key] = SeenEvent(report.id, report.seconds)
        while len(self._seen) > MOST_EVENTS:
            self._seen.popitem(last=False)
        return "new"

    def is_of(self, key: bytes, report: Report) -> bool:
        """Tell whether an event was first reported by this very run of the hook program."""
        first = self._seen.get(key)
        return first is not None and first.id == report.id

    def settle(self, key: bytes, *, is_done: bool) -> None:
        """Record the outcome of an event in progress: it was recorded, or it will be sent again."""
        sighting = self._seen.pop(key, None)
        if is_done and sighting is not None:
            self._seen[key] = sighting._replace(is_done=True)


def key_of(report: Report, happening: Happening, payload: bytes) -> tuple[bytes, bool]:
    """Return the key of an event, and whether it is an id from the agent."""
    ids = [moment.id for moment in happening.moments]
    has_id = bool(ids) and not any(id.startswith(report.id) for id in ids)
    parts = [happening.session, happening.event, *(ids if has_id else ())]
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16)
    if not has_id:
        digest.update(b"\0" + payload)
    return digest.digest(), has_id
