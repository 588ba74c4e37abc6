"""Protects the pages: headers that keep foreign code from running, and checks that requests are the user's own."""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie

from starlette.requests import Request
from starlette.responses import Response

from cairn.errors import AccessError
from cairn.hints import Hint

_NONCE_BYTES = 16
_SIGN_IN = Hint.of("ui")


def make_nonce() -> str:
    """Return a nonce that marks the scripts of one page as ours."""
    return secrets.token_urlsafe(_NONCE_BYTES)


def protect(response: Response, nonce: str) -> Response:
    """Add the headers that every page carries."""
    response.headers.update(
        {
            "Content-Security-Policy": (
                f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; img-src 'self'; "
                "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
                "require-trusted-types-for 'script'; trusted-types htmx"
            ),
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        }
    )
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def cookie_name(request: Request) -> str:
    """Return the name of the cookie, which includes the port, since browsers send cookies to all ports of a machine."""
    return f"cairn-{request.url.port or 80}"


def read_cookie(request: Request) -> str:
    """Return the secret of the browser, empty if it has none."""
    try:
        cookies = SimpleCookie(request.headers.get("cookie", ""))
    except CookieError:
        return ""
    found = cookies.get(cookie_name(request))
    return "" if found is None else found.value


def check_sender(request: Request) -> None:
    """Refuse requests from foreign pages; another port of this machine is foreign too.

    A link on a foreign page may lead here, because our page then replaces the foreign one in the whole window.

    Raises:
        AccessError: if a foreign page makes any other request.
    """
    origin, own = request.headers.get("origin"), f"http://{request.headers.get('host', '').lower()}"
    if origin is not None and origin.lower() != own:
        raise AccessError("requests from pages of other origins are refused", _SIGN_IN)
    site = request.headers.get("sec-fetch-site", "none" if request.method in ("GET", "HEAD") else "")
    if request.method not in ("GET", "HEAD"):
        if site != "same-origin" and origin is None:
            raise AccessError("a form is sent from its own page only", _SIGN_IN)
    elif site in ("cross-site", "same-site") and not _is_navigation(request):
        raise AccessError("requests from pages of other origins are refused", _SIGN_IN)


def _is_navigation(request: Request) -> bool:
    headers = request.headers
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
