"""Measures what a first index takes in memory and time under several ceilings.

    python bench/limits.py REPOSITORY --memory 256 512 1024

The memory of all processes of a run is added up every 20 ms, each page shared by several counted in parts (PSS).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAMPLE_SECONDS = 0.02


def family(pid: int) -> list[int]:
    """Return a process and those it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [pid, *(one for child in children.read_text().split() for one in family(int(child)))]
    except OSError:  # it ended
        return []


def memory_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it ended
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def measure(repository: Path, ceiling_mb: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as state:
        environment = os.environ | {"CAIRN_MEMORY_MB": str(ceiling_mb)}
        command = [sys.executable, "-m", "cairn", "index", str(repository), "--state-dir", state]
        begun = time.perf_counter()
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
            peak, most = 0.0, 0
            while process.poll() is None:
                pids = family(process.pid)
                peak, most = max(peak, sum(map(memory_mb, pids))), max(most, len(pids))
                time.sleep(SAMPLE_SECONDS)
        seconds = time.perf_counter() - begun
    return {"ceiling_mb": ceiling_mb, "peak_mb": round(peak), "processes": most, "seconds": round(seconds, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--memory", type=int, nargs="+", default=[256, 512, 1024])
    options = parser.parse_args()
    for ceiling_mb in options.memory:
        print(json.dumps(measure(options.repository, ceiling_mb)), flush=True)


if __name__ == "__main__":
    main()
