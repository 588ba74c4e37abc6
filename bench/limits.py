"""Measures how much memory and time a first index takes under several memory limits.

    python bench/limits.py REPOSITORY --memory 256 512 1024

See `processes.py` for how memory is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from processes import measure


def measure_limit(repository: Path, limit_mb: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as state:
        environment = os.environ | {"CAIRN_MEMORY_MB": str(limit_mb)}
        command = [sys.executable, "-m", "cairn", "index", str(repository), "--state-dir", state]
        return {"limit_mb": limit_mb, **measure(command, environment)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--memory", type=int, nargs="+", default=[256, 512, 1024])
    options = parser.parse_args()
    for limit_mb in options.memory:
        print(json.dumps(measure_limit(options.repository, limit_mb)), flush=True)


if __name__ == "__main__":
    main()
