"""Exchanges events of shared memories with a team's server: pulls what is new, then pushes what waits.

Whatever is cut off is done again later: events are named by their content, so nothing counts twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from cairn.errors import CairnError, NotFoundError, RequestError, TeamError
from cairn.memory.events import Event
from cairn.memory.team_memories import TeamLink, TeamMemories, is_final

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
    """What an exchange did.

    Attributes:
        n_pulled, n_pushed: events.
        n_changed: memories that changed here.
        refused: why the server refused events, by their ids.
    """

    n_pulled: int = 0
    n_changed: int = 0
    n_pushed: int = 0
    refused: Mapping[str, str] = MappingProxyType({})


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
        n_pushed, refused = _push(memories, link, wire, path)
        memories.note_outcome(link)
    except CairnError as error:
        with suppress(RequestError):  # the team was left meanwhile: this says nothing of another
            if isinstance(error, NotFoundError):
                memories.lose_access(link)
            memories.note_outcome(link, str(error))
        raise
    return Synced(n_pulled, n_changed, n_pushed, refused)


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


def _push(memories: TeamMemories, link: TeamLink, wire: TeamWire, path: str) -> tuple[int, dict[str, str]]:
    """Send what waits, and return how many events the server has now, and why it refused others, by their ids.

    What it may take one day is sent again with the next exchange.
    """
    n_pushed = 0
    refused: dict[str, str] = {}
    while batch := list(_that_fit(memories.waiting(link, MAX_PUSHED, refused))):
        reasons = _refused_in(wire.post(path, {"events": [event.body for event in batch]}))
        here = {event.id: reasons[event.id] for event in batch if event.id in reasons}
        sent = {event.id for event in batch} - here.keys()
        memories.note_pushed(link, sent, [id for id, reason in here.items() if is_final(reason)])
        n_pushed += len(sent)
        refused |= here
    return n_pushed, refused


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


def _refused_in(document: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    refused = document.get("refused") if isinstance(document, dict) else None
    if not (isinstance(refused, dict) and all(isinstance(text, str) for item in refused.items() for text in item)):
        raise _senseless()
    return refused


def _senseless() -> CairnError:
    return TeamError(
        "the team's server sends what is not an answer about memories", "see whether both have the same version"
    )
