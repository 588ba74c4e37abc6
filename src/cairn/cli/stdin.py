"""Code from stdin: as much as a request to the daemon may hold, and the rest where no daemon answers."""

from __future__ import annotations

import sys

# The daemon takes no request that is longer, so the rest is read only by a process that answers itself.
_MAX_SENT_BYTES = 1_000_000


def read_sent() -> str:
    """Return what goes into a request."""
    return _read(_MAX_SENT_BYTES)


def read_rest(max_bytes: int) -> str:
    """Return what follows: one byte more than is taken, so that what is too long shows, and no more."""
    return _read(max(0, max_bytes + 1 - _MAX_SENT_BYTES))


def _read(n_bytes: int) -> str:
    return sys.stdin.buffer.read(n_bytes).decode("utf-8", "surrogateescape")
