"""Embedding all memories again, with a real server of embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.index.state_dir import StateDir
from cairn.memory.derived import derive
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.models import MemoryModels
from cairn.memory.reembedding import Reembedding
from cairn.memory.store import By, MemoryStore
from cairn.model_settings import ModelSettings
from cairn.storage.memory.observation_db import Conditions
from embedding_server import EmbeddingServer, Reply

TEXTS = ("Use port 80", "Use WAL mode", "The build fails on Fridays")


class _Halt(Exception):
    """Ends a run from its report."""


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    store = MemoryStore(StateDir(tmp_path / ".cairn"), derive)
    for text in TEXTS:
        Lifecycle(store).remember(NewMemory(text), By("person:ada", "person"))
    return store


def vectors(store: MemoryStore) -> int:
    with store.reading() as connection:
        (number,) = connection.execute("SELECT count(*) FROM vector").fetchone()
        return int(number)


def reembedding(store: MemoryStore, server: EmbeddingServer) -> Reembedding:
    return Reembedding(store, MemoryModels(store, [ModelSettings("ollama", "all-minilm", server.url)]))


def test_the_estimate_counts_memories_and_asks_no_model(store: MemoryStore, server: EmbeddingServer) -> None:
    bundled, other = reembedding(store, server).estimate()
    assert (bundled.model, bundled.memories, bundled.missing) == ("bundled", 3, 0)
    assert (other.model, other.memories, other.missing) == ("ollama:all-minilm", 3, 3)
    assert bundled.tokens == other.tokens == sum(map(len, TEXTS)) // 4
    assert server.texts == []


def test_the_estimate_counts_no_memory_that_was_erased(store: MemoryStore, server: EmbeddingServer) -> None:
    erased = store.select(Conditions())[0].id
    Lifecycle(store).erase(erased, By("person:ada", "person"))
    assert [(work.memories, work.missing) for work in reembedding(store, server).estimate()] == [(2, 0), (2, 2)]


def test_all_memories_are_embedded_by_every_model(store: MemoryStore, server: EmbeddingServer) -> None:
    steps: list[tuple[int, int]] = []
    works = reembedding(store, server).run(lambda done, total: steps.append((done, total)))
    assert [work.embedded for work in works] == [3, 3]
    assert steps == [(3, 6), (6, 6)]
    assert sorted(server.texts) == sorted(TEXTS)
    assert vectors(store) == 6


def test_a_run_that_is_stopped_leaves_every_vector_that_was_there(store: MemoryStore, server: EmbeddingServer) -> None:
    def stop(done: int, total: int) -> None:
        raise _Halt

    with pytest.raises(_Halt):
        reembedding(store, server).run(stop)
    assert vectors(store) == 3
    assert server.texts == []


def test_a_model_that_fails_is_named_and_the_others_are_done(store: MemoryStore, server: EmbeddingServer) -> None:
    server.replies.extend([Reply(401, "no")] * 9)
    works = reembedding(store, server).run()
    assert [work.embedded for work in works] == [3, 0]
    assert works[1].error
    assert vectors(store) == 3


def test_nothing_is_done_where_nothing_is_remembered(tmp_path: Path, server: EmbeddingServer) -> None:
    assert reembedding(MemoryStore(StateDir(tmp_path / "none"), derive), server).run() == []
