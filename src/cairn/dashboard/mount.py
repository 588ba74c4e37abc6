"""Mounts the pages in the daemon, at all paths outside of the API. They are imported at the first request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, TypedDict
from urllib.parse import urlencode

from cairn.daemon.app import Application
from cairn.daemon.http import App, Receive, Request, Response, Route, Scope, Send, error_response, send_response
from cairn.daemon.security import PATH_OF_PAGE, check_host, is_loopback
from cairn.errors import AccessError, BusyError, CairnError
from cairn.fields import Rule
from cairn.hints import Hint

if TYPE_CHECKING:
    from cairn.dashboard.browsers import Browsers, Codes

MOST_AT_ONCE = 16  # pages at once; agents have their own slots
_FILE = "browsers.json"
_BY_SCRIPT = b"hx-request"  # an open page that reloads a part of itself, perhaps with nobody looking


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRequest:
    """Ask for a one-time link to the pages."""

    path: Annotated[str, Rule("the page to open", max_length=2_000, pattern=PATH_OF_PAGE)] = "/"


@dataclass(frozen=True, slots=True)
class SignOutRequest:
    """Sign all browsers out."""


class LinkDocument(TypedDict):
    """A one-time link, relative to the daemon's URL, and how long it is valid."""

    path: str
    seconds: float


class SignedOutDocument(TypedDict):
    """How many browsers were signed out."""

    browsers: int


class Dashboard:
    """The pages of a daemon, and their access control.

    Args:
        app: the application in which they are mounted.
    """

    def __init__(self, app: Application) -> None:
        self._app = app
        self._making: asyncio.Task[App] | None = None
        self._n_running = 0
        self._admission: tuple[Codes, Browsers] | None = None

    @property
    def routes(self) -> Sequence[Route]:
        """The API routes for `cairn ui`."""
        return (
            Route("POST", "/api/ui/link", self._link, "Make a link that opens the pages", LinkRequest, LinkDocument),
            Route(
                "POST", "/api/ui/sign-out", self._sign_out, "Sign all browsers out", SignOutRequest, SignedOutDocument
            ),
        )

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a page."""
        request = Request(scope, receive, self._app.daemon)
        try:
            self._check(request)
            site = await self._site()
        except CairnError as error:
            await send_response(send, error_response(error), close=True)
            return
        is_stream = scope["path"] == "/events"  # an open tab neither takes a slot nor keeps the daemon alive
        if not is_stream and request.header(_BY_SCRIPT) is None:
            self._app.daemon.note_visit()
        self._n_running += not is_stream
        try:
            await site(scope, receive, send)
        finally:
            self._n_running -= not is_stream

    def _check(self, request: Request) -> None:
        self._check_reach()
        check_host(request, self._app.daemon.host)
        if self._n_running >= MOST_AT_ONCE:
            raise BusyError(f"{self._n_running} pages are being made already", "load the page again in a moment")

    def _check_reach(self) -> None:
        if not is_loopback(self._app.daemon.host):
            raise AccessError(
                "pages are shown only where other machines cannot reach them",
                Hint("have the daemon listen on 127.0.0.1, and start it again", "config unset", name="daemon_host"),
            )

    async def _site(self) -> App:
        if self._making is None or (self._making.done() and self._making.exception() is not None):
            self._making = asyncio.create_task(self._make())
        return await asyncio.shield(self._making)

    async def _make(self) -> App:
        module = await asyncio.to_thread(import_module, "cairn.dashboard.site")
        site: App = module.make_site(self._app.daemon, *self._admit())
        return site

    def _admit(self) -> tuple[Codes, Browsers]:
        if self._admission is None:
            browsers = import_module("cairn.dashboard.browsers")
            folder = self._app.daemon.projects.registry.folder
            self._admission = browsers.Codes(), browsers.Browsers(folder.path / _FILE)
        return self._admission

    async def _link(self, request: Request) -> Response:
        wanted = await request.read(LinkRequest)
        self._check_reach()
        codes, _ = self._admit()
        answer: LinkDocument = {
            "path": f"/login?{urlencode({'code': codes.issue(), 'to': wanted.path})}",
            "seconds": import_module("cairn.dashboard.browsers").CODE_SECONDS,
        }
        return Response(answer)

    async def _sign_out(self, request: Request) -> Response:
        await request.read(SignOutRequest)
        answer: SignedOutDocument = {"browsers": self._admit()[1].dismiss()}
        return Response(answer)


def dashboard(app: Application) -> Sequence[Route]:
    """Mount the pages in an application, and return their API routes."""
    pages = Dashboard(app)
    app.pages = pages.serve
    return pages.routes
