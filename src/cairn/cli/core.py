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
from cairn.protocol.documents import CoreChangeDocument, CoreListDocument, CoreSuggestionDocument
from cairn.protocol.requests import CoreAddRequest, CoreListRequest, CoreRemoveRequest, CoreSuggestRequest
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.protocol.documents import CoreSymbolDocument


def run_list(options: argparse.Namespace) -> int:
    """Print the core files: what each is for, and what it defines."""
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        found: CoreListDocument = perform(workspace, "core/list", CoreListRequest(max_tokens=options.max_tokens))
    if options.json:
        emit_json(found)
    else:
        style = Style(sys.stdout)
        for one in found["files"]:
            gone = " (missing)" if one["missing"] else ""
            summary = f"  {printable(one['summary'])}" if one["summary"] else ""
            emit(f"{style.path(printable(one['filepath']))}{gone}{summary}")
            _emit_symbols(one["symbols"])
        if found["omitted"]:
            note(f"{found['omitted']} more; raise --max-tokens to see them.")
        if not found["files"] and not found["omitted"]:
            note("No core files are marked; see: cairn core suggest")
    return EXIT_FOUND if found["files"] or found["omitted"] else EXIT_NONE


def run_add(options: argparse.Namespace) -> int:
    """Mark a core file, or change its summary."""
    file = str(file_of(options.project, options.path))
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        done: CoreChangeDocument = perform(workspace, "core/add", CoreAddRequest(file=file, summary=options.summary))
    if options.json:
        emit_json(done)
    else:
        state = "is a core file" if done["changed"] else "is a core file already"
        emit(f"{printable(done['filepath'])} {state}.")
    return EXIT_FOUND


def run_remove(options: argparse.Namespace) -> int:
    """Take the mark of a core file away."""
    file = str(file_of(options.project, options.path))
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        done: CoreChangeDocument = perform(workspace, "core/remove", CoreRemoveRequest(file=file))
    if options.json:
        emit_json(done)
    elif done["changed"]:
        emit(f"{printable(done['filepath'])} is no core file any more.")
    else:
        note(f"{printable(done['filepath'])} is no core file.")
    return EXIT_FOUND if done["changed"] else EXIT_NONE


def run_suggest(options: argparse.Namespace) -> int:
    """Print files that might be core files, the most central first."""
    with (
        Workspace.containing(options.project, state_dir=options.state_dir) as workspace,
        closing(ProgressBar("Reading references")) as bar,
    ):
        workspace.refresh(bar)
        found: list[CoreSuggestionDocument] = perform(
            workspace, "core/suggest", CoreSuggestRequest(limit=options.limit), bar
        )
    if options.json:
        emit_json(found)
    else:
        style = Style(sys.stdout)
        for one in found:
            emit(f"{style.path(printable(one['filepath']))}  {one['rank']:.3f}")
            _emit_symbols(one["symbols"])
    return EXIT_FOUND if found else EXIT_NONE


def _emit_symbols(symbols: list[CoreSymbolDocument]) -> None:
    for one in symbols:
        emit(f"  {one['line']}: {printable(one['signature'])}")
