"""Who may ask: only programs of this user, and no page of somebody else in his browser."""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from cairn.daemon.http import Request
from cairn.errors import AccessError
from cairn.hints import Hint

_HINT = Hint("docs/daemon.md says where the token is; this shows the daemon", "daemon status")
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_EVERYWHERE = ("0.0.0.0", "::")


def check_host(request: Request, host: str) -> None:
    """Refuse a name that leads here by DNS rebinding: a foreign page's own name, pointed at this machine.

    Args:
        request: whose `Host` is looked at.
        host: where the daemon listens.

    Raises:
        AccessError: for a foreign or missing name.
    """
    authority = request.header(b"host")
    if authority is None or not _is_here(_host_of(f"//{authority}"), host):
        raise AccessError(
            "the Host header names another machine", Hint("ask by the address that this shows", "daemon status")
        )


def check_origin(request: Request) -> None:
    """Refuse what a page of a foreign origin sends; one from another port of this machine is foreign, too.

    Its own origin has the name and port that it was asked by, which `check_host` has looked at.

    Raises:
        AccessError: for a foreign origin, or a browser that says the request comes from another site.
    """
    origin = request.header(b"origin")
    site = request.header(b"sec-fetch-site")
    authority = (request.header(b"host") or "").lower()
    foreign = origin is not None and origin.lower() not in (f"http://{authority}", f"https://{authority}")
    if foreign or site in ("cross-site", "same-site"):
        raise AccessError("requests from pages of other origins are refused", _HINT)


def check_token(request: Request, token: str) -> None:
    """Refuse who does not know the token; how long it takes tells nothing about it.

    Raises:
        AccessError: without the token.
    """
    given = request.header(b"authorization") or ""
    scheme, _, secret = given.partition(" ")
    known = hmac.compare_digest(secret.strip().encode("latin-1", "replace"), token.encode("ascii"))
    if scheme.lower() != "bearer" or not known:
        raise AccessError("the token is missing or wrong", _HINT)


def is_loopback(host: str) -> bool:
    """Tell whether an address reaches this machine only."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_here(name: str, host: str) -> bool:
    """Tell whether a name is this machine's. Who listens everywhere cannot know by which address he is reached."""
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
        _ = parts.port  # refuses what is no number
    except ValueError:
        return ""
    plain = not (parts.path or parts.query or parts.fragment or parts.username or parts.password)
    return (parts.hostname or "") if plain else ""
