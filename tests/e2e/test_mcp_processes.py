"""Agents' connections as processes: the SDK's own client over stdin and stdout and over HTTP, and how they end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from cairn.client import Client as AskingClient
from cairn.client import SocketTransport, ensure, stop
from cairn.errors import DaemonError
from cairn.mcp.tools import TOOLS
from cairn.protocol.requests import OutlineRequest
from cairn.registry import Registry
from cairn.runtime import Runtime, StateFolder
from installed import CODE, COMMAND
from other_processes import wait_for_rest, wait_for_work

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
MAX_RESIDENT_MB = 60
Make = Callable[[], AbstractAsyncContextManager[Any]]


@pytest.fixture
def folder(state_home: Path) -> Iterator[StateFolder]:
    """The state folder of a user whose daemon, if there is one, ends with the test."""
    found = StateFolder(state_home / "cairn")
    yield found
    stop(found)


@pytest.fixture
def project(checkout: Path) -> Path:
    (checkout / "money.py").write_text(CODE)
    return checkout


def _over_stdio(project: Path, folder: StateFolder) -> Make:
    environment = {"XDG_STATE_HOME": str(folder.path.parent)}
    return lambda: nullcontext(StdioServerParameters(command=COMMAND, args=["mcp"], cwd=project, env=environment))


def _over_http(project: Path, folder: StateFolder) -> Make:
    Registry(folder).add(project, "shop")
    runtime = ensure(folder)

    @asynccontextmanager
    async def make() -> AsyncIterator[Any]:
        headers = {"authorization": f"Bearer {folder.read_token()}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as client:
            yield streamable_http_client(f"http://127.0.0.1:{runtime.port}/mcp", http_client=client)

    return make


@pytest.mark.parametrize("way", [_over_stdio, _over_http])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_client_of_the_sdk_is_served_cleanly(
    way: Callable[[Path, StateFolder], Make], mode: str, project: Path, folder: StateFolder
) -> None:
    make = way(project, folder)

    async def use() -> None:
        news: list[str | None] = []
        heard = asyncio.Event()

        async def told(progress: float, total: float | None, message: str | None) -> None:
            news.append(message)
            heard.set()

        async with make() as server, Client(server, mode=mode) as client:
            assert client.server_info is not None
            assert client.server_info.name == "cairn"
            assert client.instructions
            assert [tool.name for tool in (await client.list_tools()).tools] == list(TOOLS)
            first = await client.call_tool("search", {"query": "add the tax"}, progress_callback=told)
            assert _text(first).startswith("money.py:")
            assert first.structured_content is None
            await asyncio.wait_for(heard.wait(), 10)  # the client hands news over when it gets to it
            assert news[-1] == "indexing 1 of 1 file"
            wrong = await client.call_tool("search", {"query": 5})
            assert wrong.is_error
            assert "error[request]" in _text(wrong)
            with pytest.raises(MCPError, match="unknown tool"):
                await client.call_tool("nothing", {})
            with pytest.raises(MCPError, match="unknown resource"):
                await client.read_resource("cairn://nothing")
            status = (await client.read_resource("cairn://status")).contents[0]
            assert isinstance(status, types.TextResourceContents)
            assert "1 file" in status.text
            assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["search", "index", "status"]
            late = asyncio.create_task(client.call_tool("context", {"task": "change the tax"}))
            await asyncio.sleep(0)
            late.cancel()
            many = await asyncio.gather(*(client.call_tool("search", {"query": f"tax {n}"}) for n in range(100)))
            assert not any(result.is_error for result in many)

    asyncio.run(use())


def _text(result: Any) -> str:  # noqa: ANN401 - a result of the SDK
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


class Line:
    """A front end, asked line by line."""

    def __init__(
        self, project: Path, *arguments: str, command: str = COMMAND, stderr: int | None = None, **environment: str
    ) -> None:
        self.process = subprocess.Popen(
            [command, *(arguments or ("mcp",))],
            cwd=project,
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdout is not None
        self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def close(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(10)
        self.process.stdout.close()
        return code


def test_a_front_end_says_hello_without_the_daemon_and_without_the_sdk(project: Path, folder: StateFolder) -> None:
    line = Line(project)
    assert line.ask("initialize", HELLO)["result"]["serverInfo"]["name"] == "cairn"
    assert folder.find() is None
    if sys.platform == "linux":
        maps = Path(f"/proc/{line.process.pid}/maps").read_text()
        assert "pydantic" not in maps
        assert "numpy" not in maps
    assert line.close() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads what a process takes from /proc")
def test_a_front_end_stays_small_whatever_it_is_asked(project: Path, folder: StateFolder) -> None:
    line = Line(project)
    for n in range(50):
        call = {"name": "search", "arguments": {"query": f"tax {n}", "context": 50}}
        assert not line.ask("tools/call", call)["result"]["isError"]
    status = Path(f"/proc/{line.process.pid}/status").read_text()
    resident_mb = int(status.partition("VmRSS:")[2].split()[0]) / 1_000
    line.close()
    assert resident_mb < MAX_RESIDENT_MB


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_front_end_that_is_interrupted_ends_without_a_word(project: Path, folder: StateFolder) -> None:
    line = Line(project, stderr=subprocess.PIPE)
    line.ask("ping", {})
    line.process.send_signal(signal.SIGINT)
    _, said = line.process.communicate(timeout=60)
    assert (line.process.returncode, said) == (0, "")


def test_a_front_end_ends_with_its_stdin_though_nobody_reads_what_it_says(project: Path, folder: StateFolder) -> None:
    line = Line(project)
    assert line.process.stdin is not None
    assert line.process.stdout is not None
    listing = json.dumps({"jsonrpc": "2.0", "id": "N", "method": "tools/list"})
    line.process.stdin.write(
        "".join(listing.replace("N", str(n)) + "\n" for n in range(60))
    )  # far more than a pipe holds
    line.process.stdin.close()
    assert line.process.wait(60) == 0
    line.process.stdout.close()


def test_a_request_that_is_too_large_for_the_daemon_is_told_so(project: Path, folder: StateFolder) -> None:
    line = Line(project)
    call = {"name": "search", "arguments": {"query": "tax " * 500_000}}
    answer = line.ask("tools/call", call)["result"]
    assert "error[too-large]: the request is larger than 1,000,000 bytes" in answer["content"][0]["text"]
    assert line.close() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_daemon_that_hangs_is_named_and_the_next_one_is_asked(project: Path, folder: StateFolder) -> None:
    Registry(folder).add(project, "shop")
    runtime = ensure(folder)
    client = AskingClient(SocketTransport(folder, silence_seconds=0.5))
    asked = OutlineRequest(project="shop", file="money.py")
    os.kill(runtime.pid, signal.SIGSTOP)
    try:
        with pytest.raises(DaemonError, match=f"process {runtime.pid}.* does not answer") as told:
            asyncio.run(client.call("outline", asked))
    finally:
        os.kill(runtime.pid, signal.SIGKILL)
    assert f"kill -9 {runtime.pid}" in told.value.hint
    assert asyncio.run(client.call("outline", asked))["filepath"] == "money.py"


def test_an_agent_in_no_project_may_name_one(project: Path, tmp_path: Path, folder: StateFolder) -> None:
    Registry(folder).add(project, "shop")
    line = Line(tmp_path)
    refused = line.ask("tools/call", {"name": "outline", "arguments": {"file": "money.py"}})["result"]
    named = {"file": "money.py", "project": "shop"}
    answer = line.ask("tools/call", {"name": "outline", "arguments": named})["result"]
    line.close()
    assert f"cairn index -C {tmp_path}" in refused["content"][0]["text"]
    assert not answer["isError"]


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process between two others")
def test_a_front_end_ends_when_the_process_that_started_it_is_killed(project: Path, folder: StateFolder) -> None:
    # The pipes are held by this test, not by the process between: their end is not what tells the front end.
    script = (
        "import subprocess, sys, time\n"
        f"print(subprocess.Popen([{COMMAND!r}, 'mcp']).pid, file=sys.stderr, flush=True)\n"
        "time.sleep(600)"
    )
    between = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert between.stderr is not None
    assert between.stdin is not None
    assert between.stdout is not None
    pid = int(between.stderr.readline())
    between.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n")
    between.stdin.flush()
    assert json.loads(between.stdout.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    between.kill()
    between.wait()
    assert _ends(pid)
    for stream in (between.stdin, between.stdout, between.stderr):
        stream.close()


def _ends(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if sys.platform == "linux" and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_daemon_outlives_an_agent_that_ends_all_below_it(project: Path, folder: StateFolder) -> None:
    line = Line(project)
    call = {"name": "search", "arguments": {"query": "tax"}}
    assert not line.ask("tools/call", call)["result"]["isError"]
    found = folder.find()
    assert found is not None
    assert _parent(found) not in (line.process.pid, os.getpid())
    line.process.send_signal(signal.SIGKILL)
    line.process.wait()
    assert folder.find() == found
    for stream in (line.process.stdin, line.process.stdout):
        assert stream is not None
        stream.close()


def _parent(runtime: Runtime) -> int:
    done = subprocess.run(["ps", "-o", "ppid=", "-p", str(runtime.pid)], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_a_call_under_way_is_answered_though_nothing_more_is_asked(project: Path, folder: StateFolder) -> None:
    call = {"name": "outline", "arguments": {"file": "money.py"}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    ensure_folder = ensure(folder)
    assert ensure_folder.pid
    done = subprocess.run([COMMAND, "mcp"], cwd=project, input=asked + "\n", capture_output=True, text=True, check=True)
    assert "total(prices)" in json.loads(done.stdout)["result"]["content"][0]["text"]


def test_a_folder_that_is_no_project_is_not_indexed_behind_its_users_back(tmp_path: Path, folder: StateFolder) -> None:
    line = Line(tmp_path)
    answer = line.ask("tools/call", {"name": "search", "arguments": {"query": "tax"}})["result"]
    line.close()
    assert answer["isError"]
    assert "error[project]" in answer["content"][0]["text"]
    assert not (tmp_path / ".cairn").exists()


def test_an_agent_whose_folder_is_gone_is_told_so_and_may_name_another_project(
    project: Path, tmp_path: Path, folder: StateFolder
) -> None:
    Registry(folder).add(project, "shop")
    (tmp_path / "gone").mkdir()
    line = Line(tmp_path, "-c", f"cd gone && rmdir ../gone && exec {COMMAND} mcp", command="sh")
    assert line.ask("tools/list", {})["result"]["tools"]
    refused = line.ask("tools/call", {"name": "search", "arguments": {"query": "tax"}})["result"]
    status = line.ask("resources/read", {"uri": "cairn://status"})["result"]["contents"][0]
    named = line.ask("tools/call", {"name": "search", "arguments": {"query": "tax", "project": "shop"}})["result"]
    line.close()
    for text in (refused["content"][0]["text"], status["text"]):
        assert text == (
            "error[path]: . does not exist\n"
            "try: name another as `project`, or start this server in a folder that exists"
        )
    assert named["content"][0]["text"].startswith("money.py:")


def test_the_project_an_agent_names_in_the_environment_is_taken(
    project: Path, tmp_path: Path, folder: StateFolder
) -> None:
    line = Line(tmp_path, CLAUDE_PROJECT_DIR=str(project))
    answer = line.ask("tools/call", {"name": "outline", "arguments": {"file": "money.py"}})["result"]
    line.close()
    assert not answer["isError"]


def test_a_folder_of_the_environment_that_is_gone_does_not_count(project: Path, folder: StateFolder) -> None:
    line = Line(project, CLAUDE_PROJECT_DIR=str(project / "gone"))
    answer = line.ask("tools/call", {"name": "outline", "arguments": {"file": "money.py"}})["result"]
    line.close()
    assert not answer["isError"]


@pytest.mark.parametrize(("name", "problem"), [("nowhere", "does not exist"), ("money.py", "is not a directory")])
def test_a_given_folder_that_is_none_is_named(project: Path, folder: StateFolder, name: str, problem: str) -> None:
    line = Line(project, "mcp", "-C", name)
    answer = line.ask("tools/call", {"name": "search", "arguments": {"query": "tax"}})["result"]
    line.close()
    assert answer["isError"]
    assert answer["content"][0]["text"].startswith(f"error[path]: {name} {problem}\ntry: name another as `project`")


def test_an_agent_that_is_started_elsewhere_says_where_it_works(
    project: Path, tmp_path: Path, folder: StateFolder
) -> None:
    environment = {"XDG_STATE_HOME": str(folder.path.parent)}
    server = StdioServerParameters(command=COMMAND, args=["mcp"], cwd=tmp_path, env=environment)
    asked = []

    async def roots(context: object) -> types.ListRootsResult:
        asked.append(context)
        uris = ("file:///nowhere/at/all", (project / "sub folder").as_uri())
        return types.ListRootsResult.model_validate({"roots": [{"uri": uri} for uri in uris]})

    async def use() -> None:
        (project / "sub folder").mkdir()
        async with Client(server, mode="legacy", list_roots_callback=roots) as client:
            for _ in range(2):
                assert _text(await client.call_tool("search", {"query": "add the tax"})).startswith("money.py:")
        assert len(asked) == 1

    asyncio.run(use())


def test_what_an_agent_says_of_where_it_works_may_be_odd(project: Path, tmp_path: Path, folder: StateFolder) -> None:
    line = Line(tmp_path)
    assert line.process.stdin is not None
    assert line.process.stdout is not None
    line.ask("initialize", HELLO | {"capabilities": {"roots": {}}})
    asked = line.ask("tools/call", {"name": "outline", "arguments": {"file": "money.py"}})
    assert asked["method"] == "roots/list"
    uris = ("https://example.com/x", "file://[", "file:///a%00b", "", project.as_uri())
    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": uri} for uri in uris]}}
    line.process.stdin.write(json.dumps(answer) + "\n")
    line.process.stdin.flush()
    found = json.loads(line.process.stdout.readline())["result"]
    line.close()
    assert not found["isError"], found


def test_mcp_over_http_is_behind_the_checks_of_the_daemon(project: Path, folder: StateFolder) -> None:
    runtime = ensure(folder)
    url = f"http://127.0.0.1:{runtime.port}/mcp"
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    token = {"authorization": f"Bearer {folder.read_token()}"}
    accept = {"accept": "application/json, text/event-stream"}
    with httpx2.Client(timeout=60) as client:
        assert client.post(url, json=hello, headers=accept).status_code == 401
        for wrong in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
            assert client.post(url, json=hello, headers=accept | token | wrong).status_code == 401
        assert client.get(url, headers=token).status_code == 405
        huge = {**hello, "padding": "x" * 2_000_000}
        assert client.post(url, json=huge, headers=accept | token).status_code == 413
        assert client.post(url, json=hello, headers=accept | token).status_code == 200


@pytest.mark.skipif(sys.platform != "linux", reason="reads from /proc what a process took")
def test_a_call_that_the_agent_cancels_leaves_the_daemon_idle(project: Path, folder: StateFolder) -> None:
    letters = Random(1)
    for number in range(4):
        lines = ("".join(letters.choices("ab", k=2_000)) for _ in range(150))
        (project / f"{number}.txt").write_text("\n".join(lines))
    line = Line(project)
    line.ask("tools/call", {"name": "search", "arguments": {"query": "tax"}})
    runtime = folder.find()
    assert runtime is not None
    slow = {"name": "search", "arguments": {"query": "[ab]*a[ab]{900}c" * 6, "mode": "regex"}}
    line.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": slow})
    wait_for_work(runtime.pid, 1.5)
    line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
    wait_for_rest(runtime.pid, within_seconds=20)
    assert line.close() == 0
