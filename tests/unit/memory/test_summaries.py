from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cairn.errors import ProviderError
from cairn.index.state_dir import StateDir
from cairn.memory.chat import ChatClient, ChatReply
from cairn.memory.digest import Digests
from cairn.memory.lifecycle import Lifecycle
from cairn.memory.moments import Moment, ToolCall
from cairn.memory.sessions import Sessions
from cairn.memory.store import By, MemoryStore
from cairn.memory.summaries import Summaries, UnsureMemory, day_of, parse_summary, read_meter
from cairn.memory_settings import MemorySettings
from cairn.storage.memory import chat_db
from cairn.storage.memory.chat_db import ChatCall
from chat_server import ChatServer
from memory_histories import Clock

GOOD = {"title": "Explained the cache", "summary": "The cache is cleared at night.", "candidates": []}
PERSON = By("person:ada", "person")


class Unsure:
    """Candidates in a list."""

    def __init__(self, *candidates: UnsureMemory) -> None:
        self.candidates = candidates
        self.settled: list[tuple[int, str | None, str]] = []

    def of_session(self, session: str) -> Sequence[UnsureMemory]:
        return self.candidates

    def settle(self, session: str, id: int, type: str | None, by: By) -> None:
        self.settled.append((id, type, by.authority))


class Memory:
    """A memory whose sessions are summarised by a model at an address."""

    def __init__(self, folder: Path, url: str, unsure: Unsure | None = None, **settings: Any) -> None:  # noqa: ANN401 - any mix
        values = {"chat_provider": "ollama", "chat_model": "tiny", "chat_url": url, **settings}
        self.settings = MemorySettings(**values)
        self.clock = Clock()
        self.store = MemoryStore(StateDir(folder / "state"), now=self.clock)
        self.digests = Digests(self.store, folder)
        self.client = ChatClient(self.settings, {"MY_KEY": "k-123", "OPENAI_API_KEY": "the provider's own"})
        self.summaries = Summaries(self.store, self.digests, self.settings, self.client.ask, unsure, self.clock)
        self.sessions = Sessions(self.store, folder, [self.digests.hear, self.summaries.hear], now=self.clock)

    def finish(self, session: str = "s1", prompt: str = "explain the cache") -> str:
        read = ToolCall("read", "Read", "cache.py", "ok")
        for event, text, call in (("prompt", prompt, None), ("after-tool", "", read), ("session-end", "", None)):
            self.clock.seconds += 1
            moment = Moment(f"{event} {self.clock.seconds}", event, session, "a", self.clock.seconds, text, call)
            assert self.sessions.record(moment) is not None
        return self.text(session)

    def text(self, session: str = "s1") -> str:
        digest = self.digests.find(session)
        assert digest is not None
        return digest.text

    def calls(self) -> list[ChatCall]:
        with self.store.reading() as connection:
            return chat_db.calls(connection)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    server = ChatServer(json.dumps(GOOD))
    yield server
    server.close()


def test_a_model_behind_ollama_writes_title_and_summary_before_the_facts(tmp_path: Path, server: ChatServer) -> None:
    memory = Memory(tmp_path, server.url)
    memory.finish()
    (call,) = memory.summaries.run()
    assert memory.text().splitlines() == [
        "Explained the cache",
        "The cache is cleared at night.",
        "Asked: explain the cache",
    ]
    assert (call.state, call.model, call.input_tokens, call.output_tokens) == ("done", "ollama:tiny", 300, 40)
    ((path, request, key),) = server.requests
    assert (path, request["model"], request["stream"], key) == ("/api/chat", "tiny", False, "")
    assert json.loads(request["messages"][1]["content"])["digest"].startswith("explain the cache")
    digest = memory.digests.find("s1")
    assert digest is not None
    event = memory.store.history(digest.id)[-1]
    assert (event.actor, event.authority) == ("machine:ollama:tiny", "rule")


def test_a_server_that_speaks_as_openai_does_gets_the_key_that_was_named_for_it(
    tmp_path: Path, server: ChatServer
) -> None:
    memory = Memory(
        tmp_path, f"{server.url}/v1", chat_provider="openai", chat_api_key_env="MY_KEY",
        chat_price_per_million_tokens=4.0,
    )  # fmt: skip
    memory.finish()
    memory.summaries.run()
    ((path, _, key),) = server.requests
    assert (path, key) == ("/v1/chat/completions", "Bearer k-123")
    meter = read_meter(memory.store, day_of(memory.clock.seconds))
    assert (meter.n_calls, meter.n_failed, meter.input_tokens, meter.output_tokens) == (1, 0, 200, 50)
    assert meter.cost == pytest.approx(0.001)


def test_another_server_does_not_get_the_providers_own_key(tmp_path: Path, server: ChatServer) -> None:
    memory = Memory(tmp_path, f"{server.url}/v1", chat_provider="openai")
    memory.finish()
    memory.summaries.run()
    assert server.requests[0][2] == ""


def test_each_session_is_asked_about_once_in_a_thread_of_its_own(tmp_path: Path, server: ChatServer) -> None:
    memory = Memory(tmp_path, server.url)
    for session in ("s1", "s2", "s3"):
        memory.finish(session)
    memory.summaries.begin()
    memory.summaries.wait(20)
    assert memory.summaries.run() == []
    assert len(server.requests) == 3
    assert [call.state for call in memory.calls()] == ["done", "done", "done"]


@pytest.mark.parametrize(
    "text",
    [
        "I could not do that.",
        "[]",
        "{not json}",
        '{"title": "t"}',
        '{"title": 1, "summary": "s"}',
        '{"title": "t", "summary": ""}',
        '{"title": "t", "summary": "' + "s " * 900 + '"}',
        '{"title": "t", "summary": "s", "candidates": {}}',
        '{"title": "t", "summary": "s", "candidates": [{"id": 9, "keep": true, "type": "gotcha"}]}',
        '{"title": "t", "summary": "s", "candidates": [{"id": 1, "keep": "yes", "type": "gotcha"}]}',
        '{"title": "t", "summary": "s", "candidates": [{"id": 1, "keep": true, "type": "session_summary"}]}',
        "{" * 5_000 + "}" * 5_000,
    ],
)
def test_nonsense_leaves_the_digest_and_the_candidates(tmp_path: Path, server: ChatServer, text: str) -> None:
    unsure = Unsure(UnsureMemory(1, "gotcha", "the cache is cold"))
    memory = Memory(tmp_path, server.url, unsure)
    digest = memory.finish()
    server.text = text
    (call,) = memory.summaries.run()
    assert (call.state, call.note) == ("failed", "the answer is not what was asked for")
    assert memory.text() == digest
    assert unsure.settled == []


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, "oops", "answers with status 500"),
        (401, "", "refuses the key"),
        (302, "", "answers with status 302"),
        (200, "<html>", "cannot be read"),
        (200, '{"message": {}}', "cannot be read"),
        (200, '{"message": {"content": null}}', "without text"),
        (200, "x" * 1_100_000, "longer than 1 MB"),
    ],
)
def test_an_error_leaves_the_digest(tmp_path: Path, server: ChatServer, status: int, body: str, words: str) -> None:
    memory = Memory(tmp_path, server.url)
    digest = memory.finish()
    server.status, server.body = status, body
    (call,) = memory.summaries.run()
    assert call.state == "failed"
    assert words in call.note
    assert memory.text() == digest


def test_a_server_that_does_not_answer_in_time_leaves_the_digest(tmp_path: Path, server: ChatServer) -> None:
    memory = Memory(tmp_path, server.url, chat_timeout_seconds=0.2)
    digest = memory.finish()
    server.stalls = True
    (call,) = memory.summaries.run()
    assert (call.state, memory.text()) == ("failed", digest)
    assert call.input_tokens > 0


def test_a_server_that_is_not_there_leaves_the_digest(tmp_path: Path, server: ChatServer) -> None:
    memory = Memory(tmp_path, server.url)
    server.close()
    digest = memory.finish()
    (call,) = memory.summaries.run()
    assert "does not answer" in call.note
    assert memory.text() == digest


def test_a_key_that_is_missing_is_said_and_costs_nothing(tmp_path: Path, server: ChatServer) -> None:
    memory = Memory(tmp_path, server.url, chat_api_key_env="NOT_SET")
    memory.finish()
    (call,) = memory.summaries.run()
    assert (call.state, call.input_tokens) == ("failed", 0)
    assert "NOT_SET is not set" in call.note
    assert server.requests == []


def test_beyond_the_tokens_of_the_day_nothing_is_asked_until_the_next(tmp_path: Path, server: ChatServer) -> None:
    memory = Memory(tmp_path, server.url, chat_daily_tokens=2_300)
    for session in ("s1", "s2", "s3"):
        memory.finish(session)
    server.text = json.dumps(GOOD)
    states = [call.state for call in memory.summaries.run()]
    assert states == ["done", "done", "skipped"]
    memory.clock.seconds += 86_400
    memory.finish("s4")
    assert [call.state for call in memory.summaries.run()] == ["done"]


def test_a_budget_of_none_asks_nothing(tmp_path: Path, server: ChatServer) -> None:
    memory = Memory(tmp_path, server.url, chat_daily_tokens=0)
    memory.finish()
    assert [call.state for call in memory.summaries.run()] == ["skipped"]
    assert server.requests == []


def test_candidates_are_kept_and_dropped_as_the_model_says_with_the_authority_of_a_rule(
    tmp_path: Path, server: ChatServer
) -> None:
    unsure = Unsure(*(UnsureMemory(id, "gotcha", f"text {id}") for id in (1, 2, 3)))
    memory = Memory(tmp_path, server.url, unsure)
    memory.finish()
    judged = [{"id": 1, "keep": True, "type": "decision"}, {"id": 2, "keep": False}]
    server.text = f"```json\n{json.dumps(GOOD | {'candidates': judged})}\n```"
    memory.summaries.run()
    assert unsure.settled == [(1, "decision", "rule"), (2, None, "rule")]
    assert len(json.loads(server.requests[0][1]["messages"][1]["content"])["candidates"]) == 3


def test_a_digest_that_a_person_changed_meanwhile_stays_theirs(tmp_path: Path) -> None:
    memory = Memory(tmp_path, "http://127.0.0.1:1")
    memory.finish()

    def ask(system: str, question: str) -> ChatReply:
        digest = memory.digests.find("s1")
        assert digest is not None
        Lifecycle(memory.store).edit(digest.id, PERSON, text="mine")
        return ChatReply(json.dumps(GOOD))

    summaries = Summaries(memory.store, memory.digests, memory.settings, ask, now=memory.clock)
    assert [call.state for call in summaries.run()] == ["done"]
    assert memory.text() == "mine"


def test_a_secret_in_an_answer_is_not_kept(tmp_path: Path, server: ChatServer) -> None:
    token = "ghp_" + "a8B2c9D4e7F1g6H3i5J0k2L8m4N9o1P7q3R5"
    memory = Memory(tmp_path, server.url)
    memory.finish()
    server.text = json.dumps(GOOD | {"summary": f"The token is {token}."})
    memory.summaries.run()
    assert "[redacted" in memory.text()
    assert token not in memory.text()


def test_a_question_that_another_process_asked_is_not_asked_again(tmp_path: Path) -> None:
    memory = Memory(tmp_path, "http://127.0.0.1:1")
    memory.finish()

    def ask(system: str, question: str) -> ChatReply:
        assert Summaries(memory.store, memory.digests, memory.settings, ask, now=memory.clock).run() == []
        raise ProviderError("it failed", "try again")

    summaries = Summaries(memory.store, memory.digests, memory.settings, ask, now=memory.clock)
    assert [call.state for call in summaries.run()] == ["failed"]


def test_an_answer_is_found_behind_thoughts_and_polite_words() -> None:
    answer = f"<think>{{hm}}</think>Here it is:\n{json.dumps(GOOD)}\nAnything else?"
    parsed = parse_summary(answer, set())
    assert parsed is not None
    assert parsed.title == "Explained the cache"


def test_once_closed_no_further_session_is_asked_about_until_it_begins_again(tmp_path: Path) -> None:
    memory = Memory(tmp_path, "http://127.0.0.1:1")
    memory.finish("s1")
    memory.finish("s2")

    def ask(system: str, question: str) -> ChatReply:
        summaries.close()
        return ChatReply(json.dumps(GOOD))

    summaries = Summaries(memory.store, memory.digests, memory.settings, ask, now=memory.clock)
    for state in (["due", "done"], ["done", "done"]):
        summaries.begin()
        summaries.wait(20)
        assert [call.state for call in memory.calls()] == state


def test_nothing_was_spent_where_nothing_was_remembered(tmp_path: Path) -> None:
    assert read_meter(MemoryStore(StateDir(tmp_path / "state"))).n_calls == 0
    assert not (tmp_path / "state").exists()
