"""The routes: thin, because the work is done elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.daemon.http import Request, Response, Route
from cairn.daemon.routes import hooks, index, memories, operations, sessions, settings, system
from cairn.loading import load


def all_routes(added: Sequence[Route] = ()) -> list[Route]:
    """Return all routes of the daemon and of higher layers."""
    routes = [
        *system.ROUTES,
        *operations.ROUTES,
        *memories.ROUTES,
        *sessions.ROUTES,
        *hooks.ROUTES,
        *index.ROUTES,
        *settings.ROUTES,
        *added,
    ]

    async def description(request: Request) -> Response:
        described = [route for route in routes if route.request or route.answer or route.takes]  # MCP sends its own
        return Response(load("cairn.daemon.openapi:describe")(described))

    routes.append(Route("GET", "/openapi.json", description, "Describe every route", answer=dict[str, Any]))
    return routes
