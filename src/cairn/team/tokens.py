"""Tokens: opaque secrets that stand for a person; only their hashes are kept."""

from __future__ import annotations

import hashlib
import secrets

_MARK = "cairn_"


def new_token() -> str:
    """Return a token that nobody can guess."""
    return _MARK + secrets.token_urlsafe(32)


def token_hash(token: str) -> bytes:
    """Return what is kept of a token; it is random, so one round is enough."""
    return hashlib.sha256(token.encode()).digest()
