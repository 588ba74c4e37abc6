"""What commands hold in memory, all their processes together, measured as `bench/memory.py` measures large projects."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

import cairn
from memory import make_project
from processes import measure

MOST_MB = 350  # a small project takes some 150


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="only Linux tells")
def test_a_small_project_takes_little_memory(tmp_path: Path) -> None:
    sources, project = tmp_path / "sources", tmp_path / "project"
    shutil.copytree(Path(cairn.__file__).parent / "graph", sources)
    make_project(project, [sources], megabytes=1, copies=3)
    environment = {**os.environ, "CAIRN_STATE_DIR": str(tmp_path / "state"), "CAIRN_DAEMON": "off"}
    for command in ("index", "map"):
        document = measure([sys.executable, "-m", "cairn", command, "-C", str(project)], environment)
        assert document["status"] in (0, 1), document
        peak = document["peak_mb"]
        assert isinstance(peak, int)
        assert 10 < peak < MOST_MB, (command, document)
