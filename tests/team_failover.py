"""People, operators and workers who go on while a team's database fails over, and note what it acknowledged to them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from itertools import count
from typing import NamedTuple

from cairn.errors import CatalogError
from cairn.memory.clock import HybridClock
from cairn.memory.events import Event
from cairn.memory.ids import new_id
from cairn.team.catalog import Catalog, WorkList
from cairn.team.memories import push_events
from cairn.team.operator import Operator
from cairn.team.people import People
from cairn.team.tokens import token_hash
from memory_histories import CREATED

_REST_SECONDS = 0.005  # after the database refused


class Acknowledged(NamedTuple):
    """What the database said that it has; threads add to it.

    Attributes:
        events: ids of events of memories.
        published: branches with the commit of each publication.
        tokens: that were made.
        revoked: those that were revoked.
        refused: how often the database refused or did not answer.
    """

    events: list[str]
    published: list[tuple[int, str]]
    tokens: list[str]
    revoked: list[str]
    refused: list[str]

    def counts(self) -> tuple[int, int, int, int]:
        """Return how many events, publications, tokens and revocations there are."""
        return len(self.events), len(self.published), len(self.tokens), len(self.revoked)


class Writers:
    """Four that write all the time, each with connections of its own.

    Args:
        address: of the database, wherever it is.
        project: which events are shared in; its first person may write there.
        token: theirs.
    """

    def __init__(self, address: str, project: str, token: str) -> None:
        self.noted = Acknowledged([], [], [], [], [])
        self._project = project
        self._token = token_hash(token)
        self._owner = Catalog(address)
        self._nodes, self._workers = Catalog(address, "cairn_node"), Catalog(address, "cairn_worker")
        self._end = threading.Event()
        self._clock = HybridClock()
        self._failed: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._go_on, args=(deed,))
            for deed in (self._share, self._publish, self._make_tokens, self._revoke)
        ]

    @contextmanager
    def writing(self) -> Iterator[Acknowledged]:
        """Have them write for as long as the block lasts."""
        for thread in self._threads:
            thread.start()
        try:
            yield self.noted
        finally:
            self._end.set()
            for thread in self._threads:
                thread.join()
            for catalog in (self._owner, self._nodes, self._workers):
                catalog.close()
        if self._failed:
            raise self._failed[0]

    def wait_until(self, more: Callable[[Acknowledged], bool], seconds: float = 60.0) -> None:
        """Wait until what is acknowledged is enough."""
        deadline = time.monotonic() + seconds
        while not more(self.noted):
            assert not self._failed, self._failed
            assert time.monotonic() < deadline, (self.noted.counts(), self.noted.refused[-3:])
            time.sleep(0.01)

    def _go_on(self, deed: Callable[[int], None]) -> None:
        for number in count():
            if self._end.is_set():
                return
            try:
                deed(number)
            except CatalogError as error:
                self.noted.refused.append(str(error))
                time.sleep(_REST_SECONDS)
            except BaseException as error:  # noqa: BLE001 - the edge of a thread; whoever waits gets it
                self._failed.append(error)
                return

    def _share(self, number: int) -> None:
        value = {**CREATED, "text": f"Shared before or after, {number}", "is_shared": True}
        event = Event(new_id(time.time()), "p", self._clock.tick(), "person:ada", "person", "created", value)
        answer = push_events(self._nodes, self._token, self._project, {"events": [event.body]})
        assert answer == {"new": 1, "refused": {}}, answer
        self.noted.events.append(event.id)

    def _publish(self, number: int) -> None:
        work = WorkList(self._workers, "w", timedelta(seconds=1))
        if (found := work.look(timedelta(0))) is None:
            return
        work.want(found[0], sha256(f"{number}".encode()).hexdigest())
        if (claim := work.claim()) is not None and work.publish(claim, []):
            self.noted.published.append((claim.branch_id, claim.wanted))

    def _make_tokens(self, number: int) -> None:
        self.noted.tokens.append(Operator(self._owner).new_token(f"made-{number}", 1))

    def _revoke(self, number: int) -> None:
        name = f"gone-{number}"
        token = Operator(self._owner).new_token(name, 1)
        People(self._owner).revoke_everything(name)
        self.noted.revoked.append(token)


class Lost(NamedTuple):
    """How much of what was acknowledged is not there: of each kind of `Acknowledged`."""

    events: int
    publications: int
    tokens: int
    revocations: int


def count_lost(address: str, noted: Acknowledged) -> Lost:
    """Return what the database at an address lacks of what was acknowledged."""
    owner = Catalog(address)
    try:
        with owner.transaction() as connection:
            events = {row[0] for row in connection.execute("SELECT id FROM memory_event")}
            generations = {row[0]: row[1] for row in connection.execute("SELECT id, generation FROM branch")}
            holds = {row[0]: row[1] for row in connection.execute("SELECT hash, revoked_at IS NULL FROM token")}
    finally:
        owner.close()
    n_generations = Counter(branch for branch, _ in noted.published)
    return Lost(
        len(set(noted.events) - events),
        # Those without an answer may be there, too, so the numbers may be higher, never lower.
        sum(max(0, number - generations.get(branch, 0)) for branch, number in n_generations.items()),
        sum(not holds.get(token_hash(token), False) for token in noted.tokens),
        sum(holds.get(token_hash(token), True) for token in noted.revoked),
    )
