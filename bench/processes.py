"""What processes use, as Linux reports it under `/proc`: memory, processor time and open files. Megabytes are 2^20."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

SAMPLE_SECONDS = 0.02


class Usage(NamedTuple):
    """What some processes hold, in MB: all, and of it what is mapped from files."""

    total: float
    files: float


def family(pid: int) -> list[int]:
    """Return a process and all that it started, directly or not; empty if it has ended."""
    pids = [pid]
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                pids += family(int(child))
    except OSError:  # it has ended
        return []
    return pids


def usage_of(pids: Sequence[int]) -> Usage:
    """Return what some processes hold, each page that several share counted in parts (PSS); ended ones hold nothing."""
    total = files = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has ended
            continue
        values = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines[1:])}
        total += values.get("Pss", 0)
        files += values.get("Pss_File", 0)
    return Usage(total / 1024, files / 1024)


def cpu_seconds(pid: int, *, with_children: bool = False) -> float:
    """Return the processor time of a process so far; on request also that of the children it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if with_children else 13])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    """Return how much memory a process has resident."""
    return _status_mb(pid, "VmRSS")


def peak_mb(pid: int) -> float:
    """Return the most memory a process has had resident so far."""
    return _status_mb(pid, "VmHWM")


def private_mb(pid: int) -> float:
    """Return how much memory a process has resident that is neither mapped from files nor shared."""
    return _status_mb(pid, "RssAnon")


def n_descriptors(pid: int) -> int:
    """Return how many files and connections a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def n_threads(pid: int) -> int:
    """Return how many threads a process has."""
    return int(_status(pid)["Threads"])


def measure(command: Sequence[str], environment: dict[str, str]) -> dict[str, object]:
    """Run a command and return its peak of memory in all its processes, and its time."""
    start = time.perf_counter()
    before = os.times()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        peak, most = Usage(0.0, 0.0), 0
        while process.poll() is None:
            pids = family(process.pid)
            peak, most = max(peak, usage_of(pids)), max(most, len(pids))
            time.sleep(SAMPLE_SECONDS)
        assert process.stderr is not None
        errors = process.stderr.read().decode(errors="replace")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {
        "peak_mb": round(peak.total),
        "files_mb": round(peak.files),
        "processes": most,
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(cpu, 1),
        "status": process.returncode,
        "errors": errors[-300:] if process.returncode not in (0, 1) else "",
    }


def _status_mb(pid: int, name: str) -> float:
    return int(_status(pid)[name].split()[0]) / 1024


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: rest for name, _, rest in (line.partition(":") for line in lines)}
