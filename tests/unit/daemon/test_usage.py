from __future__ import annotations

import sys
import threading

import pytest

from cairn.config import Settings
from cairn.daemon.usage import MAX_OPEN, count_threads, resident_mb, slow_threads, thread_limit, usage


@pytest.mark.parametrize(("threads", "slow"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 4)])
def test_half_of_the_threads_that_answer_may_be_slow_and_at_least_one(threads: int, slow: int) -> None:
    assert slow_threads(Settings(daemon_threads=threads)) == slow


def test_the_limit_of_threads_counts_all_kinds_of_them() -> None:
    # The main one; eight that answer, four that answer slowly, four that build; two for events; two that close
    # projects; and three for each open project's watch.
    assert thread_limit(Settings(daemon_threads=8)) == 1 + 8 + 4 + 4 + 2 + 2 + 3 * MAX_OPEN


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is the peak so far, or unknown")
def test_memory_is_counted_in_megabytes_and_grows_with_what_is_kept() -> None:
    before = resident_mb()
    kept = bytearray(b"x") * 64_000_000
    assert 32 < resident_mb() - before < 128
    assert len(kept) == 64_000_000


def test_each_thread_counts_while_it_runs() -> None:
    go = threading.Event()
    before = count_threads()
    more = [threading.Thread(target=go.wait) for _ in range(3)]
    for thread in more:
        thread.start()
    during = count_threads()
    go.set()
    for thread in more:
        thread.join()
    assert during == before + 3


def test_usage_tells_what_is_taken_beside_the_limits() -> None:
    settings = Settings(daemon_threads=4, daemon_memory_mb=777)
    document = usage(settings)
    assert (document["memory_limit_mb"], document["thread_limit"]) == (777, thread_limit(settings))
    assert document["threads"] >= 1
    assert document["memory_mb"] > 10
    assert document["memory_mb"] == round(document["memory_mb"], 1)
