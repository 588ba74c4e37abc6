"""Real git repositories for the tests, free of the settings of whoever runs them; reproducible property tests."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, sync_playwright

from cairn.memory.actors import ACTOR_VARIABLE, SIGNS
from cairn.memory.store import MemoryStore
from chromium import ARGUMENTS, CHROMIUM
from hostile_markup import FOREIGN

collect_ignore = ["docs/project"]  # the project that the examples of the documentation run on

Git = Callable[..., str]

# Of what a shell starts in the background, and of all that this starts, an interrupt would be ignored.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `pytest --cov` measures no fork: tracing would use up the processor time that a fork which parses has for a file.
os.register_at_fork(after_in_child=partial(sys.settrace, None))


def _is_worker(config: pytest.Config) -> bool:
    """Return whether this process runs a share of the tests for another one."""
    return hasattr(config, "workerinput")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Say that the tests came to their end: something that ends this process at once would look like success."""
    mark = os.environ.get("CAIRN_TESTS_ENDED")
    if mark and not _is_worker(session.config):
        Path(mark).write_text(f"{session.testscollected} tests\n")


# Reproducible everywhere; `HYPOTHESIS_PROFILE=search` looks for new examples.
settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(autouse=True, scope="session")
def a_person_at_work() -> Iterator[None]:
    """Commands of tests are those of a person, also where an agent runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (ACTOR_VARIABLE, *(sign.variable for sign in SIGNS)):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def shared_state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The state folder and the cache of what several tests share, such as an index that all tests of a module ask."""
    folder = tmp_path_factory.mktemp("shared-state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield folder


@pytest.fixture(autouse=True)
def state_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, shared_state_home: Path
) -> Path:
    """A state folder of its own for each test: commands must not list its projects among those of whoever runs it.

    The indexes that tests share are known in it.

    And a cache of its own, in which no failure of another test is remembered.
    """
    folder = tmp_path_factory.mktemp("state")
    if (shared_state_home / "cairn").is_dir():
        shutil.copytree(shared_state_home / "cairn", folder / "cairn", ignore=shutil.ignore_patterns("*.tmp"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    return folder


@pytest.fixture(autouse=True)
def memory_stores(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[MemoryStore]]:
    """The memory stores that a test opens, closed after it: Python complains of those that are not, since 3.13."""
    opened: list[MemoryStore] = []
    begin = MemoryStore.__init__

    def begin_and_keep(self: MemoryStore, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - those of the class
        begin(self, *arguments, **options)
        opened.append(self)

    monkeypatch.setattr(MemoryStore, "__init__", begin_and_keep)
    yield opened
    for store in opened:
        store.close()


@pytest.fixture
def git(monkeypatch: pytest.MonkeyPatch) -> Git:
    """A function that runs git in a folder and returns what it prints."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    settings = {
        "user.name": "A",
        "user.email": "a@example.org",
        "init.defaultBranch": "main",
        "protocol.file.allow": "always",
        "advice.addEmbeddedRepo": "false",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def run(folder: Path, *arguments: str) -> str:
        command = ["git", *options, *arguments]
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()

    return run


@pytest.fixture
def checkout(tmp_path: Path, git: Git) -> Path:
    """The folder of a fresh repository without commits."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


# -- pages -------------------------------------------------------------------------------------------------------------

_MAPPED = f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1"  # as after DNS rebinding


@pytest.fixture(scope="module")  # its event loop runs as long as it is there, and other tests have loops of their own
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, _MAPPED])
        yield browser
        browser.close()
