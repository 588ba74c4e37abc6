from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from cairn.daemon.learning import QUIET_SECONDS, Learner
from cairn.workspace import Workspace
from serving import make_app


class Plan:
    """Starts processes that wait, and notes for which projects."""

    def __init__(self) -> None:
        self.roots: list[str] = []
        self.started: list[subprocess.Popen[bytes]] = []

    def __call__(self, workspace: Workspace) -> subprocess.Popen[bytes] | None:
        self.roots.append(workspace.root.name)
        self.started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return self.started[-1]


def test_projects_are_tuned_one_at_a_time_and_once_between_two_requests(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    projects = make_app(tmp_path / "state", tmp_path / "a", tmp_path / "b").daemon.projects
    plan = Plan()
    learner = Learner(projects, plan)

    async def use() -> None:
        await learner.look(QUIET_SECONDS)
        assert plan.roots == []  # none is open
        for name in ("a", "b"):
            await projects.run_at_once(name, lambda workspace: workspace.root)
        await learner.look(QUIET_SECONDS - 1)
        assert plan.roots == []
        await learner.look(QUIET_SECONDS)
        await learner.look(QUIET_SECONDS)
        assert plan.roots == ["a"]
        plan.started[0].communicate(b"\n")
        await learner.look(QUIET_SECONDS)
        assert plan.roots == ["a", "b"]
        plan.started[1].communicate(b"\n")
        await learner.look(QUIET_SECONDS)
        assert plan.roots == ["a", "b"]

    asyncio.run(use())
    learner.close()
    assert projects.close()


def test_a_request_ends_what_is_running_and_the_next_quiet_time_begins_it_anew(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    daemon = make_app(tmp_path / "state", tmp_path / "a").daemon
    plan = Plan()
    daemon.learner = Learner(daemon.projects, plan)

    async def use() -> None:
        await daemon.projects.run_at_once("a", lambda workspace: workspace.root)
        await daemon.learner.look(QUIET_SECONDS)
        with daemon.count_request():
            assert daemon.quiet_seconds == 0
        assert plan.started[0].wait(10) != 0
        await daemon.learner.look(QUIET_SECONDS)
        assert plan.roots == ["a", "a"]

    asyncio.run(use())
    daemon.learner.close()
    assert plan.started[1].returncode
    for process in plan.started:
        process.communicate()
    assert daemon.projects.close()


@pytest.mark.parametrize("has_memory", [False, True])
def test_a_project_without_anything_to_learn_from_costs_nothing(tmp_path: Path, has_memory: bool) -> None:
    (tmp_path / "a").mkdir()
    projects = make_app(tmp_path / "state", tmp_path / "a").daemon.projects
    learner = Learner(projects)

    def use(workspace: Workspace) -> dict[str, object]:
        if has_memory:
            workspace.memory.remember("something")
        return workspace.__dict__

    async def look() -> dict[str, object]:
        await projects.run_at_once("a", use)
        await learner.look(QUIET_SECONDS)
        return await projects.run_at_once("a", lambda workspace: dict(workspace.__dict__))

    assert "tuning" not in asyncio.run(look())
    learner.close()
    assert projects.close()
