"""The daemon behind a real socket: what only the wire shows."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from cairn.daemon.server import MAX_CONNECTIONS, Protocol
from cairn.daemon.state import Limits
from cairn.waiting import Asker
from cairn.workspace import Workspace
from serving import TOKEN, Served, make_app, serving

HEAD = f"POST /api/search HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n".encode()


class Impatient(Protocol):
    """Waits for the head of a request for as long as a test can."""

    head_seconds = 0.2


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "tax.py").write_text("def tax(price):\n    return price\n")
    app = make_app(tmp_path / "state", root, limits=Limits(body_seconds=0.2))
    with serving(app, Impatient) as found:
        yield found


def error_of(answer: bytes, status: int) -> str:
    """Return the code of an error on the wire."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode()), answer
    document = json.loads(body)
    assert set(document) == {"code", "message", "hint"}
    return str(document["code"])


def test_a_search_is_answered(served: Served) -> None:
    status, document = served.ask("POST", "/api/search", {"query": "tax"})
    assert status == 200
    assert document["code"][0]["name"] == "tax"


def test_several_requests_go_over_one_connection(served: Served) -> None:
    text = b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n"
    last = b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert served.say(text + text + last).count(b"HTTP/1.1 200 OK") == 3


def test_answers_on_a_kept_connection_are_sent_at_once(tmp_path: Path) -> None:
    at_once: list[int] = []

    class Watched(Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in `Protocol`
            connection = transport.get_extra_info("socket")
            at_once.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            super().connection_made(transport)

    with serving(make_app(tmp_path / "state"), Watched) as found:
        found.ask("GET", "/api/health")
    assert at_once == [1]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"GET",
        b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n",
        b"GET /api/health HTTP/1.1\r\nx: " + b"y" * 5_000,
    ],
    ids=["nothing", "a word", "half a head", "half a line"],
)
def test_a_head_that_does_not_come_ends_the_connection(served: Served, text: bytes) -> None:
    assert error_of(served.say(text), 408) == "slow"


def test_a_head_that_comes_a_letter_at_a_time_ends_the_connection(served: Served) -> None:
    with served.connect() as connection:
        connection.settimeout(0.02)
        received = b""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                connection.sendall(b"x")
                chunk = connection.recv(1_000)
            except TimeoutError:
                continue
            except OSError:
                break
            if not chunk:
                break
            received += chunk
        else:
            pytest.fail("the connection was still open")
    assert not received or error_of(received, 408) == "slow"


def test_a_second_request_on_a_connection_must_come_at_once_too(served: Served) -> None:
    answer = served.say(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /api/he")
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in answer


def test_a_body_that_does_not_come_ends_the_connection(served: Served) -> None:
    assert error_of(served.say(HEAD + b"content-length: 100\r\n\r\n{"), 408) == "slow"


def test_many_slow_connections_keep_nobody_waiting(served: Served) -> None:
    slow = [served.connect() for _ in range(50)]
    try:
        for connection in slow:
            connection.sendall(b"GET /api/health HTTP/1.1\r\nx: ")
        assert served.ask("GET", "/api/status")[0] == 200
    finally:
        for connection in slow:
            connection.close()


def test_more_connections_than_the_limit_are_turned_away_and_the_rest_is_served(tmp_path: Path) -> None:
    with serving(make_app(tmp_path / "state")) as patient:
        held = [patient.connect() for _ in range(MAX_CONNECTIONS)]
        try:
            with patient.connect() as one_more, suppress(ConnectionResetError):
                assert one_more.recv(100) == b""
            held.pop().close()
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:  # until the server has seen that one left
                try:
                    answer = patient.say(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
                except ConnectionResetError:
                    continue
                if answer.startswith(b"HTTP/1.1 200"):
                    return
            pytest.fail("nobody was served any more")
        finally:
            for connection in held:
                connection.close()


@pytest.mark.parametrize("chunked", [True, False])
def test_a_gigabyte_is_refused_before_it_is_read(served: Served, chunked: bool) -> None:
    n_bytes = 1_000_000_000
    kind = b"transfer-encoding: chunked\r\n\r\n" if chunked else f"content-length: {n_bytes}\r\n\r\n".encode()
    piece = b"x" * 65_536
    if chunked:
        piece = f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    sent = 0
    received = b""
    with served.connect() as connection:
        connection.sendall(HEAD + kind)
        try:
            while sent < n_bytes:
                connection.sendall(piece)
                sent += len(piece)
        except OSError:  # the daemon hung up
            pass
        try:
            while chunk := connection.recv(65_536):
                received += chunk
        except OSError:
            pass
    assert sent < 50_000_000
    assert not received or error_of(received, 413) == "too-large"
    assert served.ask("GET", "/api/status")[1]["usage"]["memory_mb"] < 1_000


@pytest.mark.parametrize(
    "text",
    [
        b"GARBAGE\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nx: a\r\n b: folded\r\n\x00\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\n\r\n",
        b"GET /\r\nSet-Cookie: a=b HTTP/1.1\r\nhost: localhost\r\n\r\n",
        HEAD + b"content-length: 5\r\ncontent-length: 6\r\n\r\n{}",
        HEAD + b"content-length: -1\r\n\r\n{}",
        HEAD + b"content-length: 99999999999999999999\r\n\r\n{}",
    ],
    ids=["no http", "no header", "a null byte", "two hosts", "no host", "a line break", "two lengths",
         "a negative length", "a huge length"],
)  # fmt: skip
def test_what_is_no_proper_request_is_refused(served: Served, text: bytes) -> None:
    head, _, body = served.say(text).partition(b"\r\n\r\n")
    assert head.split(b" ")[1][:1] == b"4", head
    assert b"set-cookie" not in head.lower()
    assert set(json.loads(body)) == {"code", "message", "hint"}


def test_a_huge_header_is_refused_before_it_has_all_come(served: Served) -> None:
    answer = served.say(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 50_000_000 + b"\r\n\r\n")
    assert not answer or answer.split(b" ")[1][:1] == b"4"  # who still sends may miss the answer
    assert served.ask("GET", "/api/status")[1]["usage"]["memory_mb"] < 1_000


@pytest.mark.parametrize(
    "path", ["/api/x%0d%0aset-cookie:%20a=b", "/api/%00", "/..%2f..%2fetc/passwd", "/%ff", "//evil"]
)
def test_nothing_of_an_address_gets_into_headers_of_the_answer(served: Served, path: str) -> None:
    text = f"GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\r\n"
    answer = served.say(text.encode())
    assert error_of(answer, 404) == "route"
    assert b"set-cookie" not in answer.partition(b"\r\n\r\n")[0].lower()


def test_a_huge_head_ends_the_connection(served: Served) -> None:
    received = b""
    with served.connect() as connection, suppress(ConnectionError):  # the daemon hung up before all was sent
        connection.sendall(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 1_000_000 + b"\r\n\r\n")
        while chunk := connection.recv(65_536):
            received += chunk
    assert not received or error_of(received, 400) == "request"
    assert served.ask("GET", "/api/status")[0] == 200


def test_an_upgrade_is_not_taken(served: Served) -> None:
    text = b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n"
    assert served.say(text).startswith(b"HTTP/1.1 200")


def test_the_token_is_in_no_log(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        served.ask("POST", "/api/search", {"query": "tax"})
        served.ask("POST", "/api/search", {"query": "tax"}, token="x")
        served.say(b"GARBAGE " + TOKEN.encode() + b"\r\n\r\n")
    assert TOKEN not in caplog.text


def test_a_hundred_requests_at_once_are_all_answered(served: Served) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: served.ask("POST", "/api/search", {"query": "tax"}), range(100)))
    assert {status for status, _ in answers} == {200}
    assert all(document["code"][0]["name"] == "tax" for _, document in answers)


def test_what_is_under_way_is_answered_before_the_daemon_ends(served: Served) -> None:
    begun = threading.Event()
    held = threading.Event()

    def hold_graph(done: int, total: int) -> None:
        begun.set()
        held.wait(30)

    def hold(workspace: Workspace) -> None:
        workspace.graph.callers("tax", progress=hold_graph)

    loop_work = threading.Thread(target=lambda: served.app.daemon.projects._open[root].run(hold, Asker(), fresh=False))
    served.ask("POST", "/api/search", {"query": "tax"})
    (root,) = served.app.daemon.projects._open
    loop_work.start()
    begun.wait(30)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(served.ask, "POST", "/api/graph/callers", {"symbol": "tax"})  # waits for the graph
        while not served.app.daemon.projects.states()[0].waiting:
            time.sleep(0.001)
        assert served.ask("POST", "/api/shutdown", {})[0] == 200
        held.set()
        assert waiting.result(30)[0] == 200
    loop_work.join()
