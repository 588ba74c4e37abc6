"""The application: from an address to what is there, behind the checks of who asks and how much."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence

from cairn.config import Settings
from cairn.daemon.http import (
    App,
    Events,
    Receive,
    Reply,
    Request,
    Route,
    Scope,
    Send,
    error_reply,
    send_events,
    send_reply,
)
from cairn.daemon.lifespan import live
from cairn.daemon.routes import all_routes
from cairn.daemon.security import check_host, check_origin, check_token
from cairn.daemon.state import Daemon, Limits
from cairn.errors import BusyError, CairnError, InternalError, RouteError, resource_error
from cairn.hints import Hint
from cairn.runtime import StateFolder

_log = logging.getLogger("cairn.daemon")
Extension = Callable[["Application"], Route]


class Application:
    """The daemon as an ASGI application.

    Args:
        daemon: what all requests share.
        extensions: each adds an address of a layer above, which may itself ask this application.
    """

    def __init__(self, daemon: Daemon, extensions: Sequence[Extension] = ()) -> None:
        self.daemon = daemon
        self._table: dict[str, dict[str, Route]] = {}
        for one in (*all_routes(), *(extension(self) for extension in extensions)):
            self._table.setdefault(one.path, {})[one.method] = one

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the daemon's whole life."""
        if scope["type"] == "lifespan":
            await live(self.daemon, receive, send)
        elif scope["type"] == "http":
            await self._serve(Request(scope, receive, self.daemon), send)

    async def _serve(self, request: Request, send: Send) -> None:
        close = True  # for the body was not read, perhaps
        try:
            with self.daemon.counted():
                reply = await self._answer(request)
                if not isinstance(reply, Reply | Events):
                    await reply(request.scope, request.receive, send)
                    return
                if isinstance(reply, Events):
                    await send_events(send, reply)
                    return
                close = False
        except CairnError as error:
            reply = error_reply(error)
        except Exception as error:  # noqa: BLE001 - the edge of a request; it is logged
            _log.exception("internal error")
            told = InternalError(f"internal error: {type(error).__name__}", Hint.of("daemon logs"))
            reply = error_reply(resource_error(error) or told)
        await send_reply(send, reply, close=close)
        self.daemon.warm_up()

    async def _answer(self, request: Request) -> Reply | Events | App:
        check_host(request, self.daemon.host)
        check_origin(request)
        methods = self._table.get(request.path)
        # HEAD asks for the head of what GET answers; the server leaves out the body.
        route = None if methods is None else methods.get("GET" if request.method == "HEAD" else request.method)
        if route is None or not route.open_to_all:
            check_token(request, self.daemon.token)  # before anybody is told what there is
        if methods is None:
            raise RouteError(f"nothing is at {request.path[:200]!r}", "see /openapi.json")
        if route is None:
            allowed = ", ".join(sorted(methods))
            wrong = RouteError(f"{request.method[:20]} is not for {request.path}", f"use {allowed}")
            return error_reply(wrong, 405)._replace(headers=((b"allow", allowed.encode("ascii")),))
        if self.daemon.stopping and not route.open_to_all:
            error = BusyError("the daemon is stopping", "ask again in a moment")
            return error_reply(error)._replace(headers=((b"retry-after", b"0"),))
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
        settings: of the user.
        folder: his state folder, by default where it is by the conventions of the system.
        host: where it will listen.
        token: what requests must carry; by default one that nobody can guess.
        limits: on each request.
        extensions: what more is to be had, see `Application`.
    """
    daemon = Daemon(settings, folder or StateFolder.of_user(), host, token or secrets.token_urlsafe(32), limits)
    return Application(daemon, extensions)
