"""The head and the body of an answer leave a node in one piece."""

from __future__ import annotations

import asyncio

from cairn.team.whole_answers import GatheringTransport


class Sink(asyncio.Transport):
    """Keeps what is sent."""

    def __init__(self) -> None:
        super().__init__({"peername": "p"})
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.is_closed
        self.sent.append(bytes(data))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


def test_what_is_written_in_one_turn_is_sent_in_one_piece() -> None:
    async def send() -> list[bytes]:
        sink = Sink()
        transport = GatheringTransport(sink, asyncio.get_running_loop())
        transport.write(b"head ")
        transport.write(b"body")
        assert sink.sent == []
        await asyncio.sleep(0)
        transport.write(b"next")
        await asyncio.sleep(0)
        assert transport.get_extra_info("peername") == "p"
        return sink.sent

    assert asyncio.run(send()) == [b"head body", b"next"]


def test_what_was_written_is_sent_before_the_connection_closes_and_nothing_after() -> None:
    async def send() -> list[bytes]:
        sink = Sink()
        transport = GatheringTransport(sink, asyncio.get_running_loop())
        transport.write(b"head ")
        transport.write(b"body")
        transport.close()
        transport.write(b"too late")
        await asyncio.sleep(0)
        return sink.sent

    assert asyncio.run(send()) == [b"head body"]
