from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.index.state_dir import StateDir
from cairn.memory.derived import derive
from cairn.memory.lifecycle import Lifecycle, NewMemory
from cairn.memory.recall import Recall
from cairn.memory.store import By, MemoryStore
from cairn.model_settings import ModelSettings
from embedding_server import EmbeddingServer, Reply

PERSON = By("person:ada", "person")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore(StateDir(tmp_path / ".cairn"), derive)


@pytest.fixture
def recall(store: MemoryStore, server: EmbeddingServer, tmp_path: Path) -> Recall:
    return Recall(store, tmp_path, None, [ModelSettings("ollama", "all-minilm", server.url)])


def remember(store: MemoryStore, text: str) -> str:
    return Lifecycle(store).remember(NewMemory(text), PERSON).observation.id


def test_a_model_on_this_machine_is_asked_once_it_has_seen_the_memories(
    store: MemoryStore, recall: Recall, server: EmbeddingServer
) -> None:
    id = remember(store, "The pool hands out closed sockets.")
    remember(store, "Times are in UTC.")
    assert recall.models.pending() == 2
    recall.search("sockets of the pool")
    assert server.texts == []
    assert recall.models.complete() == 0
    assert recall.search("sockets of the pool")[0].observation.id == id
    assert server.texts[-1] == "sockets of the pool"


def test_a_memory_is_embedded_again_only_after_its_text_changed(
    store: MemoryStore, recall: Recall, server: EmbeddingServer
) -> None:
    id = remember(store, "The pool hands out closed sockets.")
    recall.models.complete()
    Lifecycle(store).edit(id, PERSON, importance=9)
    assert recall.models.pending() == 0
    Lifecycle(store).edit(id, PERSON, text="The pool checks its sockets.")
    assert recall.models.pending() == 1
    Lifecycle(store).erase(id, PERSON)
    assert recall.models.pending() == 0
    with store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM vector").fetchone() == (0,)


def test_a_model_that_fails_leaves_memories_pending_and_the_bundled_one_answers(
    store: MemoryStore, recall: Recall, server: EmbeddingServer
) -> None:
    id = remember(store, "The pool hands out closed sockets.")
    recall.models.complete()
    remember(store, "Times are in UTC.")
    server.replies.extend([Reply(401, "no")] * 9)
    assert recall.models.complete() == 1
    assert recall.search("sockets of the pool")[0].observation.id == id
    n_asked = len(server.asked)
    assert recall.search("closed sockets")[0].observation.id == id
    assert len(server.asked) == n_asked  # left alone for a while


def test_a_remote_model_never_sees_a_memory(store: MemoryStore, tmp_path: Path) -> None:
    recall = Recall(store, tmp_path, None, [ModelSettings("openai", "m", "http://192.0.2.1/v1")])
    remember(store, "The pool hands out closed sockets.")
    assert recall.models.fingerprints == ()
    assert recall.models.complete() == recall.models.pending() == 0


def test_vectors_of_a_model_that_is_configured_no_more_are_dropped(
    store: MemoryStore, recall: Recall, server: EmbeddingServer, tmp_path: Path
) -> None:
    remember(store, "The pool hands out closed sockets.")
    recall.models.complete()
    Recall(store, tmp_path, None, [ModelSettings("ollama", "another", server.url)]).models.complete()
    with store.reading() as connection:
        assert connection.execute("SELECT count(DISTINCT model) FROM vector").fetchone() == (2,)
