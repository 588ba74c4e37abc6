"""`cairn fresh`: a session that is shown nothing of earlier ones, though it is kept like any other."""

from __future__ import annotations

from cairn.memory.moments import Moment
from cairn.memory.store import MemoryStore
from cairn.storage.memory.rows import Session
from cairn.storage.sealed import delete_meta, read_meta, write_meta

FRESH = "fresh"  # in a moment's details: `1` if the agent was started with CAIRN_FRESH=1
FRESH_SECONDS = 86_400.0  # a wish for the next session is forgotten after so long
_WISH = "fresh_wished"
_GOING_ON = ("resume", "compact")  # why agents report a start that begins no session


def wish_fresh(store: MemoryStore, now: float) -> None:
    """Let the next session that begins be a fresh one.

    Args:
        store: the memory of the project.
        now: seconds since the epoch.
    """
    with store.writing() as connection:
        write_meta(connection, _WISH, repr(now))


def drop_wish(store: MemoryStore) -> bool:
    """Let the next session be like any other again; return whether a fresh one was wished for."""
    if not store.exists:
        return False
    with store.writing() as connection:
        was_wished = bool(read_meta(connection, _WISH))
        delete_meta(connection, _WISH)
        return was_wished


def take_wish(store: MemoryStore, now: float) -> bool:
    """Return whether the session that begins is to be a fresh one; the next one is not."""
    with store.reading() as connection:
        if not read_meta(connection, _WISH):
            return False
    with store.writing() as connection:
        wished = read_meta(connection, _WISH)  # unless another session has taken it meanwhile
        delete_meta(connection, _WISH)
    return bool(wished) and abs(now - float(wished)) <= FRESH_SECONDS


def begins(moment: Moment, session: Session | None) -> bool:
    """Tell whether a moment is the first of its session, as it was kept; some agents do not report that one starts."""
    if session is not None and (session.n_activities or session.is_fresh):
        return False
    if moment.event == "session-start":
        return (session is None or not session.n_prompts) and moment.details.get("source", "") not in _GOING_ON
    return moment.event == "prompt" and session is not None and session.n_prompts == 1 and not session.source
