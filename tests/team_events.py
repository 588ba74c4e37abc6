"""A team's server that a test asks without a network, and machines whose memories are shared through it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from cairn.errors import CairnError, TeamError, error_from
from cairn.memory.lifecycle import Lifecycle
from cairn.memory.team_memories import TeamLink, TeamMemories
from cairn.memory.team_sync import Synced, sync
from memory_histories import Replica

SERVER = "https://cairn.example.org"


class AppWire:
    """Carries requests straight to an application.

    Args:
        app: of ASGI.
        token: that each request bears.
    """

    def __init__(self, app: Any, token: str) -> None:  # noqa: ANN401 - of Starlette
        self._app, self._token = app, token

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        return self._send("GET", path, None)

    def post(self, path: str, document: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        return self._send("POST", path, document)

    def _send(self, method: str, path: str, document: Mapping[str, object] | None) -> Any:  # noqa: ANN401 - JSON
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)
            headers = {"Authorization": f"Bearer {self._token}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://team", headers=headers) as client:
                return await client.request(method, path, json=document)

        response = asyncio.run(send())
        answer = response.json()
        if response.status_code != 200:
            raise error_from(answer["code"], answer["message"], answer["hint"])
        return answer


class UnsteadyWire:
    """A wire that loses requests and answers, and sends some requests twice.

    Args:
        wire: that carries what is not lost.
        randomly: decides what is.
        share: of requests that something happens to.
    """

    def __init__(self, wire: AppWire, randomly: random.Random, share: float) -> None:
        self._wire, self._randomly, self._share = wire, randomly, share

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        with self._disturbed() as is_twice:
            answer = self._wire.get(path)
            return self._wire.get(path) if is_twice else answer

    def post(self, path: str, document: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        with self._disturbed() as is_twice:
            answer = self._wire.post(path, document)
            return self._wire.post(path, document) if is_twice else answer

    @contextmanager
    def _disturbed(self) -> Iterator[bool]:
        fate = self._randomly.choice(("lost", "unanswered", "twice")) if self._randomly.random() < self._share else ""
        if fate == "lost":
            raise TeamError("the request is lost")
        yield fate == "twice"
        if fate == "unanswered":
            raise TeamError("the answer is lost")


class Laptop(Replica):
    """A memory on one machine that is shared with a team."""

    def __init__(self, folder: Path, wire: AppWire | UnsteadyWire, offset_seconds: float = 0.0) -> None:
        super().__init__(folder, offset_seconds)
        self.wire = wire
        self.team = TeamMemories(self.store, self.clock)
        self.lifecycle = Lifecycle(self.store)
        self.team.join(TeamLink(SERVER, "acme/shop"))

    def sync(self) -> Synced:
        """Exchange events once."""
        return sync(self.team, self.wire)

    def try_to_sync(self) -> bool:
        """Exchange events once; return whether nothing went wrong."""
        try:
            self.sync()
        except CairnError:
            return False
        return True

    def texts(self) -> set[str]:
        """Return what the memories say."""
        return {observation.text for observation in self.state().values()}
