"""The interface of embedding servers' protocols: texts to requests, answers to vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Document = Mapping[str, Any]


class Wire(Protocol):
    """A server's protocol, as it documents it. `max_texts` is the most that a request may hold."""

    max_texts: int

    def url(self, base_url: str, model: str) -> str:
        """Return where a batch is sent."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers with the key."""
        ...

    def body(self, model: str, texts: Sequence[str], dimensions: int, *, query: bool) -> dict[str, Any]:
        """Return the request; with `dimensions` 0, the model decides their number."""
        ...

    def vectors(self, document: Document) -> list[Any]:
        """Return the vectors in the order of the texts.

        Raises:
            KeyError, TypeError: if the answer is not shaped as documented.
        """
        ...
