"""The options of a run, and what it may use of the machine: processes, memory, priority, battery."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from cairn.config import Settings

_T = TypeVar("_T")
Progress = Callable[[int, int], None]

# More helpers gain little, since all results go through one process.
MAX_HELPERS = 4
# Memory before the first file, of the main process and of each helper; measured in docs/adr/0015.
BASE_MB, HELPER_MB = 170, 70
# With at least this much memory, batches have the size that was measured to be fastest.
FULL_MB = 1_024
BATCH_BYTES = 8_000_000
POWER_FOLDER = Path("/sys/class/power_supply")


class RunOptions(NamedTuple):
    """How to do a run.

    Attributes:
        full: replace the whole index once the new one is complete.
        verify: check every derived file to the last byte.
        background: nobody is waiting, so use only some of the cores.
        progress: called for every file.
    """

    full: bool = False
    verify: bool = False
    background: bool = False
    progress: Progress | None = None


class RunLimits(NamedTuple):
    """The number of helpers and the batch sizes of a run.

    `helpers` is 0 if the main process parses by itself. A batch is committed at `batch_chunks` chunks or `batch_bytes`
    of source. Helpers hold at most `in_flight_bytes` of source at once. `vocabulary_share` is the fraction of the usual
    word cache to keep between batches.
    """

    helpers: int
    batch_chunks: int
    batch_bytes: int
    in_flight_bytes: int
    vocabulary_share: float = 1.0


def limits_of(settings: Settings, *, background: bool, cores: int | None = None) -> RunLimits:
    """Return the limits that keep a run within its settings.

    Args:
        settings: `memory_mb`, `background_cores`, `batch_chunks`.
        background: nobody is waiting, so use only some of the cores.
        cores: how many there are; by default those of the machine.
    """
    cores = cores or os.cpu_count() or 1
    allowed = background_cores(settings, cores) if background else cores
    # With little memory, a third goes to helpers and the rest to batches.
    by_memory = max(0, (settings.memory_mb - BASE_MB) // (3 * HELPER_MB))
    share = min(1.0, (settings.memory_mb - BASE_MB) / (FULL_MB - BASE_MB))
    return RunLimits(
        helpers=min(MAX_HELPERS, allowed, by_memory),
        batch_chunks=max(1, round(settings.batch_chunks * share)),
        batch_bytes=round(BATCH_BYTES * share),
        in_flight_bytes=round(BATCH_BYTES * share),
        vocabulary_share=share,
    )


def kept_bytes_of(settings: Settings) -> int:
    """Return how many bytes of rereadable files the symbol graph may cache: a quarter of what is left."""
    return (settings.memory_mb - BASE_MB) * 1_000_000 // 4


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def lower_priority(settings: Settings, pid: int = 0) -> None:
    """Lower the priority of the calling thread and its children, or of another process, and keep it to some cores.

    Only Linux has per-thread priorities; elsewhere the calling thread stays as it is.

    Args:
        settings: `background_nice`, `background_cores`.
        pid: of another process; 0 for this thread.
    """
    if not pid and sys.platform != "linux":
        return
    with suppress(OSError):  # the process ended, or its priority is lower already, which only root can raise
        os.setpriority(os.PRIO_PROCESS, pid, max(settings.background_nice, os.getpriority(os.PRIO_PROCESS, pid)))
        if sys.platform == "linux":
            wanted = background_cores(settings, os.cpu_count() or 1)
            os.sched_setaffinity(pid, sorted(os.sched_getaffinity(pid))[-wanted:])


def run_behind(settings: Settings, work: Callable[[Progress], _T]) -> _T:
    """Do some work at low priority in its own thread, because a lowered priority cannot be raised again.

    If the waiting thread is interrupted, the work stops at its next report of progress.

    Args:
        settings: as for `lower_priority`.
        work: called with a function that takes its progress.
    """
    interrupted = threading.Event()
    outcome: list[_T] = []
    errors: list[BaseException] = []

    def progress(done: int, total: int) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt

    def run() -> None:
        lower_priority(settings)
        try:
            outcome.append(work(progress))
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that waits
            errors.append(error)

    thread = threading.Thread(target=run, name="cairn-background")
    thread.start()
    try:
        thread.join()
    except BaseException:
        interrupted.set()
        thread.join()
        raise
    if errors:
        raise errors[0]
    return outcome[0]


def background_cores(settings: Settings, cores: int) -> int:
    """Return how many of `cores` background work may use: by default half of them, at least one."""
    return min(cores, settings.background_cores or max(1, cores // 2))


def on_battery(power_folder: Path = POWER_FOLDER) -> bool:
    """Tell whether the machine runs on battery: one is discharging, and no mains or USB supply is online.

    Only Linux has this folder; all other machines count as plugged in.
    """
    discharging = False
    with suppress(OSError):
        for supply in power_folder.iterdir():
            kind = _read(supply / "type")
            if kind in ("Mains", "USB") and _read(supply / "online") == "1":
                return False
            # A mouse's battery counts too, but its scope is "Device".
            if kind == "Battery" and _read(supply / "scope") != "Device":
                discharging = discharging or _read(supply / "status") == "Discharging"
    return discharging


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
