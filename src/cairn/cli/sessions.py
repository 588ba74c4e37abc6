"""`cairn sessions`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cairn.cli.memories import answer_memory
from cairn.cli.memory_rows import cost_of, note_rest, print_row
from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import Style, emit, emit_json, file_of
from cairn.cli.stdin import ask_whether, is_anybody_here
from cairn.errors import RequestError
from cairn.hints import Hint
from cairn.source.text import pluralize
from cairn.workspace import Workspace

if TYPE_CHECKING:
    from cairn.protocol.memory_documents import (
        ActivityDocument,
        FailedCallDocument,
        FailedCallsDocument,
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
        "text": options.text,
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
        if chat := document.get("chat"):
            note(f"{cost_of(chat)}.")
        note_rest(document["total"], options, len(document["sessions"]), "No session was reported.")
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
        for row in document["shown"]:
            emit(
                f"  shown {row['memory']} at {row['event']}: {printable(row['why'])}{row['use'] and ', ' + row['use']}"
            )
        if document["learned"]:
            emit("")
        for memory in document["learned"]:
            print_row(memory, style)
        emit("")
    return EXIT_FOUND


def run_failures(options: argparse.Namespace) -> int:
    """List the tool calls that failed, the last one first."""
    fields = {"agent": options.agent, "since": options.since, "limit": options.limit}
    document: FailedCallsDocument = answer_memory(options, "sessions/failures", fields)
    if options.json:
        emit_json(document)
    else:
        _print_failures(document)
    return EXIT_FOUND if document["calls"] else EXIT_NONE


def _print_failures(document: FailedCallsDocument) -> None:
    style = Style(sys.stdout)
    for call in document["calls"]:
        emit(f"{style.name(printable(call['target'] or call['name']))}  {style.faint(printable(_facts_of(call)))}")
    if not document["calls"]:
        note("No tool call failed.")
        return
    rest = document["different"] - len(document["calls"])
    more = f"; {pluralize(rest, 'call is', 'calls are')} left out, see --limit" if rest else ""
    note(f"{pluralize(document['total'], 'failure')} of {pluralize(document['different'], 'call')}{more}.")


def _facts_of(call: FailedCallDocument) -> str:
    times = f"{pluralize(call['times'], 'time')} in {pluralize(call['sessions'], 'session')}"
    return f"{call['tool']}, {times}, last {call['last'][:16].replace('T', ' ')} in {call['session']}"


def run_mute(options: argparse.Namespace) -> int:
    """Keep nothing of sessions from now on and delete what was kept, if the user confirms it; or keep it again."""
    what = "Delete what was kept of it, the memories that were captured in it too?"
    if not options.undo and not _is_confirmed(options, "sessions mute", what):
        return EXIT_NONE
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        for id in options.ids:
            workspace.memory.sessions.mute(id, is_muted=not options.undo)
    return _say(options, "muted", "is kept again" if options.undo else "is muted: nothing of it is kept")


def run_forget(options: argparse.Namespace) -> int:
    """Delete what was done in sessions, if the user confirms it; what was learned stays."""
    if not _is_confirmed(options, "sessions forget", "Delete what was done in it? What was learned stays."):
        return EXIT_NONE
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        sessions = workspace.memory.sessions
        for session in [sessions.session(id) for id in options.ids]:  # all of them, or none
            sessions.forget(session.id)
    return _say(options, "forgotten", "is forgotten")


def _is_confirmed(options: argparse.Namespace, action: str, question: str) -> bool:
    """Ask the user about sessions, unless they said `--yes`.

    Raises:
        RequestError: if there is nobody to ask.
    """
    if options.yes:
        return True
    if options.json or not is_anybody_here():
        raise RequestError(
            "what is deleted is gone for ever, and nobody is here to be asked",
            Hint("confirm it", action, ids=tuple(options.ids), yes=True),
        )
    if ask_whether(f"{', '.join(options.ids)}: {question}"):
        return True
    note("Nothing was deleted.")
    return False


def _say(options: argparse.Namespace, name: str, outcome: str) -> int:
    if options.json:
        emit_json({"ids": options.ids, name: not getattr(options, "undo", False)})
    else:
        for id in options.ids:
            emit(f"{printable(id)} {outcome}.")
    return EXIT_FOUND


def _print_session(row: SessionRowDocument, style: Style) -> None:
    when = f"{row['started'][:16].replace('T', ' ')} to {row['heard'][:16].replace('T', ' ')}" if row["started"] else ""
    facts = [*filter(None, (when, printable(row["agent"]), row["origin"], printable(row["branch"])))]
    if row["started"] and not row["ended"]:
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
