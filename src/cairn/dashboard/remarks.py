"""What a page says after something was done: one time, and not again when its address is loaded again."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

_MOST = 200  # that wait; each does for as long as a browser takes to follow a redirection
_TOKEN_BYTES = 9


class Remark(NamedTuple):
    """What is said one time.

    Attributes:
        text: that stands above the page.
        undone: the ids of the memories for which it can be undone.
    """

    text: str = ""
    undone: Sequence[str] = ()


class Remarks:
    """Remarks that wait to be made, by the token that stands for each in an address."""

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
        """Return the remark that a token stands for; an empty one if it was made already."""
        return self._waiting.pop(token, Remark())
