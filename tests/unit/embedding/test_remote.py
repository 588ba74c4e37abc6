from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path

import numpy as np
import pytest

from cairn.embedding.chain import fingerprint_of, max_chars_of, prefixes_of
from cairn.embedding.github import GitHubWire
from cairn.embedding.google import GoogleWire
from cairn.embedding.keys import find_key
from cairn.embedding.local import LocalEmbedder
from cairn.embedding.ollama import OllamaWire
from cairn.embedding.openai import OpenAIWire
from cairn.embedding.providers import open_model
from cairn.embedding.remote import MAX_ATTEMPTS, Pace, RemoteEmbedder, Waiting, retry_after_seconds
from cairn.embedding.wire import Wire
from cairn.errors import ProviderError, ProviderKeyError
from cairn.model_providers import PROVIDERS
from cairn.model_settings import ModelSettings
from embedding_server import EmbeddingServer, Reply, vector_of

KEY = "sk-this-is-secret-0123456789"


class Slept:
    """A clock that does not wait, and dice that always fall the same way."""

    def __init__(self, dice: float = 0.5) -> None:
        self.seconds: list[float] = []
        self.time = 100.0
        self.waiting = Waiting(now=lambda: self.time, sleep=self.sleep, random=lambda: dice)

    def sleep(self, seconds: float, stop: threading.Event) -> None:
        self.seconds.append(seconds)
        self.time += seconds


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as one:
        yield one


def make(server: EmbeddingServer, slept: Slept | None = None, **changes: object) -> RemoteEmbedder:
    values: dict[str, object] = {"provider": "ollama", "model": "nomic-embed-text", "url": server.url, "concurrency": 1}
    settings = replace(ModelSettings(), **{**values, **changes})  # type: ignore[arg-type] # any setting
    wires: dict[str, Wire] = {
        "ollama": OllamaWire(),
        "openai": OpenAIWire(),
        "google": GoogleWire(),
        "github": GitHubWire(),
    }
    return RemoteEmbedder(
        settings,
        wires[settings.provider],
        fingerprint_of(settings),
        prefixes_of(settings),
        max_chars_of(settings),
        lambda: find_key(settings, {"CAIRN_TEST_KEY": KEY}),
        (slept or Slept()).waiting,
    )


# -- protocols --------------------------------------------------------------------------------------------------------


def test_ollama_is_asked_as_documented(server: EmbeddingServer) -> None:
    vectors = make(server).embed_documents(["one thing", "another"])
    (asked,) = server.asked
    assert asked.path == "/api/embed"
    assert asked.body == {
        "model": "nomic-embed-text",
        "input": ["search_document: one thing", "search_document: another"],
        "truncate": True,
    }
    assert "authorization" not in asked.headers
    assert vectors.shape == (2, 64)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


def test_openai_is_asked_as_documented_and_its_indices_are_minded(server: EmbeddingServer) -> None:
    embedder = make(
        server, provider="openai", model="text-embedding-3-small", url=f"{server.url}/v1/", dimensions=16,
        api_key_env="CAIRN_TEST_KEY",
    )  # fmt: skip
    vectors = embedder.embed_documents(["alpha", "beta gamma"])
    (asked,) = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {
        "model": "text-embedding-3-small", "input": ["alpha", "beta gamma"], "encoding_format": "float",
        "dimensions": 16,
    }  # fmt: skip
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    expected = np.array([vector_of(text, 16) for text in ("alpha", "beta gamma")])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-5)


def test_github_is_asked_as_documented(server: EmbeddingServer) -> None:
    embedder = make(
        server, provider="github", model="openai/text-embedding-3-small", url=f"{server.url}/inference",
        api_key_env="CAIRN_TEST_KEY",
    )  # fmt: skip
    vectors = embedder.embed_documents(["alpha", "beta gamma"])
    (asked,) = server.asked
    assert asked.path == "/inference/embeddings"
    assert asked.body == {
        "model": "openai/text-embedding-3-small", "input": ["alpha", "beta gamma"], "encoding_format": "float",
    }  # fmt: skip
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["x-github-api-version"] == "2022-11-28"
    np.testing.assert_array_equal(vectors[0].argmax(), np.argmax(vector_of("alpha", 64)))


def test_a_limit_of_github_is_waited_for_and_a_days_limit_ends_the_run(server: EmbeddingServer) -> None:
    slept = Slept()
    limit = '{"error": {"code": "RateLimitReached", "message": "Rate limit of 15 per 60s exceeded."}}'
    server.replies.append(Reply(429, limit, {"Retry-After": "7"}))
    embedder = make(server, slept, provider="github", model="openai/text-embedding-3-small")
    embedder.embed_documents(["alpha"])
    assert slept.seconds == [7.0]
    server.replies.append(Reply(429, limit, {"Retry-After": "60000"}))
    with pytest.raises(ProviderError, match="Rate limit of 15"):
        embedder.embed_documents(["alpha"])


def test_githubs_own_address_is_asked_one_request_at_a_time_and_not_too_often() -> None:
    own = ModelSettings("github", "openai/text-embedding-3-small", concurrency=8)
    assert (own.at_once, own.per_minute) == (1, 15)
    assert replace(own, requests_per_minute=5).per_minute == 5
    elsewhere = replace(own, url="http://localhost:1")
    assert (elsewhere.at_once, elsewhere.per_minute) == (8, 0)


def test_google_is_asked_as_documented_with_the_key_in_a_header(server: EmbeddingServer) -> None:
    embedder = make(
        server, provider="google", model="gemini-embedding-001", url=f"{server.url}/v1beta", dimensions=8,
        api_key_env="CAIRN_TEST_KEY",
    )  # fmt: skip
    embedder.embed_documents(["a document"])
    embedder.embed_query("a query")
    document, query = server.asked
    assert document.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert document.body == {
        "requests": [
            {
                "model": "models/gemini-embedding-001",
                "content": {"parts": [{"text": "a document"}]},
                "taskType": "RETRIEVAL_DOCUMENT",
                "outputDimensionality": 8,
            }
        ]
    }
    assert query.body["requests"][0]["taskType"] == "CODE_RETRIEVAL_QUERY"
    assert document.headers["x-goog-api-key"] == KEY
    assert KEY not in document.path


def test_a_newer_gemini_model_takes_the_task_as_words(server: EmbeddingServer) -> None:
    embedder = make(server, provider="google", model="gemini-embedding-2", url=server.url)
    embedder.embed_query("sort a list")
    (asked,) = server.asked
    assert "taskType" not in asked.body["requests"][0]
    assert asked.texts == ["task: code retrieval | query: sort a list"]


def test_a_query_has_its_own_prefix(server: EmbeddingServer) -> None:
    make(server).embed_query("where is it")
    make(server, query_prefix="Q: ", document_prefix="").embed_query("where is it")
    assert server.texts == ["search_query: where is it", "Q: where is it"]


def test_vectors_longer_than_asked_for_are_cut_and_scaled_anew(server: EmbeddingServer) -> None:
    server.replies.append(Reply(n_dimensions=64))  # a server that does not know `dimensions`
    vectors = make(server, dimensions=16).embed_documents(["alpha beta"])
    assert vectors.shape == (1, 16)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


# -- batches ----------------------------------------------------------------------------------------------------------


def test_texts_go_in_batches_several_at_a_time_and_come_back_in_order(server: EmbeddingServer) -> None:
    server.replies.extend(Reply(delay=0.1) for _ in range(4))
    texts = [f"word{chr(97 + number)}" for number in range(20)]
    vectors = make(server, batch_size=3, concurrency=4, document_prefix="").embed_documents(texts)
    assert sorted(len(one.texts) for one in server.asked) == [2, 3, 3, 3, 3, 3, 3]
    assert 2 <= server.most_at_once <= 4
    expected = np.array([vector_of(text, 64) for text in texts])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-5)


def test_a_batch_has_no_more_texts_than_the_protocol_takes(server: EmbeddingServer) -> None:
    make(server, provider="google", url=server.url, batch_size=500).embed_documents(["text"] * 250)
    assert [len(one.texts) for one in server.asked] == [100, 100, 50]


def test_texts_are_cut_to_what_the_model_takes(server: EmbeddingServer) -> None:
    make(server, max_input_tokens=100).embed_documents(["x" * 1000])
    assert len(server.texts[0]) == 300


def test_a_batch_that_is_too_large_is_halved(server: EmbeddingServer) -> None:
    server.max_texts = 2
    vectors = make(server, batch_size=8).embed_documents([f"text {number}" for number in range(8)])
    assert vectors.shape == (8, 64)


def test_a_text_that_is_too_long_is_cut_in_half(server: EmbeddingServer) -> None:
    server.max_chars = 300
    vectors = make(server, batch_size=8).embed_documents(["short", "long " * 200])
    assert vectors.shape == (2, 64)
    assert max(len(text) for text in server.asked[-1].texts) <= 300


def test_no_text_asks_nobody(server: EmbeddingServer) -> None:
    assert make(server).embed_documents([]).shape == (0, 0)
    assert server.asked == []


# -- failures ---------------------------------------------------------------------------------------------------------


def test_a_server_that_is_busy_is_asked_again_after_a_growing_random_wait(server: EmbeddingServer) -> None:
    slept = Slept(dice=1.0)
    server.replies.extend([Reply(500, "oops"), Reply(503, "busy"), Reply(502, "")])
    assert make(server, slept).embed_documents(["text"]).shape == (1, 64)
    assert slept.seconds == [0.5, 1.0, 2.0]


def test_the_wait_is_drawn_at_random(server: EmbeddingServer) -> None:
    slept = Slept(dice=0.25)
    server.replies.extend([Reply(500, "oops"), Reply(500, "oops")])
    make(server, slept).embed_documents(["text"])
    assert slept.seconds == [0.125, 0.25]


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "7"}, "{}", 7.0),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, "{}", 1.5),
        ({}, '{"error": {"code": 429, "details": [{"retryDelay": "34s"}]}}', 34.0),
    ],
    ids=["seconds", "milliseconds", "google"],
)
def test_what_the_server_asks_to_wait_is_waited(
    server: EmbeddingServer, headers: dict[str, str], body: str, seconds: float
) -> None:
    slept = Slept()
    server.replies.append(Reply(429, body, headers))
    make(server, slept).embed_documents(["text"])
    assert slept.seconds == [seconds]


def test_a_date_to_wait_for_is_understood() -> None:
    assert retry_after_seconds({"retry-after": formatdate(time.time() + 60, usegmt=True)}) == pytest.approx(60, abs=2)
    assert retry_after_seconds({"retry-after": "soon"}) is None


def test_a_server_that_asks_for_an_hour_is_given_up(server: EmbeddingServer) -> None:
    slept = Slept()
    server.replies.append(Reply(429, '{"error": "slow down"}', {"Retry-After": "3600"}))
    with pytest.raises(ProviderError, match="asks to wait 3600 s"):
        make(server, slept).embed_documents(["text"])
    assert slept.seconds == []


def test_a_server_that_stays_busy_is_given_up(server: EmbeddingServer) -> None:
    server.replies.extend(Reply(503, "busy") for _ in range(20))
    with pytest.raises(ProviderError, match=f"503: busy .asked {MAX_ATTEMPTS} times"):
        make(server).embed_documents(["text"])
    assert len(server.asked) == MAX_ATTEMPTS


def test_a_quota_that_is_used_up_is_not_asked_for_again(server: EmbeddingServer) -> None:
    body = '{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}'
    server.replies.append(Reply(429, body))
    with pytest.raises(ProviderError, match="You exceeded your current quota"):
        make(server).embed_documents(["text"])
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(cut=True), "incomplete"),
        (Reply(body='{"embeddings": []}'), "0 vectors for 1 texts"),
        (Reply(body='{"vectors": [[1.0]]}'), "not as documented"),
        (Reply(body="[]"), "not as documented"),
        (Reply(value=float("nan")), "not a finite number"),
        (Reply(body='{"embeddings": [["a", "b"]]}'), "not numbers"),
        (Reply(body='{"embeddings": [null]}'), "vectors"),
    ],
    ids=["truncated", "none", "other shape", "list", "NaN", "words", "null"],
)
def test_an_answer_that_makes_no_sense_is_asked_for_again_and_then_an_error(
    server: EmbeddingServer, reply: Reply, said: str
) -> None:
    server.replies.append(reply)
    assert make(server).embed_documents(["text"]).shape == (1, 64)
    server.replies.extend([reply] * 5)
    with pytest.raises(ProviderError, match=said):
        make(server).embed_documents(["text"])


def test_another_number_of_dimensions_is_an_error(server: EmbeddingServer) -> None:
    embedder = make(server)
    embedder.embed_documents(["text"])
    server.replies.extend([Reply(n_dimensions=32)] * 5)
    with pytest.raises(ProviderError, match="32 dimensions where it returned 64 before"):
        embedder.embed_documents(["text"])


def test_fewer_dimensions_than_asked_for_are_an_error(server: EmbeddingServer) -> None:
    server.replies.extend([Reply(n_dimensions=8)] * 5)
    with pytest.raises(ProviderError, match="8 dimensions instead of 16"):
        make(server, dimensions=16).embed_documents(["text"])


def test_nobody_listening_on_this_machine_is_an_error_at_once_that_says_what_to_start() -> None:
    with EmbeddingServer() as server:
        embedder = make(server)
    slept = Slept()
    with pytest.raises(ProviderError, match="nothing answers") as caught:
        embedder.embed_documents(["text"])
    assert caught.value.hint == "start it and fetch the model: ollama serve; ollama pull nomic-embed-text"
    assert slept.seconds == []


def test_a_model_that_is_not_there_is_an_error_with_the_servers_words(server: EmbeddingServer) -> None:
    server.replies.append(Reply(404, '{"error": "model \\"nomic-embed-text\\" not found, try pulling it first"}'))
    with pytest.raises(ProviderError, match="try pulling it first") as caught:
        make(server).embed_documents(["text"])
    assert "ollama pull nomic-embed-text" in caught.value.hint


def test_a_query_is_asked_once_and_not_waited_for_longer_than_set(server: EmbeddingServer) -> None:
    server.may_answer.clear()
    with pytest.raises(ProviderError, match=r"no answer within 0\.2 s"):
        make(server, query_timeout_seconds=0.2).embed_query("text")
    server.may_answer.set()
    server.replies.append(Reply(503, "busy"))
    with pytest.raises(ProviderError, match="503"):
        make(server).embed_query("text")
    assert len(server.asked) == 2


def test_a_failure_in_one_thread_stops_the_others(server: EmbeddingServer) -> None:
    server.replies.append(Reply(404, '{"error": "no such model"}'))
    with pytest.raises(ProviderError, match="no such model"):
        make(server, batch_size=1, concurrency=2).embed_documents([f"text {number}" for number in range(100)])
    time.sleep(0.1)
    assert len(server.asked) < 50


def test_a_redirect_is_not_followed_with_the_key(server: EmbeddingServer) -> None:
    server.replies.append(Reply(302, "", {"Location": f"{server.url}/elsewhere"}))
    with pytest.raises(ProviderError, match="302"):
        make(server, api_key_env="CAIRN_TEST_KEY").embed_documents(["text"])
    assert len(server.asked) == 1


# -- keys -------------------------------------------------------------------------------------------------------------


def test_a_key_that_is_refused_is_an_error_of_its_own_without_the_key(server: EmbeddingServer) -> None:
    server.replies.append(Reply(401, f'{{"error": {{"message": "Incorrect API key provided: {KEY}."}}}}'))
    embedder = make(server, provider="openai", model="m", api_key_env="CAIRN_TEST_KEY")
    with pytest.raises(ProviderKeyError) as caught:
        embedder.embed_documents(["text"])
    shown = f"{caught.value} {caught.value.hint} {caught.value.__cause__} {caught.value.__context__}"
    assert "Incorrect API key provided: ***" in shown
    assert KEY not in shown
    assert "CAIRN_TEST_KEY" in caught.value.hint


def test_a_missing_key_is_noticed_before_anything_is_sent() -> None:
    with pytest.raises(ProviderKeyError, match="OPENAI_API_KEY is not set"):
        open_model(ModelSettings("openai", "text-embedding-3-small"), {}).embed_query("text")


def test_the_key_of_a_provider_does_not_go_to_another_server() -> None:
    own = ModelSettings("openai", "m", url="https://models.example.org/v1")
    assert find_key(own, {"OPENAI_API_KEY": KEY}) == ""
    assert find_key(ModelSettings("openai", "m"), {"OPENAI_API_KEY": KEY}) == KEY


# -- pace -------------------------------------------------------------------------------------------------------------


def test_githubs_key_is_a_token_in_a_variable_or_what_gh_prints(tmp_path: Path) -> None:
    own = ModelSettings("github", "openai/text-embedding-3-small")
    assert find_key(own, {"GH_TOKEN": "two", "GITHUB_TOKEN": "one"}) == "one"
    assert find_key(own, {"GH_TOKEN": "two"}) == "two"
    write_program(tmp_path / "gh", 'test "$1 $2" = "auth token" && echo three')
    path = f"{tmp_path}:/usr/bin:/bin"
    assert find_key(own, {"PATH": path}) == "three"
    assert find_key(replace(own, url="https://models.example.org"), {"PATH": path}) == ""
    write_program(tmp_path / "gh", "exit 1")
    with pytest.raises(ProviderKeyError, match="GITHUB_TOKEN is not set"):
        find_key(own, {"PATH": path})


def test_a_gh_beside_the_project_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(tmp_path / "gh", "echo three")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProviderKeyError):
        find_key(ModelSettings("github", "m"), {"PATH": "."})


def write_program(file: Path, body: str) -> None:
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


def test_requests_are_paced() -> None:
    slept = Slept()
    pace = Pace(60, 2, slept.waiting)
    for _ in range(6):
        pace.take(threading.Event())
    assert slept.seconds == pytest.approx([1.0, 1.0, 1.0, 1.0])  # after a burst of two


def test_an_unlimited_pace_never_waits() -> None:
    slept = Slept()
    pace = Pace(0, 1, slept.waiting)
    for _ in range(100):
        pace.take(threading.Event())
    assert slept.seconds == []


# -- fingerprints -----------------------------------------------------------------------------------------------------


def test_a_fingerprint_changes_with_what_changes_documents_and_with_nothing_else() -> None:
    base = ModelSettings("ollama", "nomic-embed-text")
    same = [
        replace(base, query_prefix="other: "), replace(base, batch_size=7), replace(base, url="http://localhost:11434/"),
        replace(base, document_prefix="search_document: "), replace(base, timeout_seconds=1.0),
    ]  # fmt: skip
    other = [
        replace(base, model="all-minilm"), replace(base, dimensions=256), replace(base, document_prefix=""),
        replace(base, url="http://localhost:1"), replace(base, max_input_tokens=9), replace(base, provider="openai"),
    ]  # fmt: skip
    assert {fingerprint_of(one) for one in same} == {fingerprint_of(base)}
    assert len({fingerprint_of(one) for one in (base, *other)}) == len(other) + 1


def test_every_provider_but_the_bundled_one_has_a_module_of_its_name() -> None:
    for name, provider in PROVIDERS.items():
        if name != "bundled":
            embedder = open_model(ModelSettings(provider=name, model="any"), {})
            assert embedder.name == f"{name}:any"
            assert isinstance(embedder, LocalEmbedder if provider.is_local else RemoteEmbedder)
