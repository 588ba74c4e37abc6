"""The state of a team's server, as reported to its operators."""

from __future__ import annotations

from contextlib import closing
from typing import Literal, NotRequired, TypedDict

from cairn.errors import ServerAwayError
from cairn.remote.conforming import conform
from cairn.remote.connection import TeamConnection
from cairn.remote.servers import TeamServer


class ProblemDocument(TypedDict):
    """What goes wrong in a node or a worker: how often since its start, and the last time in words."""

    code: str
    message: str
    times: int
    last_at: str


class FiguresDocument(TypedDict):
    """What a node or a worker says of itself, since its start."""

    failed: int
    problems: list[ProblemDocument]
    answered: NotRequired[int]
    waiting: NotRequired[int]
    open_projects: NotRequired[int]
    published: NotRequired[int]


class PartDocument(TypedDict):
    """A node or a worker."""

    name: str
    version: str
    started_at: str
    heard_at: str
    is_silent: bool
    figures: FiguresDocument


class QueueDocument(TypedDict):
    """How many branches there are, by what is to be done."""

    published: int
    waiting: int
    leased: int
    failed: int
    oldest_seconds: float


class FreshnessDocument(TypedDict):
    """How many branches there are, by how long ago what is published was the newest."""

    branches: int
    within_5_minutes: int
    within_an_hour: int
    within_a_day: int
    older: int
    never_published: int
    unreachable: int


class BranchDocument(TypedDict):
    """A branch of a project: what is wanted and published, and what went wrong."""

    project: str
    branch: str
    state: Literal["failed", "published", "waiting"]
    wanted: str | None
    published: str | None
    worker: str
    is_leased: bool
    problem: str
    failures: int
    look_problem: str
    wanted_at: str | None
    published_at: str | None
    seen_at: str | None
    fresh_at: str | None


class StateDocument(TypedDict):
    """All of it; `branches` may be only the first, those in need."""

    at: str
    queue: QueueDocument
    freshness: FreshnessDocument
    branches: list[BranchDocument]
    nodes: list[PartDocument]
    workers: list[PartDocument]


def read_state(server: TeamServer, limit: int) -> StateDocument:
    """Return how a server is, with at most so many branches.

    Raises:
        SignInError: if the token is not an operator's, or does not hold.
        ServerAwayError: if it does not answer, or makes no sense.
    """
    with closing(TeamConnection(server)) as connection:
        document = connection.get(f"/api/admin/state?limit={limit}")
    try:
        state: StateDocument = conform(StateDocument, document)
    except ValueError as error:
        raise ServerAwayError(
            f"{server.host} does not say how it is as this version understands it", "see whether both have the same"
        ) from error
    return state
