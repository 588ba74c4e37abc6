"""Answers a command about memories in this process."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cairn.cli.notes import note
from cairn.cli.project import allow
from cairn.hooks.raw_spool import RawSpool
from cairn.loading import load
from cairn.operations import perform
from cairn.operations.asked import note_answer
from cairn.operations.memory_rows import memory_row
from cairn.protocol.memory_documents import EmbeddedDocument, MemoryRowDocument
from cairn.protocol.memory_requests import EmbedRequest, RecallRequest
from cairn.protocol.memory_table import MEMORY_OPERATIONS
from cairn.registry import Registry
from cairn.runtime import StateFolder
from cairn.schema import decode
from cairn.source.text import pluralize
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress

_EVENTS_SECONDS = 5.0


def answer_memory_here(options: argparse.Namespace, operation: str, fields: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
    """Perform an operation, given by its name and its request as JSON."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        request = decode(MEMORY_OPERATIONS[operation].request, dict(fields))
        _take_in_events(workspace, options)
        document = perform(workspace, operation, request)
        if isinstance(request, RecallRequest):
            note_answer(workspace, operation, request, document, "cli")
        allow(workspace, options)
        return document


def _take_in_events(workspace: Workspace, options: argparse.Namespace) -> None:
    """Take in what agents reported of a project while no daemon ran."""
    folder = StateFolder.of_user()
    spool = RawSpool(folder.path)
    if options.state_dir or not spool.is_waiting():
        return
    roots = frozenset(project.root for project in Registry(folder).projects())
    take_in: Callable[..., int] = load("cairn.hooks.dispatch:take_in_waiting")
    if n_waiting := take_in(workspace, spool, roots, _EVENTS_SECONDS):
        words = pluralize(n_waiting, "event of agents waits", "events of agents wait")
        note(f"{words} to be taken in, so this may not be all. A daemon takes them in: cairn daemon ensure")


def prune_here(options: argparse.Namespace) -> list[MemoryRowDocument]:
    """Archive what nobody needs, unless it is a dry run, and return rows of it."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        pruned = workspace.memory.prune(dry_run=options.dry_run)
        return list(map(memory_row, workspace.memory.recall.followed(pruned)))


def embed_here(options: argparse.Namespace, progress: Progress) -> EmbeddedDocument:
    """Embed all memories again in this process, or say what that takes."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        request = EmbedRequest(project="", dry_run=options.dry_run)
        document: EmbeddedDocument = perform(workspace, "memories/embed", request, progress)
        return document
