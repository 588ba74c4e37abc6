"""Answers a command in this process: brings the index up to date, asks, and shows how far it is."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from cairn.cli.project import allow, among
from cairn.cli.render import ProgressBar
from cairn.cli.stdin import read_rest
from cairn.errors import CairnError, QueryError
from cairn.operations import perform
from cairn.operations.search import merge_searches
from cairn.protocol.requests import SearchRequest
from cairn.protocol.table import OPERATIONS
from cairn.registry import ALL
from cairn.schema import decode
from cairn.workspace import Workspace

_DOING = {"context": "Reading", "outline": "Reading references", "similar": "Indexing"}


def answer_here(options: argparse.Namespace, operation: str, asked: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
    """Return the answer to an operation, given its name and its request, as JSON."""
    if operation == "search":
        return _search(options, decode(SearchRequest, dict(asked)))
    if operation.startswith("graph/"):
        request = decode(OPERATIONS[operation].request, {**asked, "update": False})
        return answer_from_graph(options, lambda workspace, bar: perform(workspace, operation, request, bar))
    with _opened(options) as workspace, closing(ProgressBar(_DOING.get(operation, "Reading"))) as bar:
        if isinstance(code := asked.get("code"), str):
            asked = {**asked, "code": code + read_rest(workspace.settings.max_file_bytes)}
        return perform(workspace, operation, decode(OPERATIONS[operation].request, dict(asked)), bar)


def _opened(options: argparse.Namespace) -> Workspace:
    return Workspace.containing(options.project, state_dir=options.state_dir)


def _search(options: argparse.Namespace, request: SearchRequest) -> Any:  # noqa: ANN401 - JSON
    if options.among is None:
        with _opened(options) as workspace, closing(ProgressBar("Indexing")) as bar:
            document = perform(workspace, "search", request, bar)
            allow(workspace, options)
            return document
    found, problems = [], []
    asked = replace(request, max_tokens=None) if options.among == ALL else request  # there is one budget for all
    for project in among(options.among):
        try:
            with Workspace.open(project.root) as workspace, closing(ProgressBar(f"Indexing {project.name}")) as bar:
                found.append((project.name, perform(workspace, "search", asked, bar)))
        except CairnError as error:
            if options.among != ALL or isinstance(error, QueryError):  # which is wrong in every project
                raise
            problems.append(f"{project.name}: {error}")
    return found[0][1] if options.among != ALL else merge_searches(found, request, problems)


def answer_from_graph(options: argparse.Namespace, answer: Callable[[Workspace, ProgressBar], Any]) -> Any:  # noqa: ANN401 - JSON
    """Answer from the symbol graph, the index brought up to date unless that is not wanted, with a bar on the way."""
    told = ""
    with _opened(options) as workspace:
        if not options.no_update:
            with closing(ProgressBar("Indexing")) as bar:
                told = workspace.refresh(bar)
        with closing(ProgressBar("Reading references")) as bar:
            document = answer(workspace, bar)
        told = "; ".join(filter(None, (told, workspace.take_notice())))
    return document | {"notes": [*document["notes"], told]} if told else document
