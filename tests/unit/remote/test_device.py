from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs

import pytest

from cairn.errors import CairnError, ServerAwayError, SignInError
from cairn.remote.connection import TeamConnection
from cairn.remote.device import DeviceCode, ask_for_code, wait_for_token
from cairn.remote.servers import TeamServer
from scripted_server import Asked, Reply, scripted

CODE = {
    "device_code": "d-1", "user_code": "WDJB-MJHT", "verification_uri": "https://example.org/device",
    "verification_uri_complete": "https://example.org/device?user_code=WDJB-MJHT", "expires_in": 900, "interval": 5,
}  # fmt: skip


class Turns:
    """A clock that only waiting moves, and the replies of a server in turn."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.now = 0.0
        self.waited: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now

    def answer(self, _: Asked) -> Reply:
        return self.replies.pop(0)


def problem(name: str) -> Reply:
    return Reply(400, {"error": name})


def wait(turns: Turns, code: DeviceCode | None = None) -> tuple[str, list[Asked]]:
    with scripted(turns.answer) as server:
        given = code or DeviceCode("https://e.org", "A", "", "d-1", 5, 900)
        token = wait_for_token(TeamConnection(TeamServer(server.url)), given, turns.sleep, turns.clock)
        return token, server.asked


def code_of(answer: Callable[[Asked], Reply]) -> DeviceCode | None:
    with scripted(answer) as server:
        return ask_for_code(TeamConnection(TeamServer(server.url)))


def test_a_server_says_which_page_to_visit() -> None:
    asked: list[Asked] = []

    def answer(request: Asked) -> Reply:
        asked.append(request)
        return Reply(document=CODE)

    code = code_of(answer)
    assert code == DeviceCode(
        "https://example.org/device", "WDJB-MJHT", "https://example.org/device?user_code=WDJB-MJHT", "d-1", 5, 900
    )
    assert (asked[0].path, parse_qs(asked[0].body.decode())) == ("/api/login/device", {"client_id": ["cairn"]})


def test_a_server_without_that_page_offers_nothing() -> None:
    assert [code_of(lambda _, status=status: Reply(status)) for status in (404, 405, 501)] == [None] * 3  # type: ignore[misc] # a lambda with a default


@pytest.mark.parametrize(
    "answer",
    [
        {**CODE, "verification_uri": "javascript:alert(1)"},
        {**CODE, "verification_uri": "https://example.org/\x1b[2J"},
        {**CODE, "user_code": ""},
        {**CODE, "user_code": "A\x1b]0;x"},
        {**CODE, "device_code": 7},
        {},
        [],
    ],
)
def test_a_page_that_cannot_be_shown_is_refused(answer: object) -> None:
    with pytest.raises(ServerAwayError):
        code_of(lambda _: Reply(document=answer))


def test_odd_times_are_replaced_by_those_of_the_standard() -> None:
    code = code_of(lambda _: Reply(document={**CODE, "interval": -1, "expires_in": 1e9}))
    assert code is not None
    assert (code.interval_seconds, code.seconds) == (5, 1_800)
    code = code_of(lambda _: Reply(document={**CODE, "interval": 10**400, "expires_in": "soon"}))
    assert code is not None
    assert (code.interval_seconds, code.seconds) == (60, 1_800)


def test_the_token_is_asked_for_until_the_person_is_done_and_slower_when_told_so() -> None:
    turns = Turns(
        problem("authorization_pending"),
        problem("slow_down"),
        problem("authorization_pending"),
        Reply(document={"access_token": "cairn_x", "token_type": "Bearer", "expires_in": 10}),
    )
    token, asked = wait(turns)
    assert token == "cairn_x"
    assert turns.waited == [5, 5, 10, 10]
    assert {request.path for request in asked} == {"/api/login/token"}
    assert parse_qs(asked[0].body.decode()) == {
        "grant_type": ["urn:ietf:params:oauth:grant-type:device_code"],
        "device_code": ["d-1"],
        "client_id": ["cairn"],
    }


def test_a_server_that_is_away_for_a_moment_is_asked_less_often() -> None:
    busy = Reply(503, {"code": "busy", "message": "too many people are signing in", "hint": ""})
    turns = Turns(Reply(302), busy, Reply(document={"access_token": "cairn_x"}))
    assert wait(turns)[0] == "cairn_x"
    assert turns.waited == [5, 10, 20]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (problem("access_denied"), "refused"),
        (problem("expired_token"), "in time"),
        (problem("invalid_grant"), "ended the attempt"),
        (Reply(404, raw=b"?"), "ended the attempt"),
        (Reply(document={"access_token": "two words"}), "sends no token"),
        (Reply(document=[]), "sends no token"),
    ],
)
def test_every_other_end_says_how_to_go_on(reply: Reply, words: str) -> None:
    with pytest.raises(SignInError, match=words) as raised:
        wait(Turns(reply))
    assert raised.value.hint.action == "login"


def test_nobody_is_waited_for_longer_than_the_code_holds() -> None:
    turns = Turns(*(problem("authorization_pending") for _ in range(10)))
    with pytest.raises(CairnError, match="in time"):
        wait(turns, DeviceCode("https://e.org", "A", "", "d-1", 5, 20))
    assert turns.now <= 20
    assert json.dumps(turns.waited) == "[5, 5, 5, 5]"
