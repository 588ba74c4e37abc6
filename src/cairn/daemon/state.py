"""The daemon itself: what it serves, to whom, within which limits, and when it is to end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import NamedTuple

from cairn.config import Settings
from cairn.daemon.projects import Projects
from cairn.daemon.sessions import Sessions
from cairn.errors import BusyError
from cairn.protocol.requests import MAX_BODY_BYTES
from cairn.registry import Registry
from cairn.runtime import StateFolder


class Limits(NamedTuple):
    """What a request may take: bytes and seconds of its body, seconds until its answer, and how many there may be."""

    body_bytes: int = MAX_BODY_BYTES
    body_seconds: float = 10.0
    answer_seconds: float = 120.0
    requests: int = 192


class Daemon:
    """All that requests share.

    Args:
        settings: of the user.
        folder: his state folder.
        host: where the daemon listens.
        token: what requests must carry.
        limits: on each request.
    """

    def __init__(
        self, settings: Settings, folder: StateFolder, host: str, token: str, limits: Limits | None = None
    ) -> None:
        self.settings = settings
        self.host = host
        self.token = token
        self.limits = limits or Limits()
        self.projects = Projects(Registry(folder), settings)
        self.sessions = Sessions()
        self.started_at = time.time()
        self.n_requests = 0  # since the start
        self.stopping = False
        self.ended_in_time = True  # whether work under way did, when the daemon stopped
        self.on_stop: Callable[[], None] = lambda: None
        self.stay_found: Callable[[], bool] = lambda: True  # whether others can find this one, made so if need be
        self._under_way = 0
        self._warm = False
        self._last_asked = time.monotonic()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a request while it is under way.

        Raises:
            BusyError: if there are too many.
        """
        if self._under_way >= self.limits.requests:
            raise BusyError(f"{self._under_way} requests are under way already", "ask again in a moment")
        self._under_way += 1
        self.n_requests += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._last_asked = time.monotonic()

    def warm_up(self) -> None:
        """Import what answers, behind the first answer of any kind, so that the first search need not wait for it."""
        if not self._warm:
            self._warm = True
            asyncio.get_running_loop().run_in_executor(None, import_module, "cairn.daemon.warm")

    @property
    def is_asked(self) -> bool:
        """Tell whether a request is under way."""
        return self._under_way > 0

    def is_idle(self) -> bool:
        """Tell whether nobody asked anything for as long as the settings say."""
        waited = time.monotonic() - self._last_asked
        return not self._under_way and waited > 60 * self.settings.daemon_idle_minutes

    def stop(self) -> None:
        """Take no more requests, finish those under way, and end."""
        self.stopping = True
        self.on_stop()
