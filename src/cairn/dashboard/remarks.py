"""One-time remarks: what a page says after an action, but not when it is reloaded."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

_MOST = 200  # waiting remarks; each waits until the browser has followed a redirect
_TOKEN_BYTES = 9


class Remark(NamedTuple):
    """A one-time remark.

    Attributes:
        text: shown above the page.
        undone: the ids of the memories for which the action can be undone.
    """

    text: str = ""
    undone: Sequence[str] = ()


class Remarks:
    """Waiting remarks by the tokens that stand for them in URLs."""

    def __init__(self) -> None:
        self._waiting: dict[str, Remark] = {}

    def keep(self, remark: Remark) -> str:
        """Keep a remark for the next page, and return its token; the oldest is dropped if there are too many."""
        if len(self._waiting) >= _MOST:
            del self._waiting[next(iter(self._waiting))]
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._waiting[token] = remark
        return token

    def take(self, token: str) -> Remark:
        """Return the remark of a token, an empty one if it was already shown."""
        return self._waiting.pop(token, Remark())
