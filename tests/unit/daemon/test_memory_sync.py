from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from cairn.daemon.memory_sync import MOST_SECONDS, REST_SECONDS, MemorySync
from cairn.daemon.projects import Projects
from cairn.errors import TeamError
from serving import make_app


class Plan:
    """Notes for which projects it is called, and fails if it is told to."""

    def __init__(self) -> None:
        self.roots: list[str] = []
        self.fails = False
        self.seconds = 0.0

    def __call__(self, root: str) -> None:
        self.roots.append(Path(root).name)
        if self.fails:
            raise TeamError("the server is away")

    def clock(self) -> float:
        return self.seconds


@pytest.fixture
def projects(tmp_path: Path) -> Projects:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    return make_app(tmp_path / "state", tmp_path / "a", tmp_path / "b").daemon.projects


async def open_all(projects: Projects) -> None:
    for name in ("a", "b"):
        await projects.run_at_once(name, lambda workspace: workspace.root)


def look(sync: MemorySync, times: int = 1) -> None:
    for _ in range(times):
        sync.look()
        sync.wait(60)


def test_each_open_project_is_exchanged_once_a_minute(projects: Projects) -> None:
    plan = Plan()
    sync = MemorySync(projects, plan, plan.clock)
    look(sync)
    assert plan.roots == []  # none is open
    asyncio.run(open_all(projects))
    look(sync, 4)
    assert sorted(plan.roots) == ["a", "b"]
    plan.seconds = REST_SECONDS
    look(sync, 4)
    assert sorted(plan.roots) == ["a", "a", "b", "b"]
    projects.close()


def test_a_server_that_is_away_is_asked_less_and_less(projects: Projects) -> None:
    plan = Plan()
    plan.fails = True
    sync = MemorySync(projects, plan, plan.clock)
    asyncio.run(open_all(projects))
    for plan.seconds in range(0, 7_200, 30):
        look(sync, 2)
    assert len(plan.roots) / 2 == pytest.approx(8, abs=1)
    plan.fails = False
    plan.seconds += MOST_SECONDS
    look(sync, 2)
    plan.seconds += REST_SECONDS
    before = len(plan.roots)
    look(sync, 2)
    assert len(plan.roots) == before + 2
    projects.close()


def test_nothing_waits_for_an_exchange_that_takes_long(projects: Projects) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def exchange(root: str) -> None:
        begun.set()
        may_end.wait(60)

    sync = MemorySync(projects, exchange)
    asyncio.run(open_all(projects))
    sync.look()
    assert begun.wait(60)
    sync.look()  # which returns although the exchange goes on
    assert sum(thread.name == "cairn-memories" for thread in threading.enumerate()) == 1
    may_end.set()
    sync.wait(60)
    projects.close()
