"""Times `cairn index` as a process, with nothing changed and with one file changed, beside `cairn --version`.

Several installations take turns, so that a slow spell of the machine meets all. The project is copied for each.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

RACY_SECONDS = 2.1  # a file changed more recently than this is read again by the next run


def time_command(command: list[str]) -> tuple[float, float]:
    """Run a command and return the wall and processor milliseconds it took, with those of its children."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    return (time.perf_counter() - started) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path, help="a git checkout")
    parser.add_argument("file", help="the file to change, relative to it")
    parser.add_argument("commands", nargs="+", help="the `cairn` of each installation")
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    times: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        copies = {}
        for number, command in enumerate(options.commands):
            copies[command] = shutil.copytree(options.project, Path(folder, str(number)), symlinks=True)
            time_command([command, "index", str(copies[command])])
        for run in range(options.runs):
            for command, copy in copies.items():
                index = [command, "index", str(copy)]
                times[command, "--version"].append(time_command([command, "--version"]))
                with (copy / options.file).open("a") as stream:
                    stream.write(f"\n// {run} {time.time_ns()}\n")
                times[command, "one file"].append(time_command(index))
                time.sleep(RACY_SECONDS)
                time_command(index)
                times[command, "nothing"].append(time_command(index))
    for (command, what), pairs in times.items():
        walls, processor = ([pair[place] for pair in pairs] for place in (0, 1))
        versions = [wall for wall, _ in times[command, "--version"]]
        least, median = min(walls), statistics.median(walls)
        print(f"{command} {what:9} wall {least:4.0f} {median:4.0f} (least, median)", end="  ")
        print(f"over --version {least - min(versions):4.0f} {median - statistics.median(versions):4.0f}", end="  ")
        print(f"cpu {min(processor):4.0f}")


if __name__ == "__main__":
    main()
