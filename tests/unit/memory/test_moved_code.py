from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn import Workspace
from cairn.memory.moments import Moment
from cairn.operations import perform
from cairn.protocol.memory_requests import MemoriesRequest, MemoryCodeRequest

POOL = """class Pool:
    def take(self) -> int:
        return self.free.pop()


"""
RETRY = """def retry(call, times, pause):
    for attempt in range(times):
        try:
            return call()
        except OSError:
            wait(pause * 2**attempt)
    raise TimeoutError(times)


"""
OTHERS = """def size(pool):
    return len(pool.free)
"""
ASKED = "does retry double the pause"


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, **contents: str) -> None:
    """Write some Python files, by their names, and commit them."""
    for name, content in contents.items():
        (root / f"{name}.py").write_text(content)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "next")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, pool=POOL + RETRY + OTHERS, views="VIEWS = ['start', 'about']\n")
    return tmp_path


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with Workspace.open(root) as workspace:
        workspace.memory.remember("Retry doubles the pause after each failure.", files=["pool.py::retry"])
        yield workspace


def found(workspace: Workspace) -> list[tuple[tuple[str, ...], str]]:
    return [(hit.files, hit.check) for hit in workspace.memory.answers.find(ASKED)]


def test_a_memory_follows_its_definition_to_another_file(root: Path, workspace: Workspace) -> None:
    commit(root, pool=POOL + OTHERS, network=RETRY)
    assert found(workspace) == [(("network.py::retry",), "")]


def test_a_definition_that_changed_as_it_was_moved_is_followed_and_to_be_checked(
    root: Path, workspace: Workspace
) -> None:
    commit(root, pool=POOL + OTHERS, views=RETRY.replace("OSError", "ConnectionError"))
    assert found(workspace) == [(("views.py::retry",), "check: code changed since: views.py::retry")]


def test_a_definition_that_was_renamed_in_its_file_is_followed_and_to_be_checked(
    root: Path, workspace: Workspace
) -> None:
    commit(root, pool=POOL + RETRY.replace("retry", "call_again") + OTHERS)
    assert found(workspace) == [(("pool.py::call_again",), "check: code changed since: pool.py::call_again")]


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "not committed"])
def test_a_definition_that_was_moved_to_another_file_under_another_name_is_followed(
    root: Path, workspace: Workspace, is_committed: bool
) -> None:
    now = {"pool": POOL + OTHERS, "network": RETRY.replace("retry", "call_again")}
    if is_committed:
        commit(root, **now)
    for name, content in now.items():
        (root / f"{name}.py").write_text(content)
    assert found(workspace) == [(("network.py::call_again",), "check: code changed since: network.py::call_again")]


def test_a_definition_like_one_that_is_gone_is_not_taken_for_it_if_it_says_something_else(
    root: Path, workspace: Workspace
) -> None:
    other = (
        "def repeat(call, times):\n    for attempt in range(times):\n        print(attempt, call())\n    return times\n"
    )
    commit(root, pool=POOL + OTHERS, network=other)
    assert found(workspace) == [(("pool.py::retry",), "its code is gone: pool.py::retry")]


def test_a_definition_is_followed_before_the_move_is_committed(root: Path, workspace: Workspace) -> None:
    (root / "pool.py").write_text(POOL + OTHERS)
    (root / "network.py").write_text(RETRY)
    assert found(workspace) == [(("network.py::retry",), "")]


def test_a_definition_that_was_moved_twice_is_followed_to_the_end(root: Path, workspace: Workspace) -> None:
    commit(root, pool=POOL + OTHERS, network=RETRY)
    git(root, "mv", "network.py", "wire.py")
    commit(root)
    commit(root, wire=OTHERS, views=RETRY)
    assert found(workspace) == [(("views.py::retry",), "")]


def test_a_definition_of_a_file_that_is_deleted_is_followed(root: Path, workspace: Workspace) -> None:
    (root / "pool.py").unlink()
    commit(root, network=RETRY, views=POOL + OTHERS)
    assert found(workspace) == [(("network.py::retry",), "")]


def test_a_method_follows_its_class(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.memory.remember("Retry: take never waits; it fails at once.", files=["pool.py::Pool.take"])
        commit(root, pool=RETRY + OTHERS, network=POOL.replace("Pool", "Connections"))
        assert found(workspace) == [(("network.py::Connections.take",), "")]


@pytest.mark.parametrize(
    "now",
    [
        {"network": "def retry(job):\n    queue.put(job, priority=LOW)\n    log(job.name, job.owner)\n"},
        {"pool": POOL + OTHERS + "def close(pool):\n    for one in pool.free:\n        one.close()\n"},
        {"views": "from network import retry\n"},
    ],
    ids=["another of its name", "another in its place", "a mere mention"],
)
def test_a_definition_that_is_deleted_is_gone(root: Path, workspace: Workspace, now: dict[str, str]) -> None:
    commit(root, **{"pool": POOL + OTHERS} | now)
    assert found(workspace) == [(("pool.py::retry",), "its code is gone: pool.py::retry")]


def test_a_definition_that_was_in_another_file_before_is_not_taken_for_the_moved_one(root: Path) -> None:
    commit(root, network=RETRY)
    with Workspace.open(root) as workspace:
        workspace.memory.remember("Retry doubles the pause after each failure.", files=["pool.py::retry"])
        commit(root, pool=POOL + OTHERS)
        assert found(workspace) == [(("pool.py::retry",), "its code is gone: pool.py::retry")]


def test_a_memory_is_where_its_definition_is_on_each_branch(root: Path, workspace: Workspace) -> None:
    git(root, "switch", "-q", "-c", "split")
    commit(root, pool=POOL + OTHERS, network=RETRY)
    git(root, "switch", "-q", "main")
    assert found(workspace) == [(("pool.py::retry",), "")]
    git(root, "switch", "-q", "split")
    assert found(workspace) == [(("network.py::retry",), "")]


def test_the_memories_of_a_file_are_those_of_definitions_that_were_moved_there(
    root: Path, workspace: Workspace
) -> None:
    commit(root, pool=POOL + OTHERS, network=RETRY)
    (hit,) = workspace.memory.answers.about(["network.py"])
    assert hit.why == "about network.py::retry"
    for file in ("views.py", "pool.py"):
        assert not workspace.memory.answers.about([file])
    for file in ("network.py", "pool.py"):
        assert perform(workspace, "memories", MemoriesRequest(file=file))["total"] == 1
    assert perform(workspace, "memories", MemoriesRequest(file="views.py"))["total"] == 0


def test_a_session_begins_where_a_definition_was_moved_from_a_file_that_changed(
    root: Path, workspace: Workspace
) -> None:
    commit(root, pool=POOL + OTHERS, network=RETRY)
    (root / "pool.py").write_text(POOL + OTHERS + "\n")
    moment = Moment("1", "session-start", "s-1", "claude-code", time.time(), details={"source": "startup"})
    assert workspace.memory.take(moment, shows=True).context


def test_the_code_of_a_memory_is_shown_where_it_is_now(root: Path, workspace: Workspace) -> None:
    commit(root, pool=POOL + OTHERS, network="LIMIT = 3\n\n\n" + RETRY.replace("OSError", "ConnectionError"))
    (row,) = perform(workspace, "memories", MemoriesRequest())["memories"]
    (code,) = perform(workspace, "memories/code", MemoryCodeRequest(id=row["id"]))["links"]
    assert (code["file"], code["state"], code["line"]) == ("network.py::retry", "changed", 4)
    assert "-        except OSError:\n+        except ConnectionError:" in code["diff"]
    (link,) = workspace.memory.store.observations([row["id"]])[0].links
    assert (link.path, link.symbol) == ("pool.py", "retry")


def test_a_definition_that_was_renamed_with_its_file_is_followed(root: Path, workspace: Workspace) -> None:
    git(root, "mv", "pool.py", "basin.py")
    commit(root, basin=POOL + RETRY.replace("retry", "repeat") + OTHERS)
    ((files, check),) = found(workspace)
    assert files == ("basin.py::repeat",)
    assert check.startswith("check: code changed since")
    git(root, "mv", "basin.py", "lake.py")
    commit(root, views="VIEWS = []\n")
    assert found(workspace)[0][0] == ("lake.py::repeat",)
