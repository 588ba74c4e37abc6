from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from cairn.daemon.preparing import REST_SECONDS, Preparer
from cairn.errors import IndexMissingError
from cairn.workspace import Workspace
from serving import make_app


class Plan:
    """Starts processes that wait, and notes for which projects."""

    def __init__(self) -> None:
        self.roots: list[str] = []
        self.started: list[subprocess.Popen[bytes]] = []
        self.fails = False
        self.now = 0.0

    def __call__(self, workspace: Workspace) -> subprocess.Popen[bytes] | None:
        self.roots.append(workspace.root.name)
        if self.fails:
            raise IndexMissingError("not indexed")
        self.started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return self.started[-1]


def test_one_project_at_a_time_is_prepared_and_each_only_now_and_then(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    projects = make_app(tmp_path / "state", tmp_path / "a", tmp_path / "b").daemon.projects
    plan = Plan()
    preparer = Preparer(projects, plan, lambda: plan.now)

    async def use() -> None:
        await preparer.look()
        assert plan.roots == []  # none is open
        for name in ("a", "b"):
            await projects.run_at_once(name, lambda workspace: workspace.root)
        await preparer.look()
        await preparer.look()
        assert plan.roots == ["a"]
        plan.started[0].communicate(b"\n")
        await preparer.look()
        assert plan.roots == ["a", "b"]
        plan.started[1].communicate(b"\n")
        await preparer.look()
        assert plan.roots == ["a", "b"]
        plan.now, plan.fails = REST_SECONDS, True
        await preparer.look()
        assert plan.roots == ["a", "b", "a", "b"]

    asyncio.run(use())
    preparer.close()
    assert projects.close()


def test_a_preparation_ends_with_the_daemon(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    projects = make_app(tmp_path / "state", tmp_path / "a").daemon.projects
    plan = Plan()
    preparer = Preparer(projects, plan)

    async def use() -> None:
        await projects.run_at_once("a", lambda workspace: workspace.root)
        await preparer.look()

    asyncio.run(use())
    assert plan.started[0].poll() is None
    preparer.close()
    assert plan.started[0].returncode
    plan.started[0].communicate()
    assert projects.close()
