"""What comes from stdin: code, as much as a request to the daemon can hold and the rest, and what a person replies."""

from __future__ import annotations

import sys

from cairn.cli.notes import printable

# The daemon takes no longer request, so only a process that answers itself reads the rest.
_MAX_SENT_BYTES = 1_000_000


def read_sent() -> str:
    """Return the part that fits into a request."""
    return _read(_MAX_SENT_BYTES)


def read_rest(max_bytes: int) -> str:
    """Return the rest, at most up to one byte beyond the limit, so that code that is too long shows."""
    return _read(max(0, max_bytes + 1 - _MAX_SENT_BYTES))


def is_anybody_here() -> bool:
    """Tell whether there is somebody at a terminal who can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask_whether(question: str) -> bool | None:
    """Return whether a person says yes to a question; None if the input ended, which is not an answer."""
    sys.stderr.write(f"{printable(question, sys.stderr)} [y/N] ")
    sys.stderr.flush()
    reply = sys.stdin.readline()
    if not reply.endswith("\n"):
        sys.stderr.write("\n")
        return None
    return reply.strip().lower() in ("y", "yes")


def _read(n_bytes: int) -> str:
    return sys.stdin.buffer.read(n_bytes).decode("utf-8", "surrogateescape")
