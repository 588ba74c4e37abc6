"""The daemon as processes: started by many at once, killed, idle, replaced; and what commands make of it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import in_process
from cairn import __version__
from cairn.client import Client, SocketTransport, ensure, stop
from cairn.daemon.lifecycle import LOG_BYTES
from cairn.errors import IndexVersionError, ProjectError
from cairn.protocol.requests import SearchRequest
from cairn.runtime import Runtime, StateFolder, process_started
from cairn.storage.lock import file_lock
from cairn.transport import ask
from in_process import document
from installed import CODE, COMMAND, cairn


@pytest.fixture
def folder(state_home: Path) -> Iterator[StateFolder]:
    """The state folder of a user whose daemon, if there is one, ends with the test."""
    found = StateFolder(state_home / "cairn")
    yield found
    stop(found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src" / "money.py").write_text(CODE)
    assert cairn("index", cwd=root).returncode == 0
    return root


def wait_until_ended(folder: StateFolder) -> None:
    """Return once no daemon holds the lock."""
    with file_lock(folder.lock, 60):
        pass


def wait_until_found(folder: StateFolder, process: subprocess.Popen[bytes]) -> Runtime:
    """Return what a daemon that was just started writes about itself."""
    while (runtime := folder.find()) is None:
        assert process.poll() is None
        time.sleep(0.01)
    return runtime


def n_requests(folder: StateFolder, runtime: Runtime) -> int:
    """Return how many requests the daemon had before this one."""
    return int(json.loads(ask(runtime, folder.read_token(), "GET", "/api/status").body)["requests"]) - 1


def test_a_daemon_is_started_asked_and_stopped(tmp_path: Path, folder: StateFolder) -> None:
    assert cairn("daemon", "status", cwd=tmp_path).returncode == 1
    assert document(cairn("daemon", "status", "--json", cwd=tmp_path)) == {"running": False}
    assert cairn("daemon", "stop", cwd=tmp_path).returncode == 1
    logs = cairn("daemon", "logs", cwd=tmp_path)
    assert (logs.returncode, logs.stderr) == (1, "There is no log: no daemon has run yet.\n")

    started = document(cairn("daemon", "start", "--json", cwd=tmp_path))
    assert started["running"] is True
    assert started["version"] == __version__
    again = document(cairn("daemon", "ensure", "--json", cwd=tmp_path))
    assert again["pid"] == started["pid"]

    status = document(cairn("daemon", "status", "--json", cwd=tmp_path))
    assert (status["pid"], status["url"]) == (started["pid"], started["url"])
    told = cairn("daemon", "status", cwd=tmp_path)
    assert str(folder.token) in told.stdout
    token = folder.read_token()
    assert stat.S_IMODE(folder.token.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700

    logs = cairn("daemon", "logs", cwd=tmp_path)
    assert f"process {started['pid']}" in logs.stdout
    assert cairn("daemon", "stop", cwd=tmp_path).returncode == 0
    assert cairn("daemon", "status", cwd=tmp_path).returncode == 1
    assert not folder.token.exists()
    assert token not in told.stdout + folder.log.read_text()
    assert "stopped" in document(cairn("daemon", "logs", "--json", "-n", "1", cwd=tmp_path))["lines"][0]


def test_a_deleted_current_folder_is_told(tmp_path: Path, folder: StateFolder) -> None:
    ensure(folder)
    gone = tmp_path / "gone"
    script = f'cd "{gone}" && rmdir "{gone}" && exec "$0" "$@"'
    for command in (["search", "x"], ["memories"], ["outline", "a.py"], ["savings"], ["config", "show"]):
        gone.mkdir()
        done = subprocess.run(
            ["sh", "-c", script, COMMAND, *command], capture_output=True, timeout=60, check=False, text=True
        )
        assert done.returncode == 2, (command, done)
        assert done.stderr.startswith("error[path]: . does not exist\n"), (command, done)


def test_a_folder_that_is_not_there_is_not_taken_for_the_project_around_it(project: Path, folder: StateFolder) -> None:
    ensure(folder)
    for command in (["search", "tax"], ["outline", "src/money.py"], ["callers", "tax"]):
        for name, problem in (("nowhere", "does not exist"), ("src/money.py", "is not a directory")):
            done = cairn(*command, "-C", name, cwd=project)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr.startswith(f"error[path]: {name} {problem}\n")


def test_ten_at_once_start_one_daemon(tmp_path: Path, folder: StateFolder) -> None:
    with ThreadPoolExecutor(10) as pool:
        found = list(pool.map(lambda _: document(cairn("daemon", "ensure", "--json", cwd=tmp_path)), range(10)))
    assert len({answer["pid"] for answer in found}) == 1
    assert folder.log.read_text().count("version") == 1


def test_a_killed_daemon_leaves_nothing_that_is_in_the_way(project: Path, folder: StateFolder) -> None:
    first = ensure(folder)
    os.kill(first.pid, signal.SIGKILL)
    wait_until_ended(folder)
    assert folder.runtime.exists()
    assert folder.find() is None
    assert cairn("search", "add the tax", cwd=project).returncode == 0  # answers itself
    second = ensure(folder)
    assert second.pid != first.pid
    assert cairn("search", "add the tax", cwd=project).returncode == 0
    assert n_requests(folder, second) > 1


def test_a_stranger_at_the_port_is_left_alone(tmp_path: Path, folder: StateFolder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        found = document(cairn("daemon", "start", "--json", cwd=tmp_path, CAIRN_DAEMON_PORT=str(port)))
        assert int(found["url"].rpartition(":")[2]) in range(port + 1, port + 100)
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.accept()  # nobody even asked


def test_a_daemon_that_nobody_asks_ends_by_itself(tmp_path: Path, folder: StateFolder) -> None:
    assert cairn("daemon", "start", cwd=tmp_path, CAIRN_DAEMON_IDLE_MINUTES="0.005").returncode == 0
    wait_until_ended(folder)
    assert not folder.runtime.exists()
    assert "no request for" in folder.log.read_text()


def test_a_daemon_whose_address_is_lost_writes_it_down_again(tmp_path: Path, folder: StateFolder) -> None:
    often = {"CAIRN_DAEMON_IDLE_MINUTES": "0.2"}
    started = document(cairn("daemon", "start", "--json", cwd=tmp_path, **often))
    folder.runtime.write_text("{")
    folder.token.unlink()
    deadline = time.monotonic() + 30
    while (found := folder.find()) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found is not None
    assert found.pid == started["pid"]
    assert ask(found, folder.read_token(), "GET", "/api/status").status == 200


@pytest.mark.parametrize("content", ["", "junk", None])
def test_a_daemon_whose_address_is_lost_is_waited_for(tmp_path: Path, folder: StateFolder, content: str | None) -> None:
    started = document(cairn("daemon", "start", "--json", cwd=tmp_path))
    if content is None:
        folder.runtime.unlink()
    else:
        folder.runtime.write_text(content)
    again = cairn("daemon", "start", "--json", cwd=tmp_path)
    assert (again.returncode, document(again)["pid"]) == (0, started["pid"])
    folder.runtime.unlink()
    assert cairn("daemon", "stop", cwd=tmp_path).returncode == 0
    wait_until_ended(folder)


def test_a_daemon_that_cannot_read_what_a_newer_program_wrote_is_replaced_once(
    project: Path, folder: StateFolder
) -> None:
    first = ensure(folder)
    with closing(sqlite3.connect(project / ".cairn" / "index.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    done = cairn("search", "tax", cwd=project)
    assert (done.returncode, "error[index-version]: the index was written by a newer Cairn" in done.stderr) == (3, True)
    assert "The daemon is older than what this project's state was written by" in done.stderr
    client, request = Client(SocketTransport(folder)), SearchRequest(project=str(project), query="tax")

    async def use() -> None:
        for _ in range(2):  # it is not the daemon's fault
            with pytest.raises(IndexVersionError):
                await client.call("search", request)

    asyncio.run(use())
    second = folder.find()
    assert second is not None
    assert second.pid != first.pid
    assert folder.log.read_text().count(": stopped\n") == 1


def test_no_link_is_given_to_pages_that_would_not_be_shown(tmp_path: Path, folder: StateFolder) -> None:
    cairn("daemon", "start", cwd=tmp_path, CAIRN_DAEMON_HOST="0.0.0.0")
    done = cairn("ui", "--print", cwd=tmp_path, CAIRN_DAEMON_HOST="0.0.0.0")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error[access]: pages are shown only where other machines cannot reach them\n")
    assert done.stderr.endswith(": cairn config unset daemon_host\n")


def test_no_link_is_given_to_the_pages_of_a_folder_that_is_not_there(tmp_path: Path, folder: StateFolder) -> None:
    done = cairn("ui", "--print", "-C", "gone", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error[path]: gone does not exist\n  try: ")
    assert cairn("ui", "--print", cwd=tmp_path).stdout.startswith("http://")


@pytest.mark.parametrize("action", ["ensure", "stop"])
def test_where_there_is_no_network_nobody_waits_for_a_daemon_that_runs(
    tmp_path: Path, folder: StateFolder, action: str
) -> None:
    apart = ("unshare", "--map-root-user", "--net")
    if shutil.which("unshare") is None or subprocess.run((*apart, "true"), check=False, capture_output=True).returncode:
        pytest.skip("this system makes no network of its own for a process")
    runtime = ensure(folder)

    done = subprocess.run(
        (*apart, COMMAND, "daemon", action), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=10
    )

    assert done.returncode == 3
    assert done.stderr.startswith("error[daemon]: the daemon cannot be reached from here: Network is unreachable\n")
    assert folder.find() == runtime


def test_a_daemon_without_its_state_folder_ends(tmp_path: Path, folder: StateFolder) -> None:
    started = document(cairn("daemon", "start", "--json", cwd=tmp_path, CAIRN_DAEMON_IDLE_MINUTES="0.2"))
    runtime = folder.find()
    assert runtime is not None
    shutil.rmtree(folder.path)
    deadline = time.monotonic() + 30
    while process_started(started["pid"]) == runtime.started and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process_started(started["pid"]) != runtime.started


def test_a_daemon_in_the_foreground_ends_in_order_when_it_is_told_to(folder: StateFolder) -> None:
    folder.create()
    with subprocess.Popen([COMMAND, "daemon", "start", "--foreground"], stderr=subprocess.PIPE) as process:
        assert wait_until_found(folder, process).pid == process.pid
        second = cairn("daemon", "start", "--foreground", cwd=folder.path)
        assert second.returncode == 3
        assert "error[daemon]" in second.stderr
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert not folder.runtime.exists()


def test_a_daemon_of_another_version_is_replaced(project: Path, folder: StateFolder) -> None:
    other = (
        "import cairn; cairn.__version__ = '0.0.1'; from cairn.cli.main import main; "
        "main(['daemon', 'start', '--foreground'])"
    )
    folder.create()
    with subprocess.Popen([sys.executable, "-c", other]) as process:
        runtime = wait_until_found(folder, process)
        assert runtime.version == "0.0.1"
        assert cairn("search", "add the tax", cwd=project).returncode == 0
        assert n_requests(folder, runtime) == 0  # a command does not trust it
        replaced = ensure(folder)
        assert process.wait(30) == 0
    assert replaced.version == __version__


def test_a_daemon_that_runs_what_was_here_before_an_update_is_replaced(project: Path, folder: StateFolder) -> None:
    other = (
        "from cairn import runtime; here = runtime.program_mark().partition('-')[0]; "
        "runtime.program_mark = lambda: here + '-00000000'; from cairn.cli.main import main; "
        "main(['daemon', 'start', '--foreground'])"
    )
    folder.create()
    with subprocess.Popen([sys.executable, "-c", other]) as process:
        runtime = wait_until_found(folder, process)
        assert runtime.version == __version__
        asking = Client(SocketTransport(folder)).call("search", SearchRequest(project=str(project), query="tax"))
        assert asyncio.run(asking)["code"][0]["name"] == "tax"
        assert process.wait(30) == 0
    replaced = ensure(folder)
    assert replaced.pid != runtime.pid
    assert ensure(folder).pid == replaced.pid


def test_a_client_starts_the_daemon_when_it_needs_it_and_again_when_it_is_gone(
    project: Path, folder: StateFolder
) -> None:
    async def use() -> None:
        client = Client(SocketTransport(folder))
        assert (await client.call("search", SearchRequest(query="tax")))["code"][0]["name"] == "tax"
        first = folder.find()
        assert first is not None
        events = [event async for event in client.events("/api/index/build", {"full": True})]
        assert [name for name, _ in events] == ["progress"] * (len(events) - 1) + ["done"]
        with pytest.raises(ProjectError):
            _ = [event async for event in client.events("/api/index/build", {"project": "/etc"})]
        os.kill(first.pid, signal.SIGKILL)
        found = await asyncio.gather(*(client.call("search", SearchRequest(query="tax")) for _ in range(20)))
        assert all(answer["code"] for answer in found)
        await client.post("/api/shutdown", {})
        assert (await client.get("/api/index/status", project=str(project)))["files"] == 1

    asyncio.run(use())


def test_answers_are_the_same_with_the_daemon_and_without(project: Path, folder: StateFolder) -> None:
    (hit, *_) = document(in_process.cairn("search", "total", "--json", cwd=project))["code"]
    asked = [
        ("search", "add the tax"),
        ("search", "add the tax", "--json", "--explain", "--expand", "-n", "1"),
        ("search", "total", "--context", "3", "--max-tokens", "60"),
        ("search", "callers of tax"),
        ("search", "nothing of the kind zzqx"),
        ("search", "(", "--mode", "regex"),
        ("search", "tax", "--branch", "no-such"),
        ("search", "tax", "--lang", "klingon"),
        ("search", "tax", "--project", "shop"),
        ("search", "tax", "--project", "all", "--json"),
        ("search", "tax", "--project", "all"),
        ("search", "tax", "--project", "no-such"),
        ("fetch", hit["id"]),
        ("fetch", hit["id"], "src/money.py#tax", "--json"),
        ("fetch", "nonsense"),
        ("similar", "src/money.py:2"),
        ("similar", "money.py:2", "--json", "-n", "1", "-C", "src"),
        ("similar", "src/money.py:999"),
        ("similar", "gone.py:1"),
        ("similar", "src/money.py:2", "--lang", "klingon"),
        ("context", "add the tax"),
        ("context", "add the tax", "--file", "money.py", "--json", "-C", "src"),
        ("context", "--id", hit["id"], "--max-tokens", "100"),
        ("context", "nothing of the kind zzqx"),
        ("context", "--id", "nonsense"),
        ("context",),
        ("outline", "money.py"),
        ("outline", "src/money.py"),
        ("outline", "money.py", "--mode", "context", "--symbol", "tax", "--json", "-C", "src"),
        ("outline", "/etc/passwd"),
        ("outline", "src/money.py", "--symbol", "no_such"),
        ("callers", "tax"),
        ("callers", "tax", "--json", "--no-update"),
        ("callees", "total"),
        ("path", "total", "tax"),
        ("path", "tax", "total", "--json"),
        ("importers", "src/money.py"),
        ("impact", "tax"),
        ("impact", "--diff"),
        ("tests", "tax"),
        ("callers", "no_such"),
    ]
    alone = [in_process.cairn(*command, cwd=project) for command in asked]
    runtime = ensure(folder)
    for command, expected in zip(asked, alone, strict=True):
        before = n_requests(folder, runtime)
        got = in_process.cairn(*command, cwd=project)
        assert n_requests(folder, runtime) == before + 2, command  # the daemon was asked, and this question
        assert (got.returncode, without_time(got.stdout), got.stderr) == (
            expected.returncode, without_time(expected.stdout), expected.stderr,
        ), command  # fmt: skip


def test_code_on_stdin_is_compared_by_the_daemon_unless_it_is_too_long_for_a_request(
    project: Path, folder: StateFolder
) -> None:
    code = (project / "src" / "money.py").read_bytes()
    texts = (code, code + b"# \xff\xe4\n", code + b"#" * 1_000_000)

    def similar(text: bytes) -> tuple[int, str, bytes]:
        done = subprocess.run([COMMAND, "similar", "-"], cwd=project, input=text, capture_output=True, check=False)
        return done.returncode, without_time(done.stdout.decode()), done.stderr

    alone = [similar(text) for text in texts]
    assert "src/money.py" in alone[1][1]
    assert alone[2][0] == 2
    runtime = ensure(folder)
    for text, expected in zip(texts, alone, strict=True):
        before = n_requests(folder, runtime)
        assert similar(text) == expected
        assert n_requests(folder, runtime) == before + 2


def without_time(text: str) -> str:
    if not text.startswith("{"):
        return text
    found = json.loads(text)
    found.pop("took_ms", None)
    return json.dumps(found)


def test_an_edit_is_found_through_the_daemon_at_once(project: Path, folder: StateFolder) -> None:
    ensure(folder)
    for number in range(5):
        (project / "src" / "more.py").write_text(f"def discount_{number}(price):\n    return price\n")
        found = document(cairn("search", f"discount_{number}", "--json", cwd=project))
        assert found["code"][0]["name"] == f"discount_{number}"


def test_commands_leave_the_daemon_alone_when_told_to_or_when_it_would_answer_something_else(
    project: Path, tmp_path: Path, folder: StateFolder
) -> None:
    runtime = ensure(folder)
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / "a.py").write_text(CODE)
    for done in (
        cairn("search", "tax", "--no-daemon", cwd=project),
        cairn("search", "tax", cwd=project, CAIRN_DAEMON="false"),
        cairn("search", "tax", "--state-dir", str(tmp_path / "elsewhere"), cwd=project),
        cairn("search", "tax", cwd=project, CAIRN_MAX_FILE_BYTES="5000"),
        cairn("search", "tax", cwd=stranger),  # no project of this user yet
    ):
        assert done.returncode == 0, done.stderr
    assert n_requests(folder, runtime) == 1  # that of `ensure`
    assert cairn("search", "tax", cwd=stranger).returncode == 0
    assert n_requests(folder, runtime) == 3  # it is one now


def test_a_daemon_that_is_not_to_answer_commands_does_not(project: Path, folder: StateFolder) -> None:
    assert cairn("daemon", "start", cwd=project, CAIRN_DAEMON="0").returncode == 0
    runtime = folder.find()
    assert runtime is not None
    assert cairn("search", "tax", cwd=project).returncode == 0
    assert n_requests(folder, runtime) == 1


def test_a_daemon_that_hangs_costs_a_command_nothing_but_time(project: Path, folder: StateFolder) -> None:
    runtime = ensure(folder)
    os.kill(runtime.pid, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(2) as pool:
            searching = pool.submit(cairn, "search", "tax", cwd=project)
            status = pool.submit(cairn, "daemon", "status", cwd=project).result()
            assert status.returncode == 3
            assert f"process {runtime.pid}" in status.stderr
            assert not searching.done()  # it waits longer for its answer
            done = searching.result()
    finally:
        os.kill(runtime.pid, signal.SIGCONT)
    assert done.returncode == 0
    assert "money.py" in done.stdout
    assert "The daemon did not answer" in done.stderr
    assert cairn("search", "tax", cwd=project).stderr == ""


def test_a_daemon_whose_token_is_lost_is_told_and_costs_a_command_nothing(project: Path, folder: StateFolder) -> None:
    runtime = ensure(folder)
    for token in (b"not the token", b"\xff"):
        folder.token.write_bytes(token)
        done = cairn("search", "tax", cwd=project)
        assert done.returncode == 0
        assert done.stderr == ""
        status = cairn("daemon", "status", cwd=project)
        assert status.returncode == 0 or status.stderr.startswith("error[")  # the daemon may have written it again
        assert "Traceback" not in status.stderr
    folder.token.unlink()
    assert cairn("search", "tax", cwd=project).returncode == 0
    assert folder.find() == runtime


@pytest.mark.parametrize("token", [b"", b"not the token", b"\xff", None])
def test_a_daemon_whose_token_is_lost_writes_it_again(folder: StateFolder, token: bytes | None) -> None:
    ensure(folder)
    if token is None:
        folder.token.unlink()
    else:
        folder.token.write_bytes(token)
    assert stop(folder)  # which waits for it
    wait_until_ended(folder)


def test_a_log_that_cannot_be_there_is_empty_and_one_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert cairn("daemon", "logs", cwd=tmp_path, XDG_STATE_HOME=str(tmp_path / "file")).returncode == 1
    (tmp_path / "cairn" / "daemon.log").mkdir(parents=True)
    done = cairn("daemon", "logs", cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    assert done.returncode == 3
    assert done.stderr.startswith("error[store]")


def test_the_log_is_turned_over_before_it_grows_large(folder: StateFolder) -> None:
    folder.create()
    folder.log.write_text("x" * LOG_BYTES)
    ensure(folder)
    assert folder.log.stat().st_size < 10_000
    assert folder.log.with_name("daemon.log.1").stat().st_size >= LOG_BYTES


def test_a_project_file_cannot_say_how_the_daemon_runs(project: Path, folder: StateFolder) -> None:
    (project / ".cairn" / "config.yaml").write_text("daemon_host: 0.0.0.0\n")
    done = cairn("search", "tax", cwd=project)
    assert done.returncode == 2
    assert "may not set daemon_host" in done.stderr


def test_a_project_is_named_by_its_setting_its_remote_or_its_folder(
    project: Path, tmp_path: Path, folder: StateFolder
) -> None:
    for name, remote in (("cloned", "git@example.org:team/wagon.git"), ("other", "https://example.org/team/cart/")):
        root = tmp_path / name
        root.mkdir()
        (root / "a.py").write_text(CODE)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        subprocess.run(["git", "remote", "add", "origin", remote], cwd=root, check=True)
        cairn("index", cwd=root)
    (project / ".cairn" / "config.yaml").write_text("project_name: till\n")
    cairn("index", cwd=project)
    runtime = ensure(folder)
    found = json.loads(ask(runtime, folder.read_token(), "GET", "/api/projects").body)
    assert sorted(project["name"] for project in found) == ["cart", "till", "wagon"]
    done = cairn("search", "tax", "--project", "wagon", cwd=tmp_path)
    assert done.returncode == 0
    assert "a.py:6" in done.stdout
