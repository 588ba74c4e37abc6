"""`cairn memories join`, `leave`, `sync` and `team`: memories that are shared through a team's server."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from cairn.cli.notes import note, printable
from cairn.cli.outcomes import EXIT_FOUND, EXIT_NONE
from cairn.cli.render import emit, emit_json
from cairn.memory.team_memories import TeamMemories, TeamStatus, is_final
from cairn.remote.memories import exchange, find_link
from cairn.remote.servers import SignIns
from cairn.remote.team import Team
from cairn.runtime import StateFolder
from cairn.source.git import remote_url
from cairn.source.text import pluralize
from cairn.workspace import Workspace

_MOST_CHARS = 200  # of a reason


@contextmanager
def _opened(options: argparse.Namespace) -> Iterator[tuple[Workspace, TeamMemories]]:
    with Workspace.containing(options.project, state_dir=options.state_dir) as workspace:
        yield workspace, TeamMemories(workspace.memory.store)


def run_join(options: argparse.Namespace) -> int:
    """Share with a team from now on, and exchange for the first time."""
    listing = Team(SignIns(StateFolder.of_user()).servers()).listing()
    with _opened(options) as (workspace, memories):
        link = find_link(listing, options.name, remote_url(workspace.root))
        memories.join(link)
        if not options.json:
            emit(f"Shared memories go to {link.project} at {printable(link.server)} from now on.")
        return _exchange(options, memories)


def run_leave(options: argparse.Namespace) -> int:
    """Share with the team no longer."""
    with _opened(options) as (_, memories):
        link = memories.link()
        n_dropped = 0 if link is None else memories.leave()
    if options.json:
        emit_json({"left": link is not None, "dropped": n_dropped})
    elif link is None:
        note("Memories of this project are shared with no team.")
    else:
        emit(f"Left {link.project}: {pluralize(n_dropped, 'event')} of others dropped, your own are kept.")
    return EXIT_NONE if link is None else EXIT_FOUND


def run_sync(options: argparse.Namespace) -> int:
    """Exchange memories with the team now."""
    with _opened(options) as (_, memories):
        return _exchange(options, memories)


def _exchange(options: argparse.Namespace, memories: TeamMemories) -> int:
    done = exchange(memories)
    if options.json:
        document = {"pulled": done.n_pulled, "changed": done.n_changed, "pushed": done.n_pushed}
        emit_json(document | {"refused": len(done.refused), "reasons": sorted(set(done.refused.values()))})
        return EXIT_FOUND
    changed = pluralize(done.n_changed, "memory", "memories")
    emit(f"Pulled {pluralize(done.n_pulled, 'event')}, which changed {changed}; pushed {done.n_pushed:,}.")
    for reason, number in Counter(done.refused.values()).items():
        later = "" if is_final(reason) else "; what waits is sent again with the next exchange"
        note(f"The server did not take {pluralize(number, 'event')}: {printable(reason[:_MOST_CHARS])}{later}.")
    return EXIT_FOUND


def run_team(options: argparse.Namespace) -> int:
    """Show with which team memories are shared, and what waits; the server is not asked."""
    with _opened(options) as (_, memories):
        status = memories.status()
    if options.json:
        emit_json(_document(status))
    elif status.link is None:
        note("Memories of this project are shared with no team.")
    else:
        emit(f"Shared with {status.link.project} at {printable(status.link.server)}.")
        kept = f", {pluralize(status.n_kept, 'event')} may not leave" if status.n_kept else ""
        emit(f"  {pluralize(status.n_waiting, 'event waits', 'events wait')}, {status.n_sent:,} are there{kept}")
        emit(f"  {_last(status)}")
    return EXIT_NONE if status.link is None else EXIT_FOUND


def _last(status: TeamStatus) -> str:
    synced = _moment(status.state.synced)
    if status.state.problem:
        return f"{printable(status.state.problem)}; last exchanged {synced or 'never'}"
    return f"exchanged {synced}" if synced else "not exchanged yet"


def _document(status: TeamStatus) -> dict[str, object]:
    if status.link is None:
        return {"project": "", "server": ""}
    counts = {"waiting": status.n_waiting, "sent": status.n_sent, "kept": status.n_kept}
    return {**status.link._asdict(), **counts, "synced": _moment(status.state.synced), "problem": status.state.problem}


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}" if seconds else ""
