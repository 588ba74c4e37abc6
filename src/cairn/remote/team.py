"""The projects on team servers that the user may read, and answers about them."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, NotRequired, TypedDict, TypeVar
from urllib.parse import quote

from cairn.errors import (
    CairnError,
    NotAvailableError,
    QueryError,
    ServerAwayError,
    SignInError,
    TeamError,
    UnreachableError,
)
from cairn.hints import Hint
from cairn.protocol.answer_types import answer_type
from cairn.protocol.table import TEAM_OPERATIONS
from cairn.registry import is_team_name
from cairn.remote.conforming import conform
from cairn.remote.connection import ANSWER_SECONDS, SEE_SERVERS, TeamConnection
from cairn.remote.servers import TeamServer
from cairn.remote.threads import start

_T = TypeVar("_T")
_SPARE_SECONDS = 0.5  # extra time to wait for a request that keeps to its own limits
_AT_ONCE = 8  # parallel questions to all servers
_FRESH_SECONDS = 30.0  # how long a list of projects is cached; the server checks each question anyway
_MAX_PROJECTS = 20_000
_MAX_NAMED = 5  # projects to name in a problem
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# Request fields that only make sense on this machine.
_OF_HERE = ("project", "update", "build", "hints", "session", "repeat")


class ProjectRow(TypedDict):
    """A branch of a project, as a server lists it; `repository` is as `cairn.source.origins` has it."""

    project: str
    branch: str
    default: bool
    commit: str
    repository: NotRequired[str]


class TeamProject(NamedTuple):
    """A project of a team that the user may read.

    Attributes:
        name: `ORGANISATION/NAME`.
        branch, commit: the ones answered about.
        repository: its identity, see `cairn.source.origins`; empty if the server does not say.
        server: the one that has it.
    """

    name: str
    branch: str
    commit: str
    repository: str
    server: TeamServer


class TeamListing(NamedTuple):
    """The projects of all servers, why some servers did not list theirs, and the servers that the user operates."""

    projects: tuple[TeamProject, ...]
    problems: tuple[CairnError, ...]
    operated: tuple[TeamServer, ...] = ()


class TeamSearches(NamedTuple):
    """The answers of several projects, and why others failed."""

    answers: list[tuple[TeamProject, Any]]
    problems: list[str]


class Team:
    """Asks the servers.

    Args:
        servers: to which the user is signed in.
        connect: opens a connection to one.
        answer_seconds: how long anything here may take.
    """

    def __init__(
        self,
        servers: Sequence[TeamServer],
        connect: Callable[[TeamServer], TeamConnection] = TeamConnection,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.servers = tuple(servers)
        self._connections = {server.url: connect(server) for server in servers}
        self.answer_seconds = answer_seconds
        self._listing: TeamListing | None = None
        self._listed_at = 0.0

    def listing(self, seconds: float | None = None) -> TeamListing:
        """Return the projects of all servers by name; a server that does not answer becomes a problem.

        Args:
            seconds: how long this may take; None for `answer_seconds`.
        """
        if self._listing is not None and time.monotonic() - self._listed_at < _FRESH_SECONDS:
            return self._listing
        asked = [(server, start(partial(self._projects_of, server))) for server in self.servers]
        deadline = time.monotonic() + (self._limit if seconds is None else seconds)
        projects: list[TeamProject] = []
        problems: list[CairnError] = []
        excess: list[CairnError] = []
        operated: list[TeamServer] = []
        for server, future in asked:
            try:
                found, is_operated = self._result(server, future, deadline)
                projects += found[:_MAX_PROJECTS]
                operated += [server] if is_operated else []
                excess += [_excess_of(server, len(found))] if len(found) > _MAX_PROJECTS else []
            except CairnError as error:
                problems.append(error)
        projects.sort(key=lambda project: (project.name, project.server.url))
        listing = TeamListing(tuple(projects), (*problems, *excess), tuple(operated))
        if not problems:
            self._listing, self._listed_at = listing, time.monotonic()
        return listing

    @property
    def _limit(self) -> float:
        return self.answer_seconds + _SPARE_SECONDS

    def _connection(self, server: TeamServer) -> TeamConnection:
        """Return the connection to a server, with the user's current token."""
        if (connection := self._connections.get(server.url)) is None:
            raise SignInError(f"you are not signed in to {server.url}", Hint.of("login", url=server.url))
        return connection

    def _result(self, server: TeamServer, future: Future[_T], deadline: float) -> _T:
        try:
            return future.result(max(0.0, deadline - time.monotonic()))
        except TimeoutError as error:
            raise ServerAwayError(
                f"{server.host} does not answer: no answer within {self.answer_seconds:g} s", SEE_SERVERS
            ) from error

    def _projects_of(self, server: TeamServer) -> tuple[list[TeamProject], bool]:
        """Return the projects of a server, and whether the user operates it."""
        document = self._connection(server).get("/api/projects")
        try:
            rows = conform(list[ProjectRow], document["projects"])
        except (ValueError, KeyError, TypeError) as error:
            raise _senseless(server) from error
        projects = [
            TeamProject(row["project"], row["branch"], row["commit"], row.get("repository", ""), server)
            for row in rows
            if row["default"] and is_team_name(row["project"]) and _COMMIT.fullmatch(row["commit"])
        ]
        return projects, document.get("operator") is True

    def ask(
        self, project: TeamProject, operation: str, fields: Mapping[str, object], deadline: float | None = None
    ) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to a question about a project, marked with its origin.

        Args:
            project: of the `listing`.
            operation: one of `cairn.protocol.table.OPERATIONS`.
            fields: of its request, as for a project on this machine.
            deadline: on the monotonic clock; None for `answer_seconds` from now.

        Raises:
            SignInError, ServerAwayError: as `TeamConnection.post`.
            CairnError: what the server says of the question.
        """
        if deadline is None:
            deadline = time.monotonic() + self._limit
        return self._result(project.server, start(lambda: self._ask(project, operation, fields)), deadline)

    def _ask(self, project: TeamProject, operation: str, fields: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        if operation not in TEAM_OPERATIONS:
            raise NotAvailableError(
                f"a team's server does not answer this about {project.name}", "check it out, and ask there"
            )
        if fields.get("diff") is not None:
            raise QueryError(
                f"{project.name} is not checked out here, so nothing is known of a change",
                Hint("name the symbol that changes", operation.rpartition("/")[2], symbol=None, project=None),
            )
        values = {name: value for name, value in fields.items() if name not in _OF_HERE and value is not None}
        path = f"/api/projects/{quote(project.name)}/{operation}"
        document = self._connection(project.server).post(path, values)
        try:
            return _marked(conform(answer_type(operation), document), project, _commit_of(document) or project.commit)
        except ValueError as error:
            raise _senseless(project.server) from error

    def search(self, projects: Sequence[TeamProject], fields: Mapping[str, object], deadline: float) -> TeamSearches:
        """Search several projects, a few in parallel.

        Args:
            projects: of the `listing`.
            fields: of the request.
            deadline: on the monotonic clock; projects that have not answered by then become problems.
        """
        waiting = deque(projects)
        answers: dict[TeamProject, Any] = {}
        refused: dict[TeamProject, CairnError] = {}
        away: dict[TeamServer, UnreachableError] = {}
        is_over = threading.Event()

        def work() -> None:
            while waiting and not is_over.is_set():
                with suppress(IndexError):  # another thread took the last one
                    ask(waiting.popleft())

        def ask(project: TeamProject) -> None:
            try:
                if project.server in away:
                    raise away[project.server]
                answers[project] = self._ask(project, "search", fields)
            except UnreachableError as error:
                refused[project] = away[project.server] = error
            except CairnError as error:
                refused[project] = error

        workers = [start(work) for _ in range(min(_AT_ONCE, len(projects)))]
        for worker in workers:
            try:
                worker.result(max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                break
        is_over.set()
        done, failed = dict(answers), dict(refused)  # late threads continue
        found = [(project, done[project]) for project in projects if project in done]
        return TeamSearches(found, list(_problems_of(projects, done, failed)))


def _commit_of(document: Any) -> str:  # noqa: ANN401 - JSON
    """Return the commit that an answer is about, which may be newer than the list's; empty if unknown."""
    first = next(iter(document), None) if isinstance(document, list) else document
    origin = first.get("remote") if isinstance(first, dict) else None
    commit = origin.get("commit") if isinstance(origin, dict) else None
    return commit if isinstance(commit, str) and _COMMIT.fullmatch(commit) else ""


def _marked(document: Any, project: TeamProject, commit: str) -> Any:  # noqa: ANN401 - JSON
    remote = {"project": project.name, "commit": commit}
    if isinstance(document, list):
        return [{**item, "remote": remote} for item in document]
    return {**document, "remote": remote}


def _senseless(server: TeamServer) -> ServerAwayError:
    return ServerAwayError(
        f"{server.host} sends what is not the answer of a team's server", "see whether both have the same version"
    )


def _excess_of(server: TeamServer, n_projects: int) -> TeamError:
    return TeamError(f"{server.host} has {n_projects:,} projects, of which the first {_MAX_PROJECTS:,} count")


def _problems_of(
    projects: Sequence[TeamProject], answers: Mapping[TeamProject, Any], refused: Mapping[TeamProject, CairnError]
) -> Iterator[str]:
    """Yield the distinct reasons why projects did not answer."""
    reasons: dict[str, list[str]] = {}
    for project in projects:
        if project not in answers:
            error = refused.get(project)
            reasons.setdefault("no answer in time" if error is None else str(error), []).append(project.name)
    for reason, names in reasons.items():
        more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
        yield f"{', '.join(names[:_MAX_NAMED])}{more}: {reason}"
