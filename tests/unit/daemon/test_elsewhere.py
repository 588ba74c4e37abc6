"""How the daemon asks servers while questions are cancelled and its user signs in again."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from cairn.daemon.elsewhere import Elsewhere
from cairn.errors import SignInError
from cairn.protocol.requests import SearchRequest
from cairn.registry import Registry
from cairn.remote.servers import SignIns, TeamServer
from cairn.remote.team import TeamProject
from cairn.runtime import StateFolder
from scripted_server import Asked, Reply, scripted

LISTING = {"projects": [{"project": "acme/shop", "branch": "main", "default": True, "commit": "c" * 40}]}
FOUND = {
    "query": "q", "mode": "hybrid", "view": "", "branch": "main", "generation": 1, "memory": [], "code": [],
    "total_tokens_available": 0, "omitted": 0, "coverage": {"indexed": 1, "eligible": 1, "pending": 0}, "took_ms": 1,
}  # fmt: skip


def test_a_cancelled_question_keeps_its_turn_until_its_thread_ends(tmp_path: Path) -> None:
    arrived, may_answer = threading.Semaphore(0), threading.Event()

    def answer(_: Asked) -> Reply:
        arrived.release()
        may_answer.wait(30)
        return Reply(document=LISTING)

    async def ask(elsewhere: Elsewhere) -> None:
        given_up = [asyncio.ensure_future(elsewhere.find("acme/shop")) for _ in range(8)]
        for _ in given_up:
            await asyncio.to_thread(arrived.acquire)
        for question in given_up:
            question.cancel()
        late = asyncio.ensure_future(elsewhere.find("acme/shop"))
        await asyncio.sleep(0.2)
        assert len(server.asked) == 8
        may_answer.set()
        assert (await late).project.name == "acme/shop"
        assert all(question.cancelled() for question in given_up)

    with scripted(answer) as server:
        folder = StateFolder(tmp_path / "state")
        SignIns(folder).keep(TeamServer(server.url, "t"))
        asyncio.run(ask(Elsewhere(Registry(folder))))


def test_who_signs_in_anew_between_two_questions_is_asked_with_the_new_token(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(document=LISTING if asked.method == "GET" else FOUND)

    async def ask(elsewhere: Elsewhere) -> None:
        found = await elsewhere.find("acme/shop")
        assert isinstance(found.project, TeamProject)
        sign_ins.keep(TeamServer(server.url, "new"))
        await elsewhere.ask(found.project, "search", SearchRequest(query="q", project="acme/shop"), found.deadline)
        assert server.asked[-1].authorization == "Bearer new"
        sign_ins.forget(server.url)
        with pytest.raises(SignInError):
            await elsewhere.ask(found.project, "search", SearchRequest(query="q", project="acme/shop"), found.deadline)

    with scripted(answer) as server:
        sign_ins = SignIns(StateFolder(tmp_path / "state"))
        sign_ins.keep(TeamServer(server.url, "old"))
        asyncio.run(ask(Elsewhere(Registry(StateFolder(tmp_path / "state")))))
