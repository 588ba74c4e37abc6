"""`cairn sessions`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cairn.cli.memories import answer_memory
from cairn.cli.memory_rows import note_rest, print_row
from cairn.cli.notes import printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import Style, emit, emit_json, file_of
from cairn.source.text import pluralize

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import (
        ActivityDocument,
        SessionListDocument,
        SessionRowDocument,
        WholeSessionDocument,
    )


def run_sessions(options: argparse.Namespace) -> int:
    """List sessions, the last heard of first."""
    fields = {
        "agent": options.agent,
        "branch": options.branch,
        "file": str(file_of(options.project, options.file)) if options.file else "",
        "since": options.since,
        "limit": options.limit,
        "offset": options.offset,
        "max_tokens": options.max_tokens,
    }
    document: SessionListDocument = answer_memory(options, "sessions", fields)
    if options.json:
        emit_json(document)
    else:
        style = Style(sys.stdout)
        for row in document["sessions"]:
            _print_session(row, style)
        note_rest(document["total"], options.offset, len(document["sessions"]), "No session was reported.")
    return EXIT_FOUND if document["total"] > options.offset else EXIT_NONE


def run_show(options: argparse.Namespace) -> int:
    """Print what was asked, done and learned in sessions."""
    documents: list[WholeSessionDocument] = answer_memory(options, "sessions/show", {"ids": options.ids})
    if options.json:
        emit_json(documents)
        return EXIT_FOUND
    style = Style(sys.stdout)
    for document in documents:
        _print_session(document, style)
        for batch in document["batches"]:
            emit("")
            for line in batch["prompt"].split("\n"):
                emit(f"  > {printable(line)}")
            for activity in batch["activities"]:
                emit(f"    {_deed(activity)}")
        if document["learned"]:
            emit("")
        for row in document["learned"]:
            print_row(row, style)
        emit("")
    return EXIT_FOUND


def _print_session(row: SessionRowDocument, style: Style) -> None:
    when = f"{row['started'][:16].replace('T', ' ')} to {row['heard'][:16].replace('T', ' ')}"
    facts = [when, *filter(None, (printable(row["agent"]), row["origin"], printable(row["branch"])))]
    if not row["ended"]:
        facts.append("goes on")
    facts += [name for name in ("muted", "fresh") if row.get(name)]
    emit(f"{style.name(printable(row['id']))}  {style.faint('  '.join(facts))}")
    counts = [
        pluralize(row["prompts"], "prompt"),
        pluralize(row["reads"], "read"),
        pluralize(row["edits"], "edit"),
        pluralize(row["failures"], "failure"),
        pluralize(row["memories"], "memory", "memories"),
    ]
    emit(f"    {', '.join(counts)}")


def _deed(activity: ActivityDocument) -> str:
    failed = " (failed)" if activity["failed"] else ""
    return f"{activity['tool']} {printable(activity['target'] or activity['name'])}{failed}"
