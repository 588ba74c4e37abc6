"""Pages give way to agents."""

from __future__ import annotations

import asyncio
from pathlib import Path

from cairn.config import Settings
from cairn.daemon.state import Daemon
from cairn.dashboard.courtesy import MOST_SECONDS, Courtesy
from cairn.runtime import StateFolder


def test_a_page_does_not_wait_while_no_agent_asks() -> None:
    naps: list[float] = []
    Courtesy(lambda: 9.0, naps.append).hold()
    assert naps == []


def test_a_page_goes_on_once_agents_are_quiet() -> None:
    naps: list[float] = []
    Courtesy(lambda: 9.0 if len(naps) == 3 else 0.0, naps.append).hold()
    assert len(naps) == 3


def test_a_page_waits_for_agents_in_all_only_so_long() -> None:
    naps: list[float] = []
    courtesy = Courtesy(lambda: 0.0, naps.append)
    courtesy.hold()
    waited = sum(naps)
    courtesy.hold()
    assert abs(waited - MOST_SECONDS) < 0.01
    assert sum(naps) == waited


def test_waiting_leaves_the_event_loop_to_others() -> None:
    others: list[int] = []

    async def work() -> None:
        while True:
            others.append(1)
            await asyncio.sleep(0)

    async def run() -> None:
        working = asyncio.create_task(work())
        await Courtesy(lambda: 9.0 if len(others) > 10 else 0.0).wait()
        working.cancel()

    asyncio.run(run())
    assert len(others) > 1


def test_an_agent_that_asks_is_not_quiet_and_somebody_who_looks_at_pages_is(tmp_path: Path) -> None:
    daemon = Daemon(Settings(), StateFolder(tmp_path), "127.0.0.1", "secret")
    with daemon.count_request():
        assert daemon.quiet_seconds_of_agents == 0
    daemon.note_visit()
    seen_ago_seconds = daemon.quiet_seconds
    assert daemon.quiet_seconds_of_agents > seen_ago_seconds
