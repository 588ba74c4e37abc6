"""Answers a command in this process: brings the index up to date, performs the operation, shows the progress."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from cairn.cli.project import allow
from cairn.cli.render import ProgressBar
from cairn.cli.stdin import read_rest
from cairn.hints import Hint, with_note
from cairn.loading import load
from cairn.operations import perform
from cairn.protocol.requests import ProjectRequest, SearchRequest, SessionRequest
from cairn.schema import decode
from cairn.workspace import Workspace

_ON_DAEMON = Hint("A running daemon resolves the whole project while nobody asks; start it with", "daemon start")
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
        request = _request(operation, fields)
        document = perform(workspace, operation, request, bar)
        _note(workspace, operation, request, document)
        return document


def _note(workspace: Workspace, operation: str, request: ProjectRequest, document: Any) -> None:  # noqa: ANN401 - JSON
    """Note what was asked and fetched, where anything is remembered; for a fetch alone the memory is not opened."""
    is_worth = isinstance(request, SessionRequest) and (operation != "fetch" or bool(request.session))
    if is_worth and workspace.has_memory:
        load("cairn.operations.asked:note_answer")(workspace, operation, request, document, "cli")


def _request(operation: str, fields: Mapping[str, object]) -> ProjectRequest:
    request: ProjectRequest = load("cairn.protocol.table:decode_request")(operation, fields)
    return request


def _open_project(options: argparse.Namespace) -> Workspace:
    return Workspace.containing(options.project, state_dir=options.state_dir)


def _search(options: argparse.Namespace, request: SearchRequest) -> Any:  # noqa: ANN401 - JSON
    with _open_project(options) as workspace, closing(ProgressBar("Indexing")) as bar:
        document = perform(workspace, "search", request, bar)
        allow(workspace, options)
        _note(workspace, "search", request, document)
        return document


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
    if document.get("unfollowed"):
        document = with_note(document, _ON_DAEMON)
    return with_note(document, notice)
