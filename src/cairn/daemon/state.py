"""The state that all requests share: projects, sessions, the token, the limits, and when the daemon stops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import NamedTuple

from cairn.config import Settings
from cairn.daemon.elsewhere import Elsewhere
from cairn.daemon.hook_desk import HookDesk
from cairn.daemon.interceptors import Interceptors
from cairn.daemon.learning import Learner
from cairn.daemon.memory_sync import MemorySync
from cairn.daemon.preparing import Preparer
from cairn.daemon.projects import Projects
from cairn.daemon.sessions import Ledgers
from cairn.errors import BusyError
from cairn.protocol.requests import MAX_BODY_BYTES
from cairn.registry import Registry
from cairn.runtime import StateFolder


class Limits(NamedTuple):
    """Limits on a request: bytes and seconds of its body, seconds to answer it, and how many run at once."""

    body_bytes: int = MAX_BODY_BYTES
    body_seconds: float = 10.0
    answer_seconds: float = 120.0
    requests: int = 192


class Daemon:
    """All that requests share.

    Args:
        settings: of the user.
        folder: the user's state folder.
        host: the address the daemon listens at.
        token: the secret that requests must carry.
        limits: on each request.
    """

    def __init__(
        self, settings: Settings, folder: StateFolder, host: str, token: str, limits: Limits | None = None
    ) -> None:
        self.settings = settings
        self.host = host
        self.token = token
        self.limits = limits or Limits()
        interceptors = Interceptors()
        self.projects = Projects(Registry(folder), settings, interceptors.close)
        self.elsewhere = Elsewhere(self.projects.registry)
        self.preparer = Preparer(self.projects)
        self.learner = Learner(self.projects)
        self.memory_sync = MemorySync(self.projects)
        self.sessions = Ledgers()
        self.hooks = HookDesk(self.projects, self.sessions, folder, interceptors)
        self.started_at = time.time()
        self.n_requests = 0  # since the daemon started
        self.stopping = False
        self.ended_in_time = True  # whether running work ended in time at shutdown
        self.on_stop: Callable[[], None] = lambda: None
        self.stay_found: Callable[[], bool] = lambda: (
            True
        )  # tells whether clients can find the daemon; repairs that if possible
        self._running = 0
        self._to_import = ["cairn.daemon.warm", "cairn.daemon.warm_more"]
        self._last_asked = self._last_answered = time.monotonic()

    @contextmanager
    def count_request(self) -> Iterator[None]:
        """Count a request as running while the block runs.

        Raises:
            BusyError: if too many are running.
        """
        if self._running >= self.limits.requests:
            raise BusyError(f"{self._running} requests are running already", "ask again in a moment")
        self._running += 1
        self.n_requests += 1
        self.learner.give_way()
        try:
            yield
        finally:
            self._running -= 1
            self._last_asked = self._last_answered = time.monotonic()

    def note_visit(self) -> None:
        """Record a visit to a page, so that the daemon does not stop while somebody is reading."""
        self._last_asked = time.monotonic()
        self.learner.give_way()

    def warm_up(self) -> None:
        """After a response, import once what further answers need, beginning with the imports for searches."""
        if self._to_import:
            asyncio.get_running_loop().run_in_executor(None, import_module, self._to_import.pop(0))

    @property
    def is_busy(self) -> bool:
        """Tell whether a request is running."""
        return self._running > 0

    @property
    def quiet_seconds(self) -> float:
        """For how long no request has come; 0 while one is running."""
        return 0.0 if self._running else time.monotonic() - self._last_asked

    @property
    def quiet_seconds_of_agents(self) -> float:
        """For how long no request of the API has run, whoever looks at pages; 0 while one is running."""
        return 0.0 if self._running else time.monotonic() - self._last_answered

    def is_idle(self) -> bool:
        """Tell whether no request came for `daemon_idle_minutes`."""
        return not self._running and self.quiet_seconds > 60 * self.settings.daemon_idle_minutes

    def stop(self) -> None:
        """Accept no more requests, finish the running ones, and exit."""
        self.stopping = True
        self.on_stop()
