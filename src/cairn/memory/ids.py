"""The names of observations: UUIDs that sort by time."""

from __future__ import annotations

import secrets
import uuid


def new_id(seconds: float) -> str:
    """Return a new UUIDv7 (RFC 9562) for a time in seconds since the epoch."""
    number = int(seconds * 1000) << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=number))
