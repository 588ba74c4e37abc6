"""A whole index and its answers, in a process that cannot load the compiled inner loops."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from cairn.workspace import Workspace

PROJECT = Path(__file__).parents[1] / "docs" / "project"
QUESTIONS = ("where is the session cookie verified", "SessionStore", "total price of a cart", "tests for check_out")
CHILD = """
import json, sys
sys.modules["cairn.kernels._compiled"] = None  # importing it fails
from cairn.kernels.build import IS_COMPILED
from cairn.workspace import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    workspace.index()
    answers = [[[hit.id, hit.score, hit.confidence] for hit in workspace.search(text).code] for text in sys.argv[2:]]
print(json.dumps([IS_COMPILED, answers]))
"""


def test_answers_are_the_same_without_the_compiled_loops(tmp_path: Path) -> None:
    for name in ("plain", "compiled"):
        shutil.copytree(PROJECT, tmp_path / name)
    command = [sys.executable, "-c", CHILD, str(tmp_path / "plain"), *QUESTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    is_compiled, plain = json.loads(done.stdout)
    assert not is_compiled
    with Workspace.open(tmp_path / "compiled") as workspace:
        workspace.index()
        own = [[[hit.id, hit.score, hit.confidence] for hit in workspace.search(text).code] for text in QUESTIONS]
    assert own == plain
    assert all(own)
