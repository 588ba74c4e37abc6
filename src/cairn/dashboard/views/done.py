"""What a page says once something was done with memories, and what can be undone then."""

from __future__ import annotations

from cairn.dashboard.visit import Visit
from cairn.source.text import pluralize

DONE = {
    "archive": "archived", "resolve": "resolved", "reopen": "reopened", "supersede": "superseded",
    "undo": "as before", "delete": "deleted", "keep": "kept",
}  # fmt: skip
UNDONE = ("archive", "resolve", "reopen", "supersede")


def say_done(visit: Visit) -> list[str]:
    """Say what was done, as the address has it, and return the ids of the memories for which it can be undone."""
    done = visit.query.get("done", "")
    if done not in DONE:
        return []
    n_done = visit.number("n", 0)
    visit.note(f"{pluralize(n_done, 'memory is', 'memories are')} {DONE[done]}.")
    return [id for id in visit.query.get("ids", "").split(",") if id] if done in UNDONE else []
