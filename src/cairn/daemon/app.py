"""The ASGI application: checks host, origin and token, and finds the route of a request."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from cairn.config import Settings
from cairn.daemon.http import (
    App,
    EventStream,
    Nothing,
    Receive,
    Request,
    Response,
    Route,
    Scope,
    Send,
    error_response,
    log_unexpected,
    send_events,
    send_response,
)
from cairn.daemon.lifespan import live
from cairn.daemon.routes import all_routes
from cairn.daemon.security import check_host, check_origin, check_token
from cairn.daemon.state import Daemon, Limits
from cairn.errors import BusyError, CairnError, RouteError
from cairn.runtime import StateFolder

Extension = Callable[["Application"], Sequence[Route]]


class Application:
    """The daemon as an ASGI application.

    Args:
        daemon: the state shared by all requests.
        extensions: each returns routes of a higher layer, which may call this application.

    Attributes:
        pages: answers at all paths outside of the API, with its own access check; None if there are no pages.
    """

    def __init__(self, daemon: Daemon, extensions: Sequence[Extension] = ()) -> None:
        self.daemon = daemon
        self.pages: App | None = None
        self._table: dict[str, dict[str, Route]] = {}
        for route in all_routes([route for extension in extensions for route in extension(self)]):
            self._table.setdefault(route.path, {})[route.method] = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the lifespan protocol."""
        if scope["type"] == "lifespan":
            await live(self.daemon, receive, send)
        elif scope["type"] == "http" and self.pages is not None and self._is_page(scope["path"]):
            await self.pages(scope, receive, send)
        elif scope["type"] == "http":
            await self._serve(Request(scope, receive, self.daemon), send)

    def _is_page(self, path: str) -> bool:
        return path not in self._table and not path.startswith("/api/")

    async def _serve(self, request: Request, send: Send) -> None:
        close = True  # the body may be unread
        try:
            with self.daemon.count_request():
                response = await self._answer(request)
                if not isinstance(response, Response | EventStream):
                    await response(request.scope, request.receive, send)
                    return
                if isinstance(response, EventStream):
                    await send_events(send, response)
                    return
                close = False
        except CairnError as error:
            response = error_response(error)
        except Exception as error:  # noqa: BLE001 - the edge of a request; it is logged
            response = error_response(log_unexpected(error))
        await send_response(send, response, close=close)
        self.daemon.warm_up()

    async def _answer(self, request: Request) -> Response | EventStream | App:
        check_host(request, self.daemon.host)
        check_origin(request)
        methods = self._table.get(request.path)
        # HEAD gets the headers of GET; the server drops the body.
        route = None if methods is None else methods.get("GET" if request.method == "HEAD" else request.method)
        if route is None or not route.open_to_all:
            check_token(
                request, self.daemon.token
            )  # before anything else, so that nobody without a token learns which paths exist
        if methods is None:
            raise RouteError(f"there is nothing at {request.path[:200]!r}", "see /openapi.json")
        if route is None:
            allowed = ", ".join(sorted(methods))
            error = RouteError(f"{request.path} does not take {request.method[:20]}", f"use {allowed}")
            return error_response(error, 405)._replace(headers=((b"allow", allowed.encode("ascii")),))
        if self.daemon.stopping and not route.open_to_all:
            busy = BusyError("the daemon is stopping", "ask again in a moment")
            return error_response(busy)._replace(headers=((b"retry-after", b"0"),))
        if route.method == "GET" and route.request is None:
            request.query(Nothing)
        return await route.handler(request)


def create_app(
    settings: Settings,
    *,
    folder: StateFolder | None = None,
    host: str = "127.0.0.1",
    token: str = "",
    limits: Limits | None = None,
    extensions: Sequence[Extension] = (),
) -> Application:
    """Return the application of a new daemon.

    Args:
        settings: the user's.
        folder: the user's state folder, by default the one below XDG_STATE_HOME.
        host: the address to listen at.
        token: the secret that requests must carry; random by default.
        limits: on each request.
        extensions: routes of higher layers; see `Application`.
    """
    daemon = Daemon(settings, folder or StateFolder.of_user(), host, token or secrets.token_urlsafe(32), limits)
    return Application(daemon, extensions)
