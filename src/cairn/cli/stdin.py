"""Code from stdin: as much as a request to the daemon can hold, and the rest where no daemon answers."""

from __future__ import annotations

import sys

# The daemon takes no longer request, so only a process that answers itself reads the rest.
_MAX_SENT_BYTES = 1_000_000


def read_sent() -> str:
    """Return the part that fits into a request."""
    return _read(_MAX_SENT_BYTES)


def read_rest(max_bytes: int) -> str:
    """Return the rest, at most up to one byte beyond the limit, so that code that is too long shows."""
    return _read(max(0, max_bytes + 1 - _MAX_SENT_BYTES))


def _read(n_bytes: int) -> str:
    return sys.stdin.buffer.read(n_bytes).decode("utf-8", "surrogateescape")
