"""Access of browsers to the pages: one-time links, and the browsers that opened one."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cairn.errors import StoreError, UnsafeStateError
from cairn.storage.atomic import write_file
from cairn.storage.own_files import read_own

CODE_SECONDS = 60.0
IDLE_SECONDS, LIFE_SECONDS = 7 * 86_400.0, 30 * 86_400.0
MOST_BROWSERS = 20
_MOST_CODES = 20
_SECRET_BYTES = 32
_MAX_BYTES = 100_000
_NOTE_SECONDS = 3_600.0  # resolution of when a browser was last seen


class Codes:
    """One-time codes for links. Each works once, within a minute; they are never on disk."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._until: dict[str, float] = {}

    def issue(self) -> str:
        """Return a new code; if there are too many, the oldest stops working."""
        while len(self._until) >= _MOST_CODES:
            del self._until[next(iter(self._until))]
        code = secrets.token_urlsafe(_SECRET_BYTES)
        self._until[_digest(code)] = self._now() + CODE_SECONDS
        return code

    def redeem(self, code: str) -> bool:
        """Use up a code; return whether it was valid."""
        until = self._until.pop(_digest(code), None)
        return until is not None and self._now() <= until


class _Seen(NamedTuple):
    """When a browser was admitted and when it was last seen, in seconds since the epoch."""

    since: float
    last: float


class Browsers:
    """The browsers that may see the pages, by the digest of the secret in their cookie. Threads may share it.

    Args:
        file: stores them, so that they outlive the daemon; readable only by its owner.
        now: the clock, in seconds since the epoch.
    """

    def __init__(self, file: Path, now: Callable[[], float] = time.time) -> None:
        self._file, self._now = file, now
        self._changing = threading.Lock()
        self._seen = _load(file)

    def admit(self) -> str:
        """Admit a browser, and return the secret for its cookie; of too many, drop the least recently seen.

        Raises:
            StoreError: if that cannot be saved.
        """
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        with self._changing:
            now = self._now()
            kept = sorted(
                ((key, seen) for key, seen in self._seen.items() if _is_valid(seen, now)), key=lambda item: item[1].last
            )
            self._keep({**dict(kept[-(MOST_BROWSERS - 1) :]), _digest(secret): _Seen(now, now)})
        return secret

    def knows(self, secret: str) -> bool:
        """Tell whether a browser may see the pages, and record that it was seen."""
        key, now = _digest(secret), self._now()
        with self._changing:
            seen = next((seen for known, seen in self._seen.items() if hmac.compare_digest(known, key)), None)
            if seen is None or not _is_valid(seen, now):
                return False
            if now - seen.last > _NOTE_SECONDS:
                self._seen[key] = seen._replace(last=now)
                with suppress(StoreError):  # it is remembered at least until the daemon stops
                    self._keep(self._seen)
        return True

    def dismiss(self, secret: str = "") -> int:
        """Sign out a browser, or all if no secret is given; return how many.

        Raises:
            StoreError: as `admit`.
        """
        with self._changing:
            kept = {key: seen for key, seen in self._seen.items() if secret and key != _digest(secret)}
            n_gone = len(self._seen) - len(kept)
            if n_gone:
                self._keep(kept)
        return n_gone

    def _keep(self, seen: dict[str, _Seen]) -> None:
        """Save a new set of browsers and then use it; if it cannot be saved, nothing changes."""
        try:
            write_file(self._file, json.dumps(seen).encode("ascii"), mode=0o600)
        except OSError as error:
            hint = "free some space or make its folder writable, and try again"
            raise StoreError(f"cannot write {self._file}: {error.strerror}", hint) from error
        self._seen = seen


def _is_valid(seen: _Seen, now: float) -> bool:
    return now - seen.last <= IDLE_SECONDS and now - seen.since <= LIFE_SECONDS


def _load(file: Path) -> dict[str, _Seen]:
    """Return the saved browsers; none if the file is missing or not ours, so that they sign in again."""
    try:
        document = json.loads(read_own(file, _MAX_BYTES))
    except (OSError, ValueError, UnsafeStateError):
        return {}
    if not isinstance(document, Mapping):
        return {}
    return {str(key): _Seen(*map(float, times)) for key, times in document.items() if _are_times(times)}


def _are_times(value: object) -> bool:
    return isinstance(value, list) and len(value) == len(_Seen._fields) and all(type(v) in (int, float) for v in value)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
