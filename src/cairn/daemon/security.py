"""Access control: programs of this user may ask, foreign pages in their browser may not."""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from cairn.daemon.http import Request
from cairn.errors import AccessError
from cairn.hints import Hint

_HINT = Hint("send the token; this shows where it is", "daemon status")
LOCAL_NAMES = frozenset({"localhost", "cairn.localhost", "127.0.0.1", "::1"})
_EVERYWHERE = ("0.0.0.0", "::")
# Rejects what browsers would take for an address on another machine; they drop line breaks and tabs from addresses.
PATH_OF_PAGE = r"/(?:[^/\\\x00-\x1f\x7f][^\\\x00-\x1f\x7f]*)?"


def check_host(request: Request, host: str) -> None:
    """Refuse a foreign host name, with which DNS rebinding lets a foreign page reach this machine.

    Args:
        request: its `Host` header is checked.
        host: the address the daemon listens at.

    Raises:
        AccessError: if the header is missing or names another machine.
    """
    authority = request.header(b"host")
    if authority is None or not _is_here(_host_of(f"//{authority}"), host):
        raise AccessError(
            "the Host header names another machine", Hint("use the address that this shows", "daemon status")
        )


def check_origin(request: Request) -> None:
    """Refuse requests from pages of a foreign origin; another port of this machine is foreign too.

    The daemon's own origin is the `Host` header, which `check_host` has checked.

    Raises:
        AccessError: if the origin is foreign, or the browser says that the request comes from another site.
    """
    origin = request.header(b"origin")
    site = request.header(b"sec-fetch-site")
    authority = (request.header(b"host") or "").lower()
    is_foreign = origin is not None and origin.lower() not in (f"http://{authority}", f"https://{authority}")
    if is_foreign or site in ("cross-site", "same-site"):
        raise AccessError("requests from pages of other origins are refused", _HINT)


def check_token(request: Request, token: str) -> None:
    """Refuse a request without the right token, comparing in constant time.

    Raises:
        AccessError: if the token is missing or wrong.
    """
    scheme, _, secret = (request.header(b"authorization") or "").partition(" ")
    is_right = hmac.compare_digest(secret.strip().encode("latin-1", "replace"), token.encode("ascii"))
    if scheme.lower() != "bearer" or not is_right:
        raise AccessError("the token is missing or wrong", _HINT)


def is_loopback(host: str) -> bool:
    """Tell whether an address reaches this machine only."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_here(name: str, host: str) -> bool:
    """Tell whether a name is this machine's. A daemon that listens everywhere accepts any of its addresses."""
    return name in LOCAL_NAMES or name == host.lower() or (host in _EVERYWHERE and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _host_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if the port is not a number
    except ValueError:
        return ""
    plain = not (parts.path or parts.query or parts.fragment or parts.username or parts.password)
    return (parts.hostname or "") if plain else ""
