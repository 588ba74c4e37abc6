"""What the daemon has done for the tuning of a project while nobody asks."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.daemon.learning import learn
from cairn.facets.learning import REST_DAYS, start_what_is_due, what_is_due
from cairn.memory_settings import MemorySettings
from cairn.workspace import Workspace

_UNWANTED = Settings(memory=MemorySettings(optimize=False))


def make_project(root: Path, commits: int) -> None:
    for arguments in (["init", "-q"], ["config", "user.name", "a"], ["config", "user.email", "a@b"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    stream = []
    for number in range(commits):
        message = f"Fix the {number}th corner of the wallet"
        text = f"def corner_{number}():\n    return {number}\n"
        who = f"A <a@b> {1_700_000_000 + number} +0000"
        stream.append(
            f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {len(message)}\n{message}\n"
            f"M 644 inline corner_{number % 9}.py\ndata {len(text)}\n{text}\n"
        )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input="".join(stream).encode(), check=True)
    subprocess.run(["git", "checkout", "-qf", "main"], cwd=root, check=True)


def due(workspace: Workspace, after_days: float = 0.0) -> str:
    return what_is_due(workspace._index, workspace.tuning, time.time() + 86_400 * after_days)


def test_a_run_is_due_once_there_is_enough_to_learn_from_and_then_only_for_what_is_new(tmp_path: Path) -> None:
    make_project(tmp_path, 110)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert due(workspace) == "run"
        workspace.tuning.versions.add(workspace.tuning.versions.active()[0], "refused", {})
        assert due(workspace, 2 * REST_DAYS) == ""
    with Workspace.open(tmp_path, settings=_UNWANTED) as unwanted:
        assert due(unwanted) == ""


def test_a_project_with_few_commits_is_not_tuned(tmp_path: Path) -> None:
    make_project(tmp_path, 60)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert due(workspace) == ""


def test_on_battery_nothing_is_started_and_on_mains_a_run_at_low_priority_leaves_a_version(tmp_path: Path) -> None:
    make_project(tmp_path, 110)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        index, tuning = workspace._index, workspace.tuning
        assert start_what_is_due(index, tuning, lambda: True) is None
        process = start_what_is_due(index, tuning, lambda: False)
        assert process is not None
        assert process.wait(120) in (0, 1)
        assert len(tuning.versions.list()) == 1
        assert start_what_is_due(index, tuning, lambda: False) is None


def test_the_daemon_looks_after_what_there_is_to_learn_from_unless_that_is_turned_off(tmp_path: Path) -> None:
    make_project(tmp_path, 60)
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        assert learn(workspace) is None
        assert "tuning" not in workspace.__dict__  # there is no memory
        workspace.memory.remember("the wallet has nine corners")
        assert learn(workspace) is None
        assert "tuning" in workspace.__dict__
        assert workspace.tuning.versions.list() == []
    with Workspace.open(tmp_path, settings=_UNWANTED) as unwanted:
        assert learn(unwanted) is None
        assert "tuning" not in unwanted.__dict__


def test_a_run_by_itself_asks_no_chat_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path, 110)
    monkeypatch.setenv("CAIRN_MEMORY_CHAT_PROVIDER", "ollama")
    monkeypatch.setenv("CAIRN_MEMORY_CHAT_MODEL", "tiny")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        process = start_what_is_due(workspace._index, workspace.tuning, lambda: False)
        assert process is not None
        assert process.wait(120) in (0, 1)
        (version,) = workspace.tuning.versions.list()
        assert version.report["text"] == {"skipped": "it was not asked for"}
