"""What a run may take of the machine: processes, memory, priority, and whether it runs on battery at all."""

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

# More processes than this gain little: the results go through one.
MAX_HELPERS = 4
# Measured (docs/adr/0015): what the first process and each one beside it hold before the first file.
BASE_MB, HELPER_MB = 170, 70
# From this ceiling on batches have the size that was measured to be quickest.
FULL_MB = 1_024
BATCH_BYTES = 8_000_000
POWER_FOLDER = Path("/sys/class/power_supply")


class RunLimits(NamedTuple):
    """How large the pieces of a run are.

    `helpers` processes parse beside the first, 0 when it parses itself. A batch is committed at `batch_chunks` or at
    `batch_bytes` of source; `in_flight_bytes` of source at most are with helpers at once. `vocabulary_share` says how
    many of the words that are usually remembered from batch to batch may be.
    """

    helpers: int
    batch_chunks: int
    batch_bytes: int
    in_flight_bytes: int
    vocabulary_share: float = 1.0


def limits_of(settings: Settings, *, background: bool, cores: int | None = None) -> RunLimits:
    """Return the limits that keep a run within the settings.

    Args:
        settings: `memory_mb`, `background_cores`, `batch_chunks`.
        background: whether nobody waits for the run, so that it has some of the cores only.
        cores: how many there are; by default those of the machine.
    """
    cores = cores or os.cpu_count() or 1
    allowed = background_cores(settings, cores) if background else cores
    # Of a small ceiling a third goes to helpers; the rest is for batches.
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
    """Return how much the symbol graph may keep of files that it can read again: a quarter of what is left."""
    return (settings.memory_mb - BASE_MB) * 1_000_000 // 4


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def lower_priority(settings: Settings, pid: int = 0) -> None:
    """Let others go first, on some of the cores only: the calling thread with what it starts, or another process.

    Only Linux knows threads with a priority of their own; elsewhere the calling thread stays as it is.

    Args:
        settings: `background_nice`, `background_cores`.
        pid: of another process; 0 for this thread.
    """
    if not pid and sys.platform != "linux":
        return
    with suppress(OSError):  # the process ended, or already goes behind others, which only root undoes
        os.setpriority(os.PRIO_PROCESS, pid, max(settings.background_nice, os.getpriority(os.PRIO_PROCESS, pid)))
        if sys.platform == "linux":
            wanted = background_cores(settings, os.cpu_count() or 1)
            os.sched_setaffinity(pid, sorted(os.sched_getaffinity(pid))[-wanted:])


def run_behind(settings: Settings, work: Callable[[Progress], _T]) -> _T:
    """Do some work at low priority in a thread of its own, for a priority once lowered cannot be raised again.

    An interrupt of the waiting thread ends the work where it next tells its progress.

    Args:
        settings: as for `lower_priority`.
        work: is given what to call with its progress.
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
    """Return how many of some cores work gets that nobody waits for: at least one, by default half of them."""
    return min(cores, settings.background_cores or max(1, cores // 2))


def on_battery(power_folder: Path = POWER_FOLDER) -> bool:
    """Tell whether a battery feeds the machine: one discharges, and no mains or USB supply is online.

    Machines without this folder, which is Linux's, count as fed by mains.
    """
    discharging = False
    with suppress(OSError):
        for supply in power_folder.iterdir():
            kind = _read(supply / "type")
            if kind in ("Mains", "USB") and _read(supply / "online") == "1":
                return False
            # A mouse has a battery, too, whose scope is "Device".
            if kind == "Battery" and _read(supply / "scope") != "Device":
                discharging = discharging or _read(supply / "status") == "Discharging"
    return discharging


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
