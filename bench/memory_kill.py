"""Kills the daemon at random moments while agents report events to it, and checks that none is lost and none doubled.

    python bench/memory_kill.py [--kills 50] [--seed 1] [--agents 6]

Each agent reports tool calls one after the other, each with an id of its own, and notes which were acknowledged; one in
ten it reports again. Meanwhile the daemon is killed (SIGKILL) at a random moment and started again, 50 times. Every
fourth time another process keeps the memory busy, so that events have to wait on disk, and the kill hits the daemon
before, while or after it takes them in; every fourth time it hits a daemon that has just begun. At the end every
acknowledged event must be in the memory, and none twice. What was not acknowledged may be there or not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cairn.client import ensure, stop
from cairn.errors import DaemonError, StoreError
from cairn.memory.spool import Spool
from cairn.registry import Registry
from cairn.runtime import Runtime, StateFolder
from cairn.storage.memory.session_db import SessionConditions
from cairn.transport import ask
from cairn.workspace import Workspace
from metrics import percentile

_PAUSE_SECONDS = 0.005
_REPEATED = 0.1  # of the events are reported twice though they were acknowledged


class Outcome(NamedTuple):
    """What became of the events of all agents."""

    n_kills: int
    n_reported: int
    n_acknowledged: int
    n_waited: int
    lost: list[str]
    doubled: list[str]
    milliseconds: list[float]
    n_bad: int


class Load:
    """Agents that report events until they are stopped.

    Args:
        folder: where the daemon is found.
        root: of the project.
        n_agents: how many threads.
        seed: decides which events are reported twice.
    """

    def __init__(self, folder: StateFolder, root: Path, n_agents: int, seed: int) -> None:
        self._folder, self._root = folder, root
        self._stopping = threading.Event()
        self._random = random.Random(seed)
        self.reported: list[str] = []
        self.acknowledged: list[str] = []
        self.milliseconds: list[float] = []
        self._threads = [threading.Thread(target=self._report, args=(number,)) for number in range(n_agents)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let every agent finish what it reports."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _report(self, agent: int) -> None:
        number = 0
        while not self._stopping.is_set():
            name = f"{agent}-{number}"
            self.reported.append(name)
            is_first = True
            while not self._stopping.is_set() and (is_first or self._random.random() < _REPEATED):
                is_first &= not self._is_acknowledged(agent, name)
            number += 1
            time.sleep(_PAUSE_SECONDS * self._random.random())

    def _is_acknowledged(self, agent: int, name: str) -> bool:
        begun = time.perf_counter()
        call: dict[str, object]
        if int(name.rpartition("-")[2]) % 2:
            call = {"name": "Read", "target": f"src/{name}.py", "output": f"line {name}\n" * 50}
        else:  # something to learn from
            output = f"FAILED tests/test_{name}.py::test_it - AssertionError: assert {agent} == 4\n1 failed in 0.1s\n"
            call = {"name": "Bash", "target": f"pytest tests/test_{name}.py", "exit_code": 1, "output": output}
        document = {
            "project": str(self._root),
            "session": f"session-{agent}",
            "agent": "bench",
            "payload": json.dumps({"id": name, "call": call}),
        }
        runtime = self._folder.find()
        if runtime is None:
            time.sleep(_PAUSE_SECONDS)
            return False
        try:
            token = self._folder.read_token()
            reply = ask(runtime, token, "POST", "/api/hook/after-tool", json.dumps(document).encode())
            is_kept = reply.status == 200 and json.loads(reply.body)["captured"] is True
        except (DaemonError, StoreError, ValueError, OSError):  # it was killed meanwhile
            time.sleep(_PAUSE_SECONDS)
            return False
        if is_kept:
            self.acknowledged.append(name)
            self.milliseconds.append(1000 * (time.perf_counter() - begun))
        return is_kept


@contextmanager
def keep_busy(database: Path, seconds: float) -> Iterator[None]:
    """Hold the write lock of a database in a thread, so that events have to wait, for at most so long."""
    done = threading.Event()

    def hold() -> None:
        with suppress(sqlite3.Error):
            connection = sqlite3.connect(database, timeout=5.0, isolation_level=None)
            connection.execute("BEGIN IMMEDIATE")
            done.wait(seconds)
            connection.execute("ROLLBACK")
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def wait_until(happens: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something happens, at most so long."""
    deadline = time.monotonic() + seconds
    while not happens() and time.monotonic() < deadline:
        time.sleep(0.002)


def kill(runtime: Runtime) -> None:
    """Kill a daemon and wait until it is gone."""
    with suppress(ProcessLookupError):
        os.kill(runtime.pid, signal.SIGKILL)
    for _ in range(1_000):
        try:
            os.kill(runtime.pid, 0)
        except ProcessLookupError:
            return
        if _is_zombie(runtime.pid):
            return
        time.sleep(0.005)


def _has_more(load: Load, n_before: int) -> bool:
    return len(load.acknowledged) > n_before


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def measure(work: Path, n_kills: int, seed: int, n_agents: int) -> Outcome:
    """Kill the daemon of a new project under load, and compare what was acknowledged with what was kept."""
    randomly = random.Random(seed)
    root = work / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "main.py").write_text("def main():\n    return 1\n")
    folder = StateFolder.of_user()
    Registry(folder).add(root, "project")
    ensure(folder)
    load = Load(folder, root, n_agents, seed)
    spool = Spool(root)
    n_waited = 0
    try:
        for number in range(n_kills):
            runtime = ensure(folder)
            if number % 4 == 3:  # a kill while it begins, and takes in what waits
                time.sleep(0.5 * randomly.random())
            else:
                wait_until(partial(_has_more, load, len(load.acknowledged)))
                time.sleep(0.5 * randomly.random())
            if number % 4 == 2:
                with keep_busy(root / ".cairn" / "memory.db", 20.0):
                    wait_until(lambda: spool.count() > 0)
                    time.sleep(randomly.random())
                    n_waited = max(n_waited, spool.count())
                    if randomly.random() < 0.5:
                        kill(runtime)
                time.sleep(0.05 * randomly.random())
            kill(runtime)
            print(f"{number + 1} kills, {len(load.acknowledged):,} acknowledged, {spool.count()} wait", flush=True)
    finally:
        ensure(folder)
        load.stop()
    stop(folder)
    return _compare(root, load, n_kills, n_waited)


def _compare(root: Path, load: Load, n_kills: int, n_waited: int) -> Outcome:
    with Workspace.open(root) as workspace:
        memory = workspace.memory
        while memory.inbox.catch_up():
            pass
        kept = Counter(
            activity.target.removeprefix("src/").removeprefix("pytest tests/test_").removesuffix(".py")
            for session in memory.sessions.select(SessionConditions())
            for activity in memory.sessions.activities(session)
        )
        counted = sum(session.n_activities for session in memory.sessions.select(SessionConditions()))
        assert not memory.store.refold(), "some memories are not what their events say"
    assert counted == kept.total(), "the counts of the sessions are not those of their activities"
    assert not kept.keys() - set(load.reported), "something was kept that nobody reported"
    lost = sorted(set(load.acknowledged) - kept.keys())
    doubled = sorted(name for name, count in kept.items() if count > 1)
    n_acknowledged = len(set(load.acknowledged))
    n_bad = len(Spool(root).bad_files())
    return Outcome(n_kills, len(load.reported), n_acknowledged, n_waited, lost, doubled, load.milliseconds, n_bad)


def main() -> None:
    """Print what became of all events; the exit code is 1 if one was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--agents", type=int, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        os.environ["XDG_STATE_HOME"] = f"{work}/state"  # of its own: a daemon that runs already is left alone
        os.environ["XDG_CONFIG_HOME"] = f"{work}/config"
        outcome = measure(Path(work), options.kills, options.seed, options.agents)
    print(
        f"{outcome.n_kills} kills: {outcome.n_reported:,} events reported, {outcome.n_acknowledged:,} acknowledged, "
        f"up to {outcome.n_waited} waiting on disk; {len(outcome.lost)} lost, {len(outcome.doubled)} doubled, "
        f"{outcome.n_bad} unreadable; p50 {percentile(outcome.milliseconds, 50):.1f} ms, "
        f"p95 {percentile(outcome.milliseconds, 95):.1f} ms"
    )
    if outcome.lost or outcome.doubled or outcome.n_bad:
        raise SystemExit(f"lost: {outcome.lost[:20]}; doubled: {outcome.doubled[:20]}")


if __name__ == "__main__":
    main()
