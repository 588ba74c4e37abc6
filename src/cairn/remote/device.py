"""Signing in without a token: the server gives a page to visit and a code to type there (RFC 8628)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cairn.errors import RequestError, ServerAwayError, SignInError
from cairn.hints import Hint
from cairn.remote.connection import TeamConnection
from cairn.remote.servers import check_token

_CODE_PATH, _TOKEN_PATH = "/api/login/device", "/api/login/token"
_CLIENT = "cairn"
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_NOT_OFFERED = (404, 405, 501)
_INTERVAL_SECONDS, _SLOWER_SECONDS, _LONGEST_INTERVAL_SECONDS = 5.0, 5.0, 60.0
_LONGEST_SECONDS = 1_800.0
_MAX_URI_CHARS, _MAX_CODE_CHARS = 2_000, 64


class DeviceCode(NamedTuple):
    """What a person needs to authorize this machine, and how the machine learns that they did.

    Attributes:
        page: the address to visit.
        user_code: what to type there.
        whole_page: the same address including the code; empty if there is none.
        device_code: for this machine's requests.
        interval_seconds: the least time between two requests.
        seconds: how long the code is valid.
    """

    page: str
    user_code: str
    whole_page: str
    device_code: str
    interval_seconds: float
    seconds: float


def ask_for_code(connection: TeamConnection) -> DeviceCode | None:
    """Return a code to sign in with, None if the server does not support that.

    Raises:
        ServerAwayError: if it does not answer, or not as the RFC says.
    """
    status, answer = connection.post_form(_CODE_PATH, {"client_id": _CLIENT})
    if status in _NOT_OFFERED:
        return None
    if status != 200 or not isinstance(answer, dict):
        raise ServerAwayError(f"signing in this way does not work now (status {status})", _WITH_TOKEN)
    whole_page = _text(answer, "verification_uri_complete", _MAX_URI_CHARS)
    code = DeviceCode(
        page=_text(answer, "verification_uri", _MAX_URI_CHARS),
        user_code=_text(answer, "user_code", _MAX_CODE_CHARS),
        whole_page=whole_page if _is_page(whole_page) else "",
        device_code=_text(answer, "device_code", _MAX_URI_CHARS),
        interval_seconds=_seconds(answer.get("interval"), _INTERVAL_SECONDS, _LONGEST_INTERVAL_SECONDS),
        seconds=_seconds(answer.get("expires_in"), _LONGEST_SECONDS, _LONGEST_SECONDS),
    )
    if not (_is_page(code.page) and code.user_code and code.device_code):
        raise ServerAwayError("the server does not say where to sign in", _WITH_TOKEN)
    return code


def wait_for_token(
    connection: TeamConnection,
    code: DeviceCode,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Wait until the person has authorized this machine and return the token, polling as rarely as the server wants.

    Raises:
        SignInError: if they did not, or the code expired.
    """
    interval = code.interval_seconds
    deadline = clock() + code.seconds
    fields = {"grant_type": _GRANT, "device_code": code.device_code, "client_id": _CLIENT}
    while clock() + interval <= deadline:
        sleep(interval)
        try:
            status, answer = connection.post_form(_TOKEN_PATH, fields)
        except ServerAwayError:
            status, answer = 503, None
        if status >= 500 or status == 429:
            interval = min(2 * interval, _LONGEST_INTERVAL_SECONDS)  # see section 3.5
            continue
        values = answer if isinstance(answer, dict) else {}
        if status == 200:
            return _token_of(values)
        problem = values.get("error")
        if problem == "slow_down":
            interval += _SLOWER_SECONDS
        elif problem == "access_denied":
            raise SignInError("the request to sign in was refused on that page", _AGAIN)
        elif problem == "expired_token":
            break
        elif problem != "authorization_pending":
            raise SignInError(f"the server ended the attempt to sign in (status {status})", _WITH_TOKEN)
    raise SignInError("nobody entered the code in time", _AGAIN)


_AGAIN = Hint("try again", "login", url=None)
_WITH_TOKEN = Hint("sign in with a token that an operator made", "login", url=None, token_stdin=True)


def _token_of(answer: dict[str, Any]) -> str:
    try:
        return check_token(str(answer.get("access_token", "")))
    except RequestError as error:
        raise SignInError("the server lets this machine in, and sends no token", _WITH_TOKEN) from error


def _text(answer: dict[str, Any], name: str, most: int) -> str:
    """Return a text that can be shown on one line; empty if there is none."""
    value = answer.get(name)
    return value if isinstance(value, str) and value.isprintable() and len(value) <= most else ""


def _is_page(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in text


def _seconds(value: object, default: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:  # not a number is not above 0
        return default
    return float(min(value, most))
