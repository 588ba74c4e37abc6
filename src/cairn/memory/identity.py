"""Names of sessions, and of those who act, as they are kept: without secrets, and still names."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from cairn.memory.redaction import redact

_DIGEST_CHARS = 16
_MAX_NAME_CHARS = 200


@lru_cache(maxsize=1_000)
def session_to_keep(id: str) -> str:
    """Return a session's id, or a digest in its place if it holds a secret, so that no two become one.

    Doing it again changes nothing.
    """
    id = without_halves(id)
    if redact(id).text == id:
        return id
    return f"secret-{sha256(id.encode()).hexdigest()[:_DIGEST_CHARS]}"


def actor_to_keep(actor: str) -> str:
    """Return who acts, as `KIND:NAME`, without secrets in the name."""
    kind, mark, name = actor.partition(":")
    return f"{kind}{mark}{name_to_keep(name)}"


@lru_cache(maxsize=1_000)
def name_to_keep(name: str) -> str:
    """Return the name of an agent or a person without secrets."""
    return redact(without_halves(name)).text[:_MAX_NAME_CHARS]


def without_halves(text: str) -> str:
    """Return a text without half characters, which no database takes."""
    return text.encode("utf-8", "replace").decode()
