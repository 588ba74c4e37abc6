"""Answers a command about another project than that of its folder, in this process: one here, one of a team, or all."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from cairn.cli.here import answer_here
from cairn.cli.notes import note
from cairn.cli.render import ProgressBar
from cairn.errors import CairnError, ProjectError, QueryError
from cairn.hints import with_note
from cairn.loading import load
from cairn.operations import perform
from cairn.operations.search import for_merging, merge_searches
from cairn.protocol.requests import SearchRequest
from cairn.registry import ALL, AllowedProject, Registry, enclosing_root, is_team_name
from cairn.runtime import StateFolder
from cairn.schema import decode, encode
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.remote.finding import FoundProject
    from cairn.remote.team import Team


def answer_elsewhere(options: argparse.Namespace, operation: str, fields: Mapping[str, object], name: str) -> Any:  # noqa: ANN401 - JSON
    """Return the answer about a project that is named.

    Raises:
        CairnError: if it is unknown, or what the operation raises.
    """
    registry = Registry(StateFolder.of_user())
    if name == ALL and operation == "search":
        return _search_all(registry, fields)
    try:
        return _answer_in(registry.find(name).root, options, operation, fields)
    except ProjectError:
        if not is_team_name(name):
            raise
    team = _team(registry)
    here = enclosing_root(options.project) or ""
    found: FoundProject = load("cairn.remote.finding:find_project")(name, registry, team, here)
    if isinstance(found.project, AllowedProject):
        return with_note(_answer_in(found.project.root, options, operation, fields), found.note)
    return team.ask(found.project, operation, fields, found.deadline)


def say_where(document: Any) -> None:  # noqa: ANN401 - JSON
    """Say that an answer, or some of its hits, are of a team's projects, and how more of them is asked."""
    first = next(iter(document), {}) if isinstance(document, list) else document
    if remote := first.get("remote"):
        project, commit = remote["project"], remote["commit"][:12]
        note(
            f"From {project} on the team's server, commit {commit}. It is not checked out here: "
            f"keep passing --project {project}."
        )
    names = dict.fromkeys(hit["project"] for hit in first.get("code", ()) if "remote" in hit and "project" in hit)
    if names:
        listed = ", ".join(names)
        note(f"On the team's server: {listed}. Fetch a hit with: cairn fetch ID --project {next(iter(names))}")


def _team(registry: Registry) -> Team:
    servers = load("cairn.remote.servers:SignIns")(registry.folder).servers()
    team: Team = load("cairn.remote.team:Team")(servers)
    return team


def _answer_in(root: str, options: argparse.Namespace, operation: str, fields: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
    there = argparse.Namespace(**{**vars(options), "project": root, "among": None, "state_dir": None})
    return answer_here(there, operation, fields)


def _search_all(registry: Registry, fields: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
    """Search the projects here, one after the other, and those of the team meanwhile."""
    request = decode(SearchRequest, dict(fields))
    one_project = for_merging(request)
    remote = None
    if registry.folder.servers.exists():
        work = load("cairn.remote.finding:search_elsewhere")
        remote = load("cairn.remote.threads:start")(lambda: work(_team(registry), registry, encode(one_project)))
    searches, problems = [], []
    for project in registry.projects():
        try:
            with Workspace.open(project.root) as workspace, closing(ProgressBar(f"Indexing {project.name}")) as bar:
                searches.append((project.name, perform(workspace, "search", one_project, bar)))
        except QueryError:  # a query that is wrong is wrong in every project
            raise
        except CairnError as error:
            problems.append(f"{project.name}: {error}")
    if remote is not None:
        try:
            of_teams = remote.result()
            searches += [(project.name, document) for project, document in of_teams.answers]
            problems += of_teams.problems
        except CairnError as error:
            problems.append(str(error))
    return merge_searches(searches, request, problems)
