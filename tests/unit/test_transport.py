from __future__ import annotations

import socket
import threading

import pytest

from cairn.errors import DaemonError
from cairn.runtime import Runtime
from cairn.transport import ask, authority, read_reply, request_bytes


def runtime(port: int = 37_800, host: str = "127.0.0.1") -> Runtime:
    return Runtime(1, "", host, port, "1", 1, "")


def test_a_request_carries_the_token_and_closes_the_connection() -> None:
    text = request_bytes(runtime(), "secret", "POST", "/api/search", b"{}")
    head, _, body = text.partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"POST /api/search HTTP/1.1",
        b"host: 127.0.0.1:37800",
        b"connection: close",
        b"authorization: Bearer secret",
        b"content-type: application/json",
        b"content-length: 2",
    ]
    assert body == b"{}"


def test_an_address_of_ipv6_stands_in_brackets() -> None:
    assert authority(runtime(host="::1")) == "[::1]:37800"


def test_an_answer_is_read() -> None:
    reply = read_reply(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nX-A: b\r\n\r\n{}")
    assert reply == (404, {"content-length": "2", "x-a": "b"}, b"{}")


def test_an_answer_in_pieces_is_put_together() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    assert read_reply(head + b"3\r\nabc\r\na;x=1\r\n0123456789\r\n0\r\n\r\n").body == b"abc0123456789"


@pytest.mark.parametrize(
    "received",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_whole_answer_is_an_error(received: bytes) -> None:
    with pytest.raises(DaemonError):
        read_reply(received)


def test_nobody_there_is_an_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(DaemonError, match="does not answer"):
            ask(runtime(unused.getsockname()[1]), "", "GET", "/")


def test_somebody_who_says_nothing_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(DaemonError, match="does not answer"):
        ask(runtime(mute.getsockname()[1]), "", "GET", "/", timeout_seconds=0.05)


def test_somebody_else_at_the_port_is_told_from_the_daemon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def greet() -> None:
            connection, _ = other.accept()
            with connection:
                connection.recv(1_000)
                connection.sendall(b"220 mail.example.org\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(DaemonError, match="is not the daemon"):
            ask(runtime(other.getsockname()[1]), "", "GET", "/")
        thread.join()
