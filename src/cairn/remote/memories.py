"""Memories that a project shares with a team: which of the team's projects it is, and exchanges with its server."""

from __future__ import annotations

from contextlib import closing

from cairn.errors import AmbiguousError, NotFoundError, RequestError, SignInError
from cairn.hints import Hint
from cairn.memory.team_memories import TeamLink, TeamMemories
from cairn.memory.team_sync import Synced, sync
from cairn.remote.connection import TeamConnection
from cairn.remote.servers import SignIns, TeamServer
from cairn.remote.team import TeamListing
from cairn.runtime import StateFolder
from cairn.source.origins import repository_identity

_ANSWER_SECONDS = 30.0  # for a request: up to a megabyte goes over slow lines


def find_link(listing: TeamListing, name: str, address: str) -> TeamLink:
    """Return the project of a team that a repository is.

    Args:
        listing: what the servers know.
        name: `ORGANISATION/NAME` if the user named it, else empty.
        address: of the repository's remote, empty if it has none.

    Raises:
        NotFoundError: if there is none.
        AmbiguousError: if there are several.
        CairnError: if there is none, and a server did not answer.
    """
    identity = repository_identity(address)
    found = [
        TeamLink(project.server.url, project.name)
        for project in listing.projects
        if (project.name == name if name else identity and project.repository == identity)
    ]
    if not found and listing.problems:
        raise listing.problems[0]
    if not found and not name and not identity:
        why = "its remote `origin` names no host" if address else "it has no remote `origin`"
        raise NotFoundError(
            f"this repository cannot be matched with a project of a team: {why}",
            Hint("name the project", "memories join", team_project=None),
        )
    if not found:
        what = name or f"a project whose repository is {identity}"
        raise NotFoundError(f"no team that you are signed in to has {what}", Hint("see what they have", "login"))
    if len(found) > 1:
        names = ", ".join(f"{link.project} at {link.server}" for link in found)
        raise AmbiguousError(
            f"several projects are meant: {names}", Hint("name one", "memories join", team_project=None)
        )
    return found[0]


def exchange(memories: TeamMemories) -> Synced:
    """Exchange events with the server of the team that a memory is shared with.

    Raises:
        SignInError: if the user is not signed in there, or the server does not accept the token.
        NotFoundError: if they may not read the project any more; what the team brought was dropped.
        ServerAwayError: if the server does not answer.
        AuthorityError, ScopeError: if they may read, and not write.
        RequestError: if the memory is shared with no team.
    """
    if (link := memories.link()) is None:
        raise RequestError("this memory is shared with no team", Hint("share it", "memories join"))
    with closing(TeamConnection(_server_of(link), answer_seconds=_ANSWER_SECONDS)) as connection:
        try:
            return sync(memories, connection)
        except NotFoundError as error:
            raise NotFoundError(
                f"{error}; what the team brought was taken out here", Hint("see what you may read", "login")
            ) from error


def _server_of(link: TeamLink) -> TeamServer:
    for server in SignIns(StateFolder.of_user()).servers():
        if server.url == link.server:
            return server
    raise SignInError(f"you are not signed in to {link.server}", Hint.of("login", url=link.server))
