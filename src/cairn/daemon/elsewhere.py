"""Asks a team's servers on behalf of the user, so that no agent needs a token."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from cairn.errors import StoreError
from cairn.loading import load
from cairn.protocol.requests import ProjectRequest
from cairn.registry import Registry
from cairn.remote.threads import start
from cairn.schema import encode

if TYPE_CHECKING:
    from cairn.remote.finding import FoundProject
    from cairn.remote.operating import StateDocument
    from cairn.remote.servers import TeamServer
    from cairn.remote.team import Team, TeamProject, TeamSearches

_T = TypeVar("_T")
_AT_ONCE = 8


class Elsewhere:
    """Finds and asks projects that may be on a server. The client code is imported on first use.

    Args:
        registry: the projects on this machine; its folder also has the user's tokens.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._read_at: tuple[int, int] | None = None
        self._team: Team | None = None

    async def find(self, name: str) -> FoundProject:
        """Find a project; see `cairn.remote.finding.find_project`."""

        def find() -> FoundProject:
            found: FoundProject = load("cairn.remote.finding:find_project")(name, self._registry, self._current_team())
            return found

        return await self._run(find)

    async def ask(self, project: TeamProject, operation: str, arguments: ProjectRequest, deadline: float) -> Any:  # noqa: ANN401 - JSON
        """Ask about a project found by `find`; see `cairn.remote.team.Team.ask`."""
        fields = encode(arguments)
        return await self._run(lambda: self._current_team().ask(project, operation, fields, deadline))

    async def search(self, arguments: ProjectRequest) -> TeamSearches | None:
        """Search all projects on servers that are not checked out here; None if the user is not signed in anywhere."""
        if not self._registry.folder.servers.exists():
            return None
        fields = encode(arguments)

        def search() -> TeamSearches:
            work = load("cairn.remote.finding:search_elsewhere")
            found: TeamSearches = work(self._current_team(), self._registry, fields)
            return found

        return await self._run(search)

    def operated(self) -> tuple[TeamServer, ...]:
        """Return the servers of which the user is an operator, as recorded at sign-in; none if that cannot be read."""
        if not self._registry.folder.servers.exists():
            return ()
        try:
            servers = load("cairn.remote.servers:SignIns")(self._registry.folder).servers()
        except StoreError:  # the next question to a server reports it
            return ()
        return tuple(server for server in servers if server.is_operated)

    async def state_of(self, server: TeamServer, limit: int) -> StateDocument:
        """Return the state of a server; see `cairn.remote.operating.read_state`."""

        def read() -> StateDocument:
            state: StateDocument = load("cairn.remote.operating:read_state")(server, limit)
            return state

        return await self._run(read)

    async def _run(self, work: Callable[[], _T]) -> _T:
        """Do work that waits for servers in its own thread, when its turn comes.

        The turn lasts as long as the thread, even if nobody is waiting for the result any more.
        """
        await self._turns.acquire()
        return await asyncio.shield(asyncio.ensure_future(self._finish(work)))

    async def _finish(self, work: Callable[[], _T]) -> _T:
        try:
            return await asyncio.wrap_future(start(work))
        finally:
            self._turns.release()

    def _current_team(self) -> Team:
        """Return the servers that the user is signed in to, with cached knowledge of them."""
        try:
            status = os.lstat(self._registry.folder.servers)
            read_at = status.st_mtime_ns, status.st_ino
        except OSError:
            read_at = 0, 0
        if self._team is None or self._read_at != read_at:
            self._team = load("cairn.remote.team:Team")(
                load("cairn.remote.servers:SignIns")(self._registry.folder).servers()
            )
            self._read_at = read_at
        return self._team
