"""The daemon's use of memory and threads, and the limits."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TypedDict

from cairn.config import Settings

MAX_OPEN = 8  # projects
SPARE_THREADS = 2  # threads that close projects
AT_ONCE_THREADS = 2  # threads that process events
_THREADS_OF_WATCH = 3  # per watcher: one waits, one receives events, one runs large updates


class UsageDocument(TypedDict):
    """The daemon's usage and limits. `memory_mb` is resident memory, 0 if the system does not report it."""

    memory_mb: float
    memory_limit_mb: int
    threads: int
    thread_limit: int


def resident_mb() -> float:
    """Return the resident memory of this process, in MB of 1,000,000 bytes.

    On macOS this is the peak so far; on Windows it is unknown and 0.
    """
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    if sys.platform == "win32":
        return 0.0
    import resource  # noqa: PLC0415 - Windows has none

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def count_threads() -> int:
    """Return the number of threads of this process: all of them on Linux, elsewhere only Python's."""
    if sys.platform == "linux":
        return len(os.listdir("/proc/self/task"))
    return threading.active_count()


def slow_threads(settings: Settings) -> int:
    """Return how many threads may answer slow questions at once, and how many may build."""
    return max(1, settings.daemon_threads // 2)


def thread_limit(settings: Settings) -> int:
    """Return the maximal number of threads: the main one, those for answers and watchers, and a few spare ones."""
    n_answering = settings.daemon_threads + 2 * slow_threads(settings) + AT_ONCE_THREADS
    return 1 + n_answering + SPARE_THREADS + MAX_OPEN * _THREADS_OF_WATCH


def usage(settings: Settings) -> UsageDocument:
    """Return the daemon's current usage."""
    return {
        "memory_mb": round(resident_mb(), 1),
        "memory_limit_mb": settings.daemon_memory_mb,
        "threads": count_threads(),
        "thread_limit": thread_limit(settings),
    }
