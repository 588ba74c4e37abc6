"""What is at which address; thin, for the work is done elsewhere."""

from __future__ import annotations

from typing import Any

from cairn.daemon.http import Reply, Request, Route
from cairn.daemon.routes import index, operations, sessions, system
from cairn.loading import load


def all_routes() -> list[Route]:
    """Return every address of the daemon."""
    routes = [*system.ROUTES, *operations.ROUTES, *sessions.ROUTES, *index.ROUTES]

    async def description(request: Request) -> Reply:
        return Reply(load("cairn.daemon.openapi:describe")(routes))

    routes.append(Route("GET", "/openapi.json", description, "Describe every address", answer=dict[str, Any]))
    return routes
