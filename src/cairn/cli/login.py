"""`cairn login` and `logout`: which of a team's servers this user asks."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from getpass import getpass
from typing import Any

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import emit, emit_json
from cairn.cli.stdin import is_anybody_here
from cairn.errors import CairnError, ConfigError, NotFoundError
from cairn.hints import Hint
from cairn.remote.connection import TeamConnection
from cairn.remote.device import ask_for_code, wait_for_token
from cairn.remote.servers import SignIns, TeamServer, check_token, check_url
from cairn.remote.team import Team, TeamListing, TeamProject
from cairn.runtime import StateFolder
from cairn.source.text import pluralize

_MAX_TOKEN_BYTES = 10_000
_MAX_LISTED = 20  # projects of a server, where people read


def run_login(options: argparse.Namespace) -> int:
    """Sign in to a server, or list those that the user is signed in to."""
    signed_in = SignIns(StateFolder.of_user())
    if options.url is None:
        return _list(options, signed_in.servers())
    server = TeamServer(check_url(options.url))
    server = TeamServer(server.url, check_token(_ask_for_token(server, from_stdin=options.token_stdin)))
    listing = _listing_of(server)  # before the token is kept: it may be wrong
    projects = listing.projects
    signed_in.keep(replace(server, is_operated=bool(listing.operated)))
    if options.json:
        emit_json({"url": server.url, "projects": [_row(project) for project in projects]})
    else:
        emit(f"Signed in to {server.host}: you may read {pluralize(len(projects), 'project')}.")
        if not projects:
            note("An operator of the server lets you read some.")
    return EXIT_FOUND


def run_logout(options: argparse.Namespace) -> int:
    """Forget a server and its token."""
    url = check_url(options.url)
    if not SignIns(StateFolder.of_user()).forget(url):
        raise NotFoundError(f"you are not signed in to {url}", Hint("see where you are", "login"))
    if options.json:
        emit_json({"url": url})
    else:
        emit(f"Signed out of {url}; the token is no longer kept here, and holds until it is revoked.")
    return EXIT_FOUND


def _ask_for_token(server: TeamServer, *, from_stdin: bool) -> str:
    """Return a token: from stdin, by a page that the server names, or typed in."""
    if from_stdin:
        return sys.stdin.buffer.read(_MAX_TOKEN_BYTES).decode("ascii", "replace")
    connection = TeamConnection(server)
    code = ask_for_code(connection)
    if code is not None:
        note(f"Visit {code.page} and enter the code {code.user_code}")
        if code.whole_page:
            note(f"or open {code.whole_page} and compare the code.")
        return wait_for_token(connection, code)
    if not is_anybody_here():
        raise ConfigError(
            f"{server.host} needs a token that an operator made",
            Hint("give it on stdin", "login", url=server.url, token_stdin=True),
        )
    return getpass(f"Token for {server.host}: ")


def _listing_of(server: TeamServer) -> TeamListing:
    listing = Team([server]).listing()
    if listing.problems:
        raise listing.problems[0]
    return listing


def _list(options: argparse.Namespace, servers: tuple[TeamServer, ...]) -> int:
    """Show the servers, whether they answer, and which projects they have for the user."""
    rows = [_describe(server) for server in servers]
    if options.json:
        emit_json({"servers": rows})
        return EXIT_FOUND if rows else EXIT_NONE
    for row in rows:
        if problem := row["problem"]:
            emit(f"{row['url']}  {printable(problem['message'])}")
            note(f"  try: {problem['hint']}")
            continue
        emit(f"{row['url']}  {pluralize(len(row['projects']), 'project')}")
        for project in row["projects"][:_MAX_LISTED]:
            emit(f"  {project['project']}  {printable(project['branch'])}  {project['commit'][:12]}")
        if len(row["projects"]) > _MAX_LISTED:
            note(f"  and {len(row['projects']) - _MAX_LISTED:,} more; --json lists all")
    if not rows:
        note("You are not signed in to a team's server. Sign in with: cairn login URL")
    return EXIT_FOUND if rows else EXIT_NONE


def _describe(server: TeamServer) -> dict[str, Any]:
    try:
        projects, problem = _listing_of(server).projects, None
    except CairnError as error:
        projects, problem = (), error.to_dict()
    return {"url": server.url, "projects": [_row(project) for project in projects], "problem": problem}


def _row(project: TeamProject) -> dict[str, str]:
    return {"project": project.name, "branch": project.branch, "commit": project.commit}
