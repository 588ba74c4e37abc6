"""`cairn core add`, `list`, `remove` and `suggest`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import ProgressBar, Style, emit, emit_json, file_of
from cairn.operations import perform
from cairn.protocol.core_requests import CoreAddRequest, CoreListRequest, CoreRemoveRequest, CoreSuggestRequest
from cairn.protocol.documents import CoreChangeDocument, CoreListDocument, CoreSuggestionDocument
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.protocol.documents import CoreSymbolDocument


def run_list(options: argparse.Namespace) -> int:
    """Print the core files: what each is for, and what it defines."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        document: CoreListDocument = perform(workspace, "core/list", CoreListRequest(max_tokens=options.max_tokens))
    if options.json:
        emit_json(document)
    else:
        style = Style(sys.stdout)
        for file in document["files"]:
            gone = " (missing)" if file["missing"] else ""
            summary = f"  {printable(file['summary'])}" if file["summary"] else ""
            emit(f"{style.path(printable(file['filepath']))}{gone}{summary}")
            _emit_symbols(file["symbols"])
        if document["omitted"]:
            note(f"{document['omitted']} more; raise --max-tokens to see them.")
        if not document["files"] and not document["omitted"]:
            note("No core files are marked; see: cairn core suggest")
    return EXIT_FOUND if document["files"] or document["omitted"] else EXIT_NONE


def run_add(options: argparse.Namespace) -> int:
    """Mark a core file, or change its summary."""
    file = str(file_of(options.project, options.path))
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        change: CoreChangeDocument = perform(workspace, "core/add", CoreAddRequest(file=file, summary=options.summary))
    if options.json:
        emit_json(change)
    else:
        state = "is a core file" if change["changed"] else "is a core file already"
        emit(f"{printable(change['filepath'])} {state}.")
    return EXIT_FOUND


def run_remove(options: argparse.Namespace) -> int:
    """Unmark a core file."""
    file = str(file_of(options.project, options.path))
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        change: CoreChangeDocument = perform(workspace, "core/remove", CoreRemoveRequest(file=file))
    if options.json:
        emit_json(change)
    elif change["changed"]:
        emit(f"{printable(change['filepath'])} is no longer a core file.")
    else:
        note(f"{printable(change['filepath'])} is not a core file.")
    return EXIT_FOUND if change["changed"] else EXIT_NONE


def run_suggest(options: argparse.Namespace) -> int:
    """Print files that might be worth marking, the most central first."""
    with (
        Workspace.containing(options.project, state_dir=options.state_dir) as workspace,
        closing(ProgressBar("Reading references")) as bar,
    ):
        workspace.refresh(bar)
        suggestions: list[CoreSuggestionDocument] = perform(
            workspace, "core/suggest", CoreSuggestRequest(limit=options.limit), bar
        )
    if options.json:
        emit_json(suggestions)
    else:
        style = Style(sys.stdout)
        for file in suggestions:
            emit(f"{style.path(printable(file['filepath']))}  {file['rank']:.3f}")
            _emit_symbols(file["symbols"])
    return EXIT_FOUND if suggestions else EXIT_NONE


def _emit_symbols(symbols: list[CoreSymbolDocument]) -> None:
    for symbol in symbols:
        emit(f"  {symbol['line']}: {printable(symbol['signature'])}")
