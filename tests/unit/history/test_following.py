"""The thread that reads new commits while nobody waits."""

from __future__ import annotations

import queue

import pytest

from cairn.config import Settings
from cairn.history.following import HistoryThread
from cairn.history.past import Extent


class Reader:
    """Knows a given number of commits more after each part."""

    def __init__(self, *read: int) -> None:
        self.parts: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._read = list(read)

    def follow(self, seconds: float) -> Extent | None:
        read = self._read.pop(0)
        self.parts.put(read)
        if read < 0:
            raise ValueError("broken")
        return Extent("", 500, read)

    def next(self) -> int:
        return self.parts.get(timeout=60)


def test_it_reads_part_after_part_until_all_commits_are_known() -> None:
    reader = Reader(200, 400, 500, 500)
    thread = HistoryThread("project", Settings(), reader.follow)
    thread.wake()
    assert [reader.next() for _ in range(3)] == [200, 400, 500]
    thread.wake()
    assert reader.next() == 500
    assert thread.end(60)
    assert reader.parts.empty()


def test_it_stops_where_nothing_more_can_be_read() -> None:
    reader = Reader(200, 200, 500)
    thread = HistoryThread("project", Settings(), reader.follow)
    thread.wake()
    assert [reader.next(), reader.next()] == [200, 200]
    thread.wake()
    assert reader.next() == 500
    assert thread.end(60)


def test_without_the_setting_nothing_is_read() -> None:
    reader = Reader(1)
    thread = HistoryThread("project", Settings(history=False), reader.follow)
    thread.wake()
    assert thread.end(0)
    assert reader.parts.empty()


def test_an_unexpected_error_ends_it_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    reader = Reader(-1)
    thread = HistoryThread("project", Settings(), reader.follow)
    thread.wake()
    assert reader.next() == -1
    assert thread.end(60)
    assert "project: commits are no longer read" in caplog.text
