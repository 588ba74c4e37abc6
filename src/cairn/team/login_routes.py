"""The routes for signing in and for providers' webhooks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cairn.daemon.http import log_unexpected, status_of
from cairn.errors import AccessError, BusyError, CairnError, TeamError, TooLargeError
from cairn.protocol.documents import error_to_dict
from cairn.team.oauth import DeviceError
from cairn.team.sign_in import SignIn
from cairn.team.webhooks import check_sender, read_github, read_gitlab

_log = logging.getLogger("cairn.team")
_MAX_FORM_BYTES, _MAX_EVENT_BYTES = 10_000, 2_000_000
_MAX_THREADS, _MAX_WAITING = 4, 64
_T = TypeVar("_T")
_NO_STORE = {"cache-control": "no-store"}


class SignInRoutes:
    """Answers people without a token, and providers.

    Args:
        sign_in: lets them in.
        webhook_secret: the provider's signing secret or token for webhooks; empty if it sends none.
    """

    def __init__(self, sign_in: SignIn, webhook_secret: str = "") -> None:
        self._sign_in = sign_in
        self._secret = webhook_secret
        # A separate limit, since a provider may be slow and the asker is not known yet.
        self._threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="cairn-sign-in")
        self._n_waiting = 0

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/api/login/device", self._answering(self._begin), methods=["POST"]),
            Route("/api/login/token", self._answering(self._poll), methods=["POST"]),
            Route(f"/api/webhooks/{self._sign_in.provider.kind}", self._answering(self._hear), methods=["POST"]),
        ]

    def with_grants(self, token: str, work: Callable[[], _T]) -> _T:
        """Do work for the bearer of a token, first refreshing their grants from the provider if due."""
        self._sign_in.renew(token)
        try:
            return work()
        except AccessError:
            if not self._sign_in.renew(token, was_refused=True):
                raise
            return work()

    def _answering(self, handler: Callable[[Request], Awaitable[object]]) -> Callable[..., Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                return JSONResponse(await handler(request), headers=_NO_STORE)
            except DeviceError as error:
                return JSONResponse({"error": error.word}, 400, headers=_NO_STORE)
            except TeamError as error:
                _log.warning("%s", error)
                told: CairnError = type(error)("nobody can sign in at the moment", "try again in a moment")
            except CairnError as error:
                told = error
            except Exception as error:  # noqa: BLE001 - the edge of a request; it is logged
                told = log_unexpected(error)
            return JSONResponse(error_to_dict(told), status_of(told), headers=_NO_STORE)

        return answer

    async def _begin(self, request: Request) -> object:
        await _body(request, _MAX_FORM_BYTES)
        return await self._in_thread(self._sign_in.begin)

    async def _poll(self, request: Request) -> object:
        fields = parse_qs((await _body(request, _MAX_FORM_BYTES)).decode("utf-8", "replace"))
        code = fields.get("device_code", [""])[0]
        if not code:
            raise DeviceError("invalid_request")
        return await self._in_thread(self._sign_in.poll, code)

    async def _hear(self, request: Request) -> object:
        provider = self._sign_in.provider
        check_sender(provider.kind, request.headers, self._secret)
        body = await _body(request, _MAX_EVENT_BYTES)
        if provider.kind == "github":
            doubt = read_github(request.headers, body, self._secret)
        else:
            doubt = read_gitlab(request.headers, body, self._secret, provider.address)
        return {"people": 0 if doubt is None else await self._in_thread(self._sign_in.doubt, *doubt)}

    async def _in_thread(self, work: Callable[..., Any], *values: object) -> object:
        if self._n_waiting >= _MAX_WAITING:
            raise BusyError("too many people are signing in", "try again in a moment")
        self._n_waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *values)
        finally:
            self._n_waiting -= 1


async def _body(request: Request, most: int) -> bytearray:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise TooLargeError(f"the body is larger than {most:,} bytes", "send less at once")
    return body
