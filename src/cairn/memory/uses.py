"""Notices that an agent used what it was shown, or lost it.

It uses a memory if it cites it, looks it up, or edits a file that it speaks of. It loses all when its context is
compacted.
"""

from __future__ import annotations

import re
import sqlite3

from cairn.memory.handles import HANDLE
from cairn.memory.moments import Moment
from cairn.memory.origin import is_edit
from cairn.memory.sessions import Recorded
from cairn.storage.memory import observation_db, usage_db

_HANDLE = re.compile(rf"(?<![0-9A-Za-z_]){HANDLE}[0-9a-f]{{4,12}}(?![0-9A-Za-z_])")
SUBAGENT = "subagent"  # in a moment's details: the id of the sub-agent that it is about
_SAYING = ("turn-end", "session-end", "subagent-end")


def note_uses(connection: sqlite3.Connection, moment: Moment, _: Recorded) -> None:
    """Note which of the memories that a session was shown it uses or loses at a moment; a listener of `Sessions`."""
    if moment.event == "before-compaction" or moment.details.get("source") in ("compact", "clear"):
        usage_db.note_compaction(connection, ledger_of(moment), moment.seconds)
        return
    call = moment.call if moment.event == "after-tool" else None
    said = moment.text if moment.event in _SAYING else ""
    if not said and call is None:
        return
    ledger = ledger_of(moment)
    shown = usage_db.ids_shown(connection, ledger) - {""}
    if not shown:
        return
    if said:
        usage_db.mark_used(connection, ledger, _find_named(said, shown), "cited")
    if call is not None and (looked_up := _find_named(call.target, shown)):
        usage_db.mark_used(connection, ledger, looked_up, "fetched")
    elif call is not None and is_edit(call):
        linked = observation_db.load(connection, shown).values()
        about = {memory.id for memory in linked if any(link.path == call.target for link in memory.links)}
        usage_db.mark_used(connection, ledger, about, "edited")


def ledger_of(moment: Moment) -> str:
    """Return under which name is kept what was shown: a sub-agent has not seen what its session was shown."""
    subagent = moment.details.get(SUBAGENT, "")
    return f"{moment.session}/{subagent}" if subagent else moment.session


def _find_named(text: str, shown: set[str]) -> set[str]:
    """Return those of some memories that a text names."""
    endings = tuple(handle.removeprefix(HANDLE) for handle in _HANDLE.findall(text))
    return {id for id in shown if id.endswith(endings)} if endings else set()
