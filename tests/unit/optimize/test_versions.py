"""Which version of the tuning is used after another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import RequestError
from cairn.index.state_dir import StateDir
from cairn.memory.store import MemoryStore
from cairn.optimize.versions import Versions
from cairn.search.tuning import Tuning, shipped_digest, tuning_file


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore(StateDir(tmp_path))


@pytest.fixture
def versions(tmp_path: Path, store: MemoryStore) -> Versions:
    return Versions(StateDir(tmp_path), store)


def add(versions: Versions) -> int:
    return versions.add(Tuning(1), "proposed", {}).number


def measure_elsewhere(store: MemoryStore, number: int) -> None:
    """Make a version one that was measured against the values of another release."""
    with store.writing() as connection:
        connection.execute(
            "UPDATE tuning_version SET tuning = replace(tuning, ?, 'others') WHERE number = ?",
            (shipped_digest(), number),
        )


def test_rolling_back_goes_to_the_version_before(versions: Versions) -> None:
    for _ in range(3):
        versions.apply(add(versions))
    assert [versions.roll_back() for _ in range(3)] == [2, 1, 0]
    with pytest.raises(RequestError):
        versions.roll_back()


def test_rolling_back_passes_over_a_version_that_cannot_be_used_any_more(
    tmp_path: Path, versions: Versions, store: MemoryStore
) -> None:
    for _ in range(3):
        versions.apply(add(versions))
    measure_elsewhere(store, 2)
    assert versions.roll_back() == 1
    versions.apply(3)
    measure_elsewhere(store, 1)
    assert versions.roll_back() == 0
    assert not tuning_file(StateDir(tmp_path)).exists()


def test_a_version_that_lost_gives_way_to_the_one_it_was_compared_with(versions: Versions) -> None:
    for _ in range(3):
        versions.apply(add(versions))
    versions.apply(1)
    versions.ship(add(versions))
    assert versions.end_trial({"state": "lost"}) == 1
    assert versions.active()[0].number == 1


def test_a_version_that_lost_against_the_shipped_values_gives_way_to_them(
    tmp_path: Path, versions: Versions, store: MemoryStore
) -> None:
    versions.apply(add(versions))
    measure_elsewhere(store, 1)
    tuning_file(StateDir(tmp_path)).unlink()  # as good as one that is measured elsewhere
    versions.ship(add(versions))
    assert versions.end_trial({"state": "lost"}) == 0
    assert versions.trial() is None
    assert versions.find(2).status == "rolled-back"
