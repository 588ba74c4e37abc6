from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.errors import CairnError, NotFoundError, ServerAwayError, SignInError, UnreachableError
from cairn.remote.connection import MAX_ANSWER_BYTES, TeamConnection
from cairn.remote.servers import TeamServer
from certificates import self_signed
from scripted_server import Reply, scripted

SECRET = "cairn_very_secret"


_opened: list[TeamConnection] = []


@pytest.fixture(autouse=True)
def closing_all() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop().close()


def connection(url: str, seconds: float = 5.0) -> TeamConnection:
    _opened.append(TeamConnection(TeamServer(url, SECRET), connect_seconds=1.0, answer_seconds=seconds))
    return _opened[-1]


def failure(reply: Reply, seconds: float = 5.0) -> CairnError:
    """Return what a server's answer becomes, which never tells of the token."""
    with scripted(lambda _: reply) as server, pytest.raises(CairnError) as raised:
        connection(server.url, seconds).post("/api/projects/acme/shop/search", {"query": "x"})
    assert SECRET not in f"{raised.value} {raised.value.hint} {raised.value!r}"
    return raised.value


def test_a_question_carries_the_token_and_comes_back_as_json() -> None:
    with scripted(lambda _: Reply(document={"code": []})) as server:
        assert connection(server.url).post("/api/x", {"query": "ä"}) == {"code": []}
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.authorization) == ("POST", "/api/x", f"Bearer {SECRET}")
    assert json.loads(asked.body) == {"query": "ä"}


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{"])
def test_a_connection_that_ends_within_an_answer_is_tried_once_more(begun: bytes) -> None:
    def answer(listener: socket.socket) -> None:
        for reply in (begun, b'HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{"code": []}'):
            accepted, _ = listener.accept()
            with accepted:
                accepted.recv(65_536)
                accepted.sendall(reply)
                accepted.shutdown(socket.SHUT_WR)
                accepted.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=answer, args=(listener,), daemon=True)
        server.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert connection(url).post("/api/x", {"query": "x"}) == {"code": []}
        server.join(10)


def test_a_token_does_not_follow_a_redirect() -> None:
    with scripted(lambda _: Reply()) as other:
        error = failure(Reply(302, headers={"location": f"{other.url}/api/x"}))
    assert isinstance(error, ServerAwayError)
    assert "sign in to the address" in error.hint
    assert other.asked == []


def test_a_token_that_is_not_accepted_says_where_to_sign_in_again() -> None:
    error = failure(Reply(401, {"code": "access", "message": "no", "hint": ""}))
    assert isinstance(error, SignInError)
    assert error.hint.action == "login"
    assert error.hint.arguments["url"].startswith("http://127.0.0.1")


def test_a_token_for_something_else_says_so() -> None:
    error = failure(Reply(403, {"code": "scope", "message": "this token is not for reading", "hint": ""}))
    assert isinstance(error, SignInError)
    assert "not for reading" in str(error)
    assert error.hint.action == "login"


def test_an_error_about_the_question_is_that_error() -> None:
    error = failure(Reply(404, {"code": "not-found", "message": "no id \x1b[31mx", "hint": "search again"}))
    assert type(error) is NotFoundError
    assert (str(error), error.hint) == ("no id \\x1b[31mx", "search again")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(503, {"code": "busy", "message": "too many questions", "hint": ""}),
        Reply(500, raw=b"<html>"),
        Reply(404, raw=b"not here"),
        Reply(400, ["x"]),
        Reply(200, raw=b"not json"),
        Reply(200, raw=b"[" * 200_000),
        Reply(200, raw=b"null"),
        Reply(204, raw=b""),
        Reply(200, raw=b"{}", headers={"content-length": "100"}),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_said_of_the_server(reply: Reply) -> None:
    error = failure(reply, 0.5)
    assert isinstance(error, ServerAwayError)
    assert "127.0.0.1" in str(error)
    assert error.hint.action == "login"


def test_a_server_that_is_slow_or_drips_is_not_waited_for() -> None:
    for reply in (Reply(waits=True), Reply(raw=b" " * 10_000, drips=True)):
        assert "no answer within 0.3 s" in str(failure(reply, 0.3))


def test_an_answer_beyond_the_limit_is_not_read() -> None:
    assert "larger than" in str(failure(Reply(raw=b" " * (MAX_ANSWER_BYTES + 1)), 20.0))


def test_nobody_at_the_address_is_an_error_that_names_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(ServerAwayError, match=f"127.0.0.1:{port} does not answer"):
            connection(f"http://127.0.0.1:{port}").get("/api/projects")


@pytest.mark.parametrize(
    ("host", "days", "is_known", "why"),
    [
        ("127.0.0.1", 1, False, "self.signed certificate"),
        ("127.0.0.2", 1, True, "IP address mismatch"),
        ("127.0.0.1", -1, True, "certificate has expired"),
    ],
)
def test_a_certificate_that_is_not_to_be_trusted_ends_the_connection_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, host: str, days: int, is_known: bool, why: str
) -> None:
    file = tmp_path / "certificate.pem"
    context = self_signed(file, host, days)
    if is_known:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))

    with scripted(lambda _: Reply(document={}), context) as server, pytest.raises(UnreachableError) as raised:
        connection(server.url).get("/api/projects")

    assert re.search(
        rf"127\.0\.0\.1:\d+ does not answer: its certificate is not to be trusted \({why}", str(raised.value)
    )
    assert raised.value.hint.action == "login"
    assert f"{raised.value.hint}".endswith(f"cairn login {server.url}")
    assert "SSL_CERT_FILE" in raised.value.hint
    assert server.asked == []  # the token was not sent


def test_a_certificate_that_the_environment_names_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "certificate.pem"
    context = self_signed(file)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))

    with scripted(lambda _: Reply(document={"projects": []}), context) as server:
        assert connection(server.url).get("/api/projects") == {"projects": []}
        assert [asked.authorization for asked in server.asked] == [f"Bearer {SECRET}"]


@pytest.mark.parametrize(
    ("name", "value"), [("ALL_PROXY", "nonsense://127.0.0.1:9"), ("SSL_CERT_FILE", "/nowhere/certificates.pem")]
)
def test_an_environment_that_allows_no_connection_is_said_of_the_server(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UnreachableError, match="that the environment names cannot be used"):
        connection("https://cairn.example.org").get("/api/projects")


def test_why_a_connection_fails_is_said_in_the_words_of_the_system() -> None:
    with scripted(lambda _: Reply()) as server:
        url = server.url
    with pytest.raises(UnreachableError, match=r"does not answer: the connection failed \(Connection refused\)"):
        connection(url).get("/api/projects")


def test_only_a_failure_of_the_connection_says_that_no_question_would_be_answered() -> None:
    busy = Reply(503, {"code": "busy", "message": "too many questions", "hint": ""})
    assert not isinstance(failure(busy), UnreachableError)
    assert isinstance(failure(Reply(502, raw=b"<html>")), UnreachableError)
