"""Edits, indexes and searches for a long time in one process, and tells whether it grew.

    python bench/soak.py --edits 100000

Each edit changes one function of one file, or makes, renames or deletes a file; it is then indexed, and every tenth is
searched for. Memory, descriptors and threads are read when a tenth of the edits is done, and at the end. An edit every
0.3 seconds for eight hours makes 100,000.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import tempfile
import threading
import time
from pathlib import Path

from cairn.config import Settings
from cairn.workspace import Workspace
from processes import n_descriptors, private_mb, resident_mb

FILES = 40


def write(file: Path, number: int, version: int) -> None:
    file.write_text(
        "\n\n".join(
            f"def work_{number}_{place}(offset):\n    return store(offset, {version if place == 0 else 0})\n"
            for place in range(4)
        )
    )


def edit(root: Path, version: int, chance: random.Random) -> int:
    """Change one file, and return its number."""
    number = chance.randrange(FILES)
    file, other = root / f"module_{number}.py", root / f"moved_{number}.py"
    what = chance.random()
    if what < 0.05 and file.exists():
        file.rename(other)
        return number
    if what < 0.10:
        file.unlink(missing_ok=True)
    other.unlink(missing_ok=True)
    write(file, number, version)
    return number


def usage(state: Path) -> dict[str, float]:
    gc.collect()
    files = [file for file in state.rglob("*") if file.is_file()]
    return {
        "memory_mb": round(resident_mb(os.getpid()), 1),
        "private_mb": round(private_mb(os.getpid()), 1),
        "descriptors": n_descriptors(os.getpid()),
        "threads": threading.active_count(),
        "state_mb": round(sum(file.stat().st_size for file in files) / 1e6, 2),
        "state_files": len(files),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--edits", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long; 0: do all edits")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        root, state = Path(name, "root"), Path(name, "state")
        root.mkdir()
        for number in range(FILES):
            write(root / f"module_{number}.py", number, 0)
        begun = time.monotonic()
        done = 0
        early: dict[str, float] = {}
        with Workspace.open(root, state_dir=state, settings=Settings()) as workspace:
            workspace.index()
            workspace.search("work_1_0")
            for version in range(1, options.edits + 1):
                number = edit(root, version, chance)
                workspace.index()
                if version % 10 == 0:
                    assert workspace.search(f"work_{number}_0", limit=1).code[0].name == f"work_{number}_0"
                done = version
                share = max(version / options.edits, (time.monotonic() - begun) / (options.seconds or 1e12))
                if not early and share >= 0.1:
                    early = {"edits": version} | usage(state)
                if share >= 1:
                    break
            late: dict[str, float] = {"edits": done} | usage(state)
    growth = round(late["memory_mb"] / early["memory_mb"], 3)
    print(json.dumps({"seconds": round(time.monotonic() - begun), "early": early, "late": late, "growth": growth}))


if __name__ == "__main__":
    main()
