"""What is at which address; thin, for the work is done elsewhere."""

from __future__ import annotations

from cairn.daemon.http import Route
from cairn.daemon.routes import index, operations, sessions, system


def all_routes() -> list[Route]:
    """Return every address of the daemon."""
    return [*system.ROUTES, *operations.ROUTES, *sessions.ROUTES, *index.ROUTES]
