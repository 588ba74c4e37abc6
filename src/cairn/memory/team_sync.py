"""Exchanges events of shared memories with a team's server: pulls what is new, then pushes what waits.

Whatever is cut off is done again later: events are named by their content, so nothing counts twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from cairn.errors import CairnError, NotFoundError, RequestError, TeamError
from cairn.memory.events import Event
from cairn.memory.team_memories import TeamLink, TeamMemories

MAX_PUSHED = 500  # events at a time
_MAX_PUSHED_BYTES = 1_000_000
_MAX_PAGES = 10_000


class TeamWire(Protocol):
    """Sends requests to a server, with the token of this user."""

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to a GET request.

        Raises:
            NotFoundError: if the server says that there is no such thing for this user.
            CairnError: if it refuses otherwise, or does not answer.
        """

    def post(self, path: str, document: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """Send a document and return the answer; errors as for `get`."""


class Synced(NamedTuple):
    """What an exchange did: events that were pulled, pushed and refused, and memories that changed here."""

    n_pulled: int = 0
    n_changed: int = 0
    n_pushed: int = 0
    n_refused: int = 0


class EventPage(NamedTuple):
    """Some events of a project, in the order of the server.

    Attributes:
        bodies: canonical.
        last: the number of the last of them.
        counter: the greatest number that the server has given so far.
        has_more: whether there are more.
    """

    bodies: Sequence[str]
    last: int
    counter: int
    has_more: bool


def sync(memories: TeamMemories, wire: TeamWire) -> Synced:
    """Exchange events with the team that a memory is shared with; nothing where there is none.

    Raises:
        NotFoundError: if this user may not read the project any more: then what the team brought was dropped.
        RequestError: if the team was left, or changed for another, meanwhile.
        CairnError: if the server cannot be asked, or refuses; what was exchanged before that is kept.
    """
    if (link := memories.link()) is None:
        return Synced()
    path = f"/api/projects/{quote(link.project)}/events"
    try:
        n_pulled, n_changed = _pull(memories, link, wire, path)
        n_pushed, n_refused = _push(memories, link, wire, path)
        memories.note_outcome(link)
    except CairnError as error:
        with suppress(RequestError):  # the team was left meanwhile: this says nothing of another
            if isinstance(error, NotFoundError):
                memories.lose_access(link)
            memories.note_outcome(link, str(error))
        raise
    return Synced(n_pulled, n_changed, n_pushed, n_refused)


def _pull(memories: TeamMemories, link: TeamLink, wire: TeamWire, path: str) -> tuple[int, int]:
    n_pulled = n_changed = 0
    after = memories.place(link)
    for _ in range(_MAX_PAGES):
        page = read_page(wire.get(f"{path}?after={after}"))
        if page.counter < after:  # it was set back, such as to a backup
            memories.start_over(link)
            after = 0
            continue
        if page.bodies:
            n_changed += memories.take(link, page.bodies, page.last)
            n_pulled += len(page.bodies)
            after = page.last
        if not page.has_more or not page.bodies:
            break
    return n_pulled, n_changed


def _push(memories: TeamMemories, link: TeamLink, wire: TeamWire, path: str) -> tuple[int, int]:
    n_pushed = n_refused = 0
    while batch := list(_that_fit(memories.waiting(link, MAX_PUSHED))):
        answer = wire.post(path, {"events": [event.body for event in batch]})
        refused = _refused_in(answer)
        ids = {event.id for event in batch}
        memories.note_pushed(link, ids - refused, ids & refused)
        n_pushed += len(ids - refused)
        n_refused += len(ids & refused)
    return n_pushed, n_refused


def _that_fit(events: Sequence[Event]) -> Iterator[Event]:
    """Yield as many events as one request may hold; one at least."""
    size = 0
    for event in events:
        size += len(event.body.encode())
        if size > _MAX_PUSHED_BYTES and size > len(event.body.encode()):
            return
        yield event


def read_page(document: Any) -> EventPage:  # noqa: ANN401 - JSON
    """Return the answer to a request for events.

    Raises:
        TeamError: if it is not one.
    """
    fields = document if isinstance(document, dict) else {}
    bodies, last, counter, has_more = (fields.get(name) for name in ("events", "last", "counter", "more"))
    if (
        not (isinstance(bodies, list) and all(isinstance(body, str) for body in bodies))
        or not (type(last) is int and type(counter) is int and isinstance(has_more, bool))
        or min(last, counter) < 0
    ):
        raise _senseless()
    return EventPage(bodies, last, counter, has_more)


def _refused_in(document: Any) -> set[str]:  # noqa: ANN401 - JSON
    refused = document.get("refused") if isinstance(document, dict) else None
    if not (isinstance(refused, dict) and all(isinstance(id, str) for id in refused)):
        raise _senseless()
    return set(refused)


def _senseless() -> CairnError:
    return TeamError(
        "the team's server sends what is not an answer about memories", "see whether both have the same version"
    )
