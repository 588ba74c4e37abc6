"""The routes: thin, since the work is done elsewhere."""

from __future__ import annotations

from typing import Any

from cairn.daemon.http import Request, Response, Route
from cairn.daemon.routes import hooks, index, memories, operations, sessions, settings, system
from cairn.loading import load


def all_routes() -> list[Route]:
    """Return every route of the daemon."""
    routes = [
        *system.ROUTES,
        *operations.ROUTES,
        *memories.ROUTES,
        *sessions.ROUTES,
        *hooks.ROUTES,
        *index.ROUTES,
        *settings.ROUTES,
    ]

    async def description(request: Request) -> Response:
        return Response(load("cairn.daemon.openapi:describe")(routes))

    routes.append(Route("GET", "/openapi.json", description, "Describe every route", answer=dict[str, Any]))
    return routes
