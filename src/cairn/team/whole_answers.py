"""A connection that sends the head and the body of an answer in one piece, or neither.

A proxy asks another node again if this one ends before it has answered. Once it has passed on the head of an answer it
cannot: so a node that is killed should not have sent the one without the other.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol


class GatheringTransport:
    """A transport that sends what is written in one turn of the event loop as one piece.

    Args:
        transport: what sends it; everything but writing and closing is its own.
        loop: whose turns count.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a transport has
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send some bytes at the end of this turn."""
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(data)

    def close(self) -> None:
        """Close the connection after what was written."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        data, self._parts = b"".join(self._parts), []
        if data and not self._transport.is_closing():
            self._transport.write(data)


class WholeAnswers(H11Protocol):
    """uvicorn's connection, with such a transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn narrows it, too
        """Accept a connection."""
        gathering = GatheringTransport(transport, self.loop)
        super().connection_made(cast(asyncio.Transport, gathering))
