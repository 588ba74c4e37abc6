"""The site: finds the page for a URL once the browser is admitted; errors are pages too."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from importlib import import_module

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from cairn.daemon.http import log_unexpected, status_of
from cairn.daemon.security import PATH_OF_PAGE
from cairn.daemon.state import Daemon
from cairn.dashboard import events
from cairn.dashboard.browsers import LIFE_SECONDS, Browsers, Codes
from cairn.dashboard.guard import check_sender, cookie_name, make_nonce, protect, read_cookie
from cairn.dashboard.remarks import Remarks
from cairn.dashboard.rendering import Pages
from cairn.dashboard.runs import Builds, Embeddings
from cairn.dashboard.views import (
    memories,
    memory,
    savings,
    search,
    sessions,
    settings,
    symbol,
    system,
    team,
    tuning,
    week,
)
from cairn.dashboard.visit import PageResponse, Visit
from cairn.errors import AccessError, CairnError, ProjectError, RouteError, StoreError
from cairn.hints import Hint

View = Callable[[Visit], Awaitable[Response]]
_YEAR = 365 * 86_400

# Method, path, view, and the title of the page, empty if it returns no page.
PAGES: tuple[tuple[str, str, View, str], ...] = (
    ("GET", "/", week.show, "Week"),
    ("GET", "/memories", memories.browse, "Memories"),
    ("POST", "/memories", memories.change, "Memories"),
    ("GET", "/doubtful", memories.doubtful, "Doubtful memories"),
    ("GET", "/memories/{id}", memory.show, "Memory"),
    ("POST", "/memories/{id}", memory.edit, "Memory"),
    ("GET", "/sessions", sessions.browse, "Sessions"),
    ("POST", "/feedback", sessions.mark, ""),
    ("GET", "/sessions/{id:path}", sessions.show, "Session"),
    ("GET", "/search", search.find, "Search"),
    ("GET", "/symbol", symbol.show, "Symbol"),
    ("GET", "/savings", savings.show, "Savings"),
    ("GET", "/savings.csv", savings.download, ""),
    ("GET", "/tuning", tuning.show, "Tuning"),
    ("POST", "/tuning", tuning.act, ""),
    ("GET", "/settings", settings.show, "Settings"),
    ("POST", "/settings", settings.act, ""),
    ("GET", team.PATH, team.show, "Team"),
    ("GET", "/system", system.show, "System"),
    ("GET", "/system/checks", system.check, "Findings"),
    ("GET", "/system/log", system.log, "Log"),
    ("POST", "/system", system.act, ""),
)


class Site:
    """What the pages of a daemon share.

    Args:
        daemon: answers the questions.
        codes: of one-time links.
        browsers: those with access.
    """

    def __init__(self, daemon: Daemon, codes: Codes, browsers: Browsers) -> None:
        self._daemon, self._codes, self._browsers = daemon, codes, browsers
        self._pages, self._builds, self._remarks = Pages(), Builds(daemon.projects), Remarks()
        self._embeddings = Embeddings(daemon.projects)
        self._is_warm = False

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/login", self._login, methods=["GET"]),
            Route("/logout", self._logout, methods=["POST"]),
            Route("/static/{file:path}", self._static, methods=["GET"]),
            Route("/events", self._events, methods=["GET"]),
            *(
                Route(path, partial(self._page, view=view, title=title), methods=[method])
                for method, path, view, title in PAGES
            ),
            Route("/{path:path}", partial(self._page, view=_missing), methods=["GET", "POST"]),
        ]

    def _visit(self, request: Request, nonce: str, title: str = "") -> Visit:
        shared = self._daemon, self._pages, self._builds, self._embeddings, self._remarks
        return Visit(request, *shared, nonce, title)

    async def _page(self, request: Request, view: View, title: str = "") -> Response:
        nonce = make_nonce()
        if not self._browsers.knows(read_cookie(request)):  # before anything else, since error pages list projects
            return self._signed_out(nonce)
        if view is team.show and not self._daemon.elsewhere.operated():
            view, title = _missing, ""  # hide it from those who operate nothing
        visit = self._visit(request, nonce, title)
        try:
            check_sender(request)
            response = await _begin(visit, view, is_known=bool(title))
        except CairnError as error:
            response = await _error_page(visit, error)
        except Exception as error:  # noqa: BLE001 - the edge of a request; it is logged
            response = await _error_page(visit, log_unexpected(error))
        if not self._is_warm:
            self._is_warm = True
            response.background = BackgroundTask(self._warm_up)
        return protect(response, nonce)

    def _warm_up(self) -> None:
        """Prepare what the next pages need, in a thread, after the first page is sent."""
        import_module("cairn.dashboard.warm")
        self._pages.compile()

    async def _login(self, request: Request) -> Response:
        """Exchange a link's code for a cookie; the page itself makes the next request, so that the cookie is sent."""
        nonce, wanted = make_nonce(), request.query_params.get("to", "/")
        if not self._codes.redeem(request.query_params.get("code", "")):
            return self._signed_out(nonce)
        try:
            secret = self._browsers.admit()
        except StoreError as error:
            return protect(await _error_page(self._visit(request, nonce), error), nonce)
        is_own = re.fullmatch(PATH_OF_PAGE, wanted)
        page = self._pages.render("login.html", {"nonce": nonce, "to": wanted if is_own else "/"})
        response = HTMLResponse(page)
        response.set_cookie(cookie_name(request), secret, max_age=int(LIFE_SECONDS), httponly=True, samesite="strict")
        return protect(response, nonce)

    async def _logout(self, request: Request) -> Response:
        nonce, secret = make_nonce(), read_cookie(request)
        if not self._browsers.knows(secret):
            return self._signed_out(nonce)
        try:
            check_sender(request)
            self._browsers.dismiss(secret)
        except CairnError as error:
            return protect(await _error_page(self._visit(request, nonce), error), nonce)
        response = RedirectResponse("/", 303)
        response.delete_cookie(cookie_name(request), httponly=True, samesite="strict")
        return protect(response, nonce)

    def _signed_out(self, nonce: str) -> Response:
        return protect(HTMLResponse(self._pages.render("signed-out.html", {"nonce": nonce}), 401), nonce)

    async def _static(self, request: Request) -> Response:
        """Serve a static file; its URL contains its digest, so that it can be cached for ever."""
        file = self._pages.static.get(request.path_params["file"])
        nonce = make_nonce()
        if file is None:
            return protect(Response(status_code=404), nonce)
        return protect(FileResponse(file, headers={"Cache-Control": f"public, max-age={_YEAR}, immutable"}), nonce)

    async def _events(self, request: Request) -> Response:
        nonce, secret = make_nonce(), read_cookie(request)
        try:
            check_sender(request)
            if not self._browsers.knows(secret):
                raise AccessError("this browser is signed out", Hint.of("ui"))
            visit = self._visit(request, nonce)
            response = await events.stream(visit, lambda: self._browsers.knows(secret))
        except CairnError as error:
            response = Response(f"{error}; {error.hint}", status_of(error))
        return protect(response, nonce)


async def _missing(visit: Visit) -> Response:
    raise RouteError(f"there is no page at {visit.request.url.path[:200]!r}", "go to one of the pages above")


async def _begin(visit: Visit, view: View, *, is_known: bool) -> Response:
    """Return a response. For a known page, the head is sent at once, and errors appear below it."""
    if is_known and visit.request.method == "GET" and visit.request.headers.get("sec-fetch-mode") == "navigate":
        return StreamingResponse(_follow(visit, view), media_type="text/html")
    response = await view(visit)
    if isinstance(response, PageResponse):
        await response.begin()
    return response


async def _follow(visit: Visit, view: View) -> AsyncIterator[str]:
    """Yield the head of a page, and once that is sent, the rest or an error."""
    yield visit.begin()
    try:
        page = await view(visit)
        rest = await page.make() if isinstance(page, PageResponse) else ""
    except CairnError as error:
        rest = await _say(visit, error).make()
    except Exception as error:  # noqa: BLE001 - the edge of a request; it is logged
        rest = await _say(visit, log_unexpected(error)).make()
    yield rest


def _say(visit: Visit, error: CairnError) -> PageResponse:
    if isinstance(error, ProjectError) and not visit.projects:
        return visit.page("no-project.html", status_of(error))
    visit.note(str(error), is_error=True, hint=str(error.hint))
    return visit.page("error.html", status_of(error))


async def _error_page(visit: Visit, error: CairnError) -> Response:
    page = _say(visit, error)
    await page.begin()
    return page


def make_site(daemon: Daemon, codes: Codes, browsers: Browsers) -> Starlette:
    """Return the pages as an application."""
    return Starlette(routes=Site(daemon, codes, browsers).routes(), exception_handlers={HTTPException: _refuse})


async def _refuse(_: Request, error: Exception) -> Response:
    """Answer unsupported methods and unknown URLs."""
    assert isinstance(error, HTTPException)
    return protect(Response(status_code=error.status_code, headers=error.headers), make_nonce())
