"""The names of observations: UUIDs that sort by time, and the short handles that people and agents use."""

from __future__ import annotations

import re
import secrets
import uuid

HANDLE = "m_"
_DIGITS = 10  # at random: among 10,000 memories, two have the same ten once in 20,000 projects
_FORM = re.compile(rf"{HANDLE}[0-9a-f]{{4,12}}")


def new_id(seconds: float) -> str:
    """Return a new UUIDv7 (RFC 9562) for a time in seconds since the epoch."""
    number = int(seconds * 1000) << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=number))


def handle_of(id: str) -> str:
    """Return the short name of an observation, such as `m_0123456789`."""
    return HANDLE + id[-_DIGITS:]


def is_handle(text: str) -> bool:
    """Tell whether a text is a short name; fewer or more of the last digits do as well."""
    return _FORM.fullmatch(text) is not None
