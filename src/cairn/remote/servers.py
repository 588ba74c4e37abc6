"""The servers of a team that this user is signed in to: a file in their state folder, never in a project."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from cairn.errors import RequestError, StoreError
from cairn.folders import check_private, unwritable
from cairn.model_settings import is_loopback
from cairn.runtime import StateFolder
from cairn.storage.atomic import write_file
from cairn.storage.lock import file_lock
from cairn.storage.own_files import read_own

_MAX_BYTES = 1_000_000
_MAX_TOKEN_CHARS = 4_096
_LOCK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class TeamServer:
    """A server, by its address without a slash at the end, and the token that it takes this user by.

    Attributes:
        is_operated: whether it said at the sign-in that the token is an operator's; it decides each time.
    """

    url: str
    token: str = field(default="", repr=False)
    is_operated: bool = False

    @property
    def host(self) -> str:
        """The address as people say it."""
        return self.url.partition("://")[2]


class SignIns:
    """The servers this user is signed in to, in the order in which they signed in."""

    def __init__(self, folder: StateFolder) -> None:
        self._folder = folder

    def servers(self) -> tuple[TeamServer, ...]:
        """Return all intact entries; none if the file is missing or damaged as a whole.

        Raises:
            StoreError: if the file cannot be read, or others could have written it.
        """
        return tuple(_valid_in(self._rows() or ()))

    def _rows(self) -> list[object] | None:
        """Return the entry of each server, None if it is damaged; errors as for `servers`."""
        try:
            check_private(self._folder.path)
            rows = json.loads(read_own(self._folder.servers, _MAX_BYTES))["servers"]
        except FileNotFoundError:
            return []
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        except OSError as error:
            raise StoreError(f"cannot read {self._folder.servers}: {error.strerror}", "make it readable") from error
        return rows if isinstance(rows, list) else None

    def keep(self, server: TeamServer) -> None:
        """Save a server and its token, replacing an older token.

        Raises:
            StoreError: if the file is damaged, or cannot be written.
        """
        self._folder.create()
        with file_lock(self._lock, _LOCK_SECONDS):
            if self._rows() is None:
                raise StoreError(
                    f"{self._folder.servers} is damaged, and the other servers in it would be lost",
                    "mend it, or move it aside and sign in again",
                )
            self._write([*(known for known in self.servers() if known.url != server.url), server])

    def forget(self, url: str) -> bool:
        """Forget a server and its token; return whether it was known.

        Raises:
            StoreError: as `keep`.
        """
        if url not in [known.url for known in self.servers()]:
            return False
        with file_lock(self._lock, _LOCK_SECONDS):
            kept = [known for known in self.servers() if known.url != url]
            if kept:
                self._write(kept)
            else:
                self._folder.servers.unlink(missing_ok=True)
        return True

    @property
    def _lock(self) -> Path:
        return self._folder.servers.with_suffix(".lock")

    def _write(self, servers: Sequence[TeamServer]) -> None:
        rows = [
            {"url": server.url, "token": server.token, **({"operator": True} if server.is_operated else {})}
            for server in servers
        ]
        try:
            write_file(self._folder.servers, json.dumps({"servers": rows}, indent=1).encode("ascii"), mode=0o600)
        except OSError as error:
            raise unwritable(self._folder.servers, error) from error


def _valid_in(rows: Iterable[object]) -> Iterator[TeamServer]:
    for row in rows:
        with suppress(RequestError):
            if isinstance(row, dict):
                url, token = check_url(str(row.get("url", ""))), check_token(str(row.get("token", "")))
                yield TeamServer(url, token, row.get("operator") is True)


def check_url(text: str) -> str:
    """Return the normal form of a server's URL; without a scheme, https is meant.

    Raises:
        RequestError: if it is not a URL, or would send the token unencrypted.
    """
    given = text.strip()
    url = given if "://" in given else f"https://{given}"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    is_plain = given.isascii() and given.isprintable() and " " not in given and len(given) <= 1_000
    if not host or not is_plain or parts.query or parts.fragment or "@" in parts.netloc:
        raise RequestError(f"{given[:200]!r} is not the address of a server", "give it as https://HOST")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(url)):
        raise RequestError(f"a token is sent over https only, and not to {given[:200]!r}", f"use https://{host}")
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def check_token(text: str) -> str:
    """Return a token without white space around it.

    Raises:
        RequestError: if it is not a token. The error does not repeat it.
    """
    token = text.strip()
    if not (token.isascii() and token.isprintable() and " " not in token and 0 < len(token) <= _MAX_TOKEN_CHARS):
        raise RequestError("this is not a token", "give it as it was shown: one line, without spaces")
    return token
