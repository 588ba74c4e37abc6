"""Answers a command about memories in this process."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cairn.cli.project import allow
from cairn.operations import perform
from cairn.operations.asked import note_answer
from cairn.operations.memory_rows import memory_row
from cairn.protocol.memory_documents import EmbeddedDocument, MemoryRowDocument
from cairn.protocol.memory_requests import EmbedRequest, RecallRequest
from cairn.protocol.memory_table import MEMORY_OPERATIONS
from cairn.schema import decode
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.index.limits import Progress


def answer_memory_here(options: argparse.Namespace, operation: str, fields: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
    """Perform an operation, given by its name and its request as JSON."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        request = decode(MEMORY_OPERATIONS[operation].request, dict(fields))
        document = perform(workspace, operation, request)
        if isinstance(request, RecallRequest):
            note_answer(workspace, operation, request, document, "cli")
        allow(workspace, options)
        return document


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
