"""Capabilities: permissions from the database, signed for a few seconds, and checked before each read of a project."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from cairn.errors import AccessError, BusyError

LONGEST_SECONDS = 60.0
KEY_SECONDS = 600.0  # lifetime of a key; the previous one stays valid for as long as what it signed


class Capability(NamedTuple):
    """Lets the bearer of a token read one generation of a branch for a while.

    Attributes:
        holder: the hash of the token.
        branch_id, generation: what may be read.
        digest: of the generation's content, because its number may recur if the database is restored.
        expires_at: on the node's monotonic clock.
        key: the number of the signing key.
        signature: of all of the above.
    """

    holder: bytes
    branch_id: int
    generation: int
    digest: bytes
    expires_at: float
    key: int
    signature: bytes


class Signer:
    """Signs capabilities with keys that never leave this process or touch a disk.

    Args:
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: dict[int, bytes] = {}
        self._newest = 0
        self._made_at = 0.0

    def issue(self, holder: bytes, branch_id: int, generation: int, digest: bytes) -> Capability:
        """Return a capability; only call this for what the database has just allowed."""
        with self._lock:
            now = self._clock()
            if not self._keys or now - self._made_at >= KEY_SECONDS:
                self._newest += 1
                self._made_at = now
                self._keys = {
                    **{number: key for number, key in self._keys.items() if number == self._newest - 1},
                    self._newest: secrets.token_bytes(32),
                }
            unsigned = Capability(holder, branch_id, generation, digest, now + LONGEST_SECONDS, self._newest, b"")
            return unsigned._replace(signature=_signature(self._keys[self._newest], unsigned))

    def is_over(self, capability: Capability) -> bool:
        """Return whether a capability has expired."""
        return self._clock() >= capability.expires_at

    def check(self, capability: Capability, holder: bytes, branch_id: int, generation: int, digest: bytes) -> None:
        """Make sure that a capability allows a read of a generation now.

        Args:
            capability: the presented one.
            holder: the hash of the request's token.
            branch_id, generation, digest: what is to be read.

        Raises:
            AccessError: if it does not.
            BusyError: if it has expired.
        """
        key = self._keys.get(capability.key, b"")
        is_ours = bool(key) and hmac.compare_digest(_signature(key, capability), capability.signature)
        if not is_ours or capability[:4] != (holder, branch_id, generation, digest):
            raise AccessError("this project was not opened for this token", "ask again; if it stays, tell an operator")
        if self.is_over(capability):
            raise BusyError("it took too long to open this project", "ask again")


def _signature(key: bytes, capability: Capability) -> bytes:
    return hmac.digest(key, repr(capability[:6]).encode(), "sha256")
