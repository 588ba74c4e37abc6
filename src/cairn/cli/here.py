"""Answers a command in this process: brings the index up to date, performs the operation, shows the progress."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from cairn.cli.project import allow, projects_named
from cairn.cli.render import ProgressBar
from cairn.cli.stdin import read_rest
from cairn.errors import CairnError, QueryError
from cairn.loading import load
from cairn.operations import perform
from cairn.operations.search import merge_searches
from cairn.protocol.requests import ProjectRequest, SearchRequest
from cairn.registry import ALL
from cairn.schema import decode
from cairn.workspace import Workspace

_LABELS = {"context": "Reading", "outline": "Reading references", "similar": "Indexing"}


def answer_here(options: argparse.Namespace, operation: str, fields: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
    """Perform an operation, given by its name and its request as JSON."""
    if operation == "search":
        return _search(options, decode(SearchRequest, dict(fields)))
    if operation.startswith("graph/"):
        request = _request(operation, {**fields, "update": False})
        return answer_from_graph(options, lambda workspace, bar: perform(workspace, operation, request, bar))
    with _open_project(options) as workspace, closing(ProgressBar(_LABELS.get(operation, "Reading"))) as bar:
        if isinstance(code := fields.get("code"), str):
            fields = {**fields, "code": code + read_rest(workspace.settings.max_file_bytes)}
        return perform(workspace, operation, _request(operation, fields), bar)


def _request(operation: str, fields: Mapping[str, object]) -> ProjectRequest:
    request: ProjectRequest = load("cairn.protocol.table:decode_request")(operation, fields)
    return request


def _open_project(options: argparse.Namespace) -> Workspace:
    return Workspace.containing(options.project, state_dir=options.state_dir)


def _search(options: argparse.Namespace, request: SearchRequest) -> Any:  # noqa: ANN401 - JSON
    if options.among is None:
        with _open_project(options) as workspace, closing(ProgressBar("Indexing")) as bar:
            document = perform(workspace, "search", request, bar)
            allow(workspace, options)
            if workspace.has_memory:
                load("cairn.operations.asked:note_question")(workspace, request, document)
            return document
    searches, problems = [], []
    # With several projects, the budget is that of all answers together.
    one_project = replace(request, max_tokens=None) if options.among == ALL else request
    for project in projects_named(options.among):
        try:
            with Workspace.open(project.root) as workspace, closing(ProgressBar(f"Indexing {project.name}")) as bar:
                searches.append((project.name, perform(workspace, "search", one_project, bar)))
        except CairnError as error:
            if options.among != ALL or isinstance(error, QueryError):  # a query that is wrong is wrong in every project
                raise
            problems.append(f"{project.name}: {error}")
    return searches[0][1] if options.among != ALL else merge_searches(searches, request, problems)


def answer_from_graph(options: argparse.Namespace, answer: Callable[[Workspace, ProgressBar], Any]) -> Any:  # noqa: ANN401 - JSON
    """Answer from the symbol graph, with a progress bar; update the index first unless --no-update is given."""
    notice = ""
    with _open_project(options) as workspace:
        if not options.no_update:
            with closing(ProgressBar("Indexing")) as bar:
                notice = workspace.refresh(bar)
        with closing(ProgressBar("Reading references")) as bar:
            document = answer(workspace, bar)
        notice = "; ".join(filter(None, (notice, workspace.take_notice())))
    return document | {"notes": [*document["notes"], notice]} if notice else document
