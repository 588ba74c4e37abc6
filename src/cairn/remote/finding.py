"""Finds the project that a name means: one on this machine, or else one of a team."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from cairn.errors import AmbiguousError, CairnError, ProjectError
from cairn.hints import Hint
from cairn.registry import AllowedProject, Registry
from cairn.remote.team import Team, TeamProject, TeamSearches
from cairn.source.git import remote_url
from cairn.source.origins import repository_identity

_LISTING_SHARE = 0.5  # of the time for an answer: the rest is for the question, though one server may be slow


class FoundProject(NamedTuple):
    """The project that a name means.

    Attributes:
        project: on this machine or on a server.
        note: why it is one on this machine; empty for one on a server.
        deadline: on the monotonic clock, until which its server may take to answer.
    """

    project: AllowedProject | TeamProject
    note: str = ""
    deadline: float = 0.0


class Checkouts:
    """The projects on this machine by the repository that they are checkouts of.

    Args:
        registry: the projects that the user allowed.
        here: another folder that counts; empty for none.
    """

    def __init__(self, registry: Registry, here: str = "") -> None:
        known = registry.projects()
        roots = [*known, AllowedProject(Path(here).name, here)] if here else known
        self._projects: dict[str, AllowedProject] = {}
        for project in roots:
            with suppress(CairnError, OSError, LookupError):  # what git cannot tell of is not a checkout
                self._projects.setdefault(_identity_of(project.root, _stamp_of(project.root)), project)

    def of_repository(self, repository: str) -> AllowedProject | None:
        """Return the checkout of a repository, which is as `cairn.source.origins` has it."""
        return self._projects.get(repository.lower()) if repository else None

    def called(self, name: str) -> AllowedProject | None:
        """Return the only checkout of a repository whose address ends in a name, whatever its host."""
        found = [project for key, project in self._projects.items() if key.partition("/")[2] == name.lower()]
        return found[0] if len(found) == 1 else None


def _stamp_of(root: str) -> tuple[int, ...]:
    """Return what changes with the addresses of a checkout; empty if that is not known, as in linked work trees."""
    try:
        status = os.stat(Path(root, ".git", "config"))
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


@lru_cache(maxsize=1_000)
def _known_identity(root: str, stamp: tuple[int, ...]) -> str:
    if not (identity := repository_identity(remote_url(Path(root)))):
        raise LookupError(root)  # git may have been too slow: nothing to keep
    return identity


def _identity_of(root: str, stamp: tuple[int, ...]) -> str:
    return _known_identity(root, stamp) if stamp else repository_identity(remote_url(Path(root)))


def find_project(name: str, registry: Registry, team: Team, here: str = "") -> FoundProject:
    """Return where a project is. What is checked out here is meant before what a server has of it.

    Args:
        name: `ORGANISATION/NAME`.
        registry: the projects on this machine.
        team: the servers.
        here: the project in which somebody stands; empty for none.

    Raises:
        ProjectError: if neither this machine nor a server knows it, or the user may not read it; nobody can tell which.
        AmbiguousError: if several servers know it.
        CairnError: if no checkout is called so, and a server that may know it does not answer.
    """
    deadline = time.monotonic() + team.answer_seconds
    listing = team.listing(team.answer_seconds * _LISTING_SHARE)
    checkouts = Checkouts(registry, here)
    named = [project for project in listing.projects if project.name == name]
    if not named:
        if (local := checkouts.called(name)) is not None:
            return FoundProject(local, _note(name, local))
        raise listing.problems[0] if listing.problems else _unknown(name, team)
    for project in named:
        if (local := checkouts.of_repository(project.repository)) is not None:
            return FoundProject(local, _note(name, local))
    if len(named) > 1:
        hosts = ", ".join(project.server.host for project in named)
        raise AmbiguousError(
            f"{len(named)} servers know a project {name}: {hosts}", Hint("sign out of the others", "logout", url=None)
        )
    return FoundProject(named[0], deadline=deadline)


def search_elsewhere(team: Team, registry: Registry, fields: Mapping[str, object]) -> TeamSearches:
    """Search all projects of the servers that are not checked out here, within a limit of time.

    Each hit is marked with where it is from. Servers and projects that do not answer are problems.
    """
    deadline = time.monotonic() + team.answer_seconds
    listing = team.listing(team.answer_seconds * _LISTING_SHARE)
    checkouts = Checkouts(registry)
    projects = [project for project in listing.projects if checkouts.of_repository(project.repository) is None]
    found = team.search(projects, fields, deadline)
    answers = [(project, _with_marks(document)) for project, document in found.answers]
    return TeamSearches(answers, [*map(str, listing.problems), *found.problems])


def _with_marks(document: Any) -> Any:  # noqa: ANN401 - JSON
    return {**document, "code": [{**hit, "remote": document["remote"]} for hit in document["code"]]}


def _note(name: str, local: AllowedProject) -> str:
    return f"{name} is checked out at {local.root}: this is what is there now."


def _unknown(name: str, team: Team) -> ProjectError:
    if not team.servers:
        return ProjectError(
            f"no project on this machine is called {name!r}",
            Hint("if a team's server has it, sign in there", "login", url=None),
        )
    hosts = ", ".join(server.host for server in team.servers)
    return ProjectError(
        f"no project is called {name!r}, here or on {hosts}, or you may not read it",
        Hint("this lists what you may read", "login"),
    )
