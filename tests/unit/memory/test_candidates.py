from __future__ import annotations

from pathlib import Path

import pytest

from cairn.index.state_dir import StateDir
from cairn.memory.candidates import CandidateReview
from cairn.memory.lifecycle import Lifecycle
from cairn.memory.store import By, MemoryStore
from cairn.memory.summaries import UnsureMemory
from cairn.storage.memory import candidate_db
from cairn.storage.memory.observation_db import Conditions
from cairn.storage.memory.rows import CapturedCandidate
from memory_histories import Clock

MODEL = By("machine:ollama:tiny", "rule")


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    (tmp_path / "a.py").write_text("x = 1\n")
    store = MemoryStore(StateDir(tmp_path / "state"), now=Clock())
    with store.writing() as connection:
        for key, text, confidence in (("k1", "the cache is cold", 0.4), ("k2", "perhaps use WAL", 0.6)):
            paths = ("a.py", "gone.py")
            row = CapturedCandidate(key, "s1", "", "gotcha", text, confidence, 5, paths, 1.0)
            candidate_db.save(connection, row)
    return store


@pytest.fixture
def review(store: MemoryStore, tmp_path: Path) -> CandidateReview:
    return CandidateReview(store, Lifecycle(store), tmp_path)


def test_the_surest_candidates_of_a_session_come_first(review: CandidateReview) -> None:
    assert list(review.of_session("s1")) == [
        UnsureMemory(2, "gotcha", "perhaps use WAL"),
        UnsureMemory(1, "gotcha", "the cache is cold"),
    ]
    assert list(review.of_session("s2")) == []


def test_a_candidate_that_is_kept_becomes_a_memory_tied_to_the_files_that_are_there(
    store: MemoryStore, review: CandidateReview
) -> None:
    review.settle("s1", 2, "decision", MODEL)
    (made,) = store.select(Conditions())
    assert (made.type, made.text, made.origin, made.session) == ("decision", "perhaps use WAL", "captured", "s1")
    assert [link.path for link in made.links] == ["a.py"]
    assert made.actor == MODEL.actor
    assert [candidate.id for candidate in review.of_session("s1")] == [1]


def test_a_candidate_that_is_dropped_or_gone_leaves_nothing(store: MemoryStore, review: CandidateReview) -> None:
    for id in (1, 2, 3):
        review.settle("s1", id, None, MODEL)
    review.settle("s1", 1, "gotcha", MODEL)
    assert store.select(Conditions()) == []
    assert list(review.of_session("s1")) == []
