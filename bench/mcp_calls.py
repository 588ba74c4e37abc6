"""Times the same searches on every way to ask: in process, over HTTP, and as calls of a tool over stdio and over HTTP.

    python bench/mcp_calls.py --sources FOLDER... [--files 5000] [--rounds 5] [--scratch FOLDER]
    python bench/mcp_calls.py --project FOLDER [--rounds 5]

The project is made of the first source files of the folders, or is one that is there. State is kept in a temporary
folder, so a daemon that runs already is left alone. Agents ask with the client of the official SDK; "command" is what
`cairn search` asks the daemon, without its own start; "after an edit" is an agent's first search after a file was
saved, which must be in the answer. Each query is asked every way in turn, so that what else the machine does slows all
of them; times are wall-clock from the question to the whole answer, and the daemon's processor time stands beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from cairn.client import ensure, stop
from cairn.operations import perform
from cairn.protocol.requests import SearchRequest
from cairn.runtime import Runtime, StateFolder
from cairn.workspace import Workspace
from daemon import cairn, list_sources, make_project, search_body
from metrics import percentile
from processes import cpu_seconds
from questions import QUESTIONS as PROSE

QUERIES = (
    *PROSE,
    "parse",
    "Request",
    "write",
    "close connection",
    '"return self"',
    "compare two versions",
    "who renders a template",
    "sort a list by a key",
    "where are routes registered",
    "encode a string as json",
)
BASELINE = "HTTP, connection kept"
Ask = Callable[[str], Awaitable[None]]


async def asked_in_process(workspace: Workspace, query: str) -> None:
    """Search in this process, in an index that is up to date."""
    assert perform(workspace, "search", SearchRequest(query=query))["query"] == query


async def asked_over_http(connection: http.client.HTTPConnection, token: str, root: Path, query: str) -> None:
    """Search over a connection that is kept."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    connection.request("POST", "/api/search", search_body(root, query), headers)
    assert json.loads(connection.getresponse().read())["query"] == query


async def asked_as_tool(client: Client, root: Path, query: str) -> None:
    """Search as an agent does."""
    result = await client.call_tool("search", {"query": query, "project": str(root)})
    assert not result.is_error, result.content


async def asked_as_command(connection: http.client.HTTPConnection, token: str, root: Path, query: str) -> None:
    """Search as the command line has the daemon do it, without the time its process takes to start."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    body = json.dumps({"project": str(root), "query": query, "update": True})
    connection.request("POST", "/api/search", body, headers)
    assert json.loads(connection.getresponse().read())["query"] == query


async def asked_after_edit(client: Client, root: Path, file: Path, query: str) -> None:
    """Save a file, and search as an agent does."""
    name = f"saved_{time.monotonic_ns()}"
    await asyncio.to_thread(file.write_text, f"def {name}():\n    return {query!r}\n")
    result = await client.call_tool("search", {"query": name, "project": str(root)})
    assert file.name in str(result.content[0]), result.content


async def measure(ways: dict[str, Ask], rounds: int, pid: int) -> dict[str, list[tuple[float, float]]]:
    """Return how long each way takes for each query and round, and the daemon's processor time, in milliseconds."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for query in QUERIES:
            for name, ask in ways.items():
                begun, used = time.perf_counter(), cpu_seconds(pid)
                await ask(query)
                taken, used = time.perf_counter() - begun, cpu_seconds(pid) - used
                if number:  # the first round warms
                    times[name].append((1000 * taken, 1000 * used))
    return times


async def run(
    root: Path, folder: StateFolder, runtime: Runtime, rounds: int, *, edits: bool, settle_seconds: float
) -> dict[str, list[tuple[float, float]]]:
    """Ask every way; the daemon runs."""
    token = folder.read_token()
    async with AsyncExitStack() as stack:
        workspace = stack.enter_context(Workspace.open(root))
        kept = http.client.HTTPConnection(runtime.host, runtime.port)
        stack.callback(kept.close)
        front_end = StdioServerParameters(
            command=sys.executable, args=["-P", "-m", "cairn", "mcp"], cwd=root, env=dict(os.environ)
        )
        over_stdio = await stack.enter_async_context(Client(front_end))
        headers = {"authorization": f"Bearer {token}"}
        http_client = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
        address = f"http://{runtime.host}:{runtime.port}/mcp"
        over_http = await stack.enter_async_context(Client(streamable_http_client(address, http_client=http_client)))
        ways: dict[str, Ask] = {
            "in process": partial(asked_in_process, workspace),
            BASELINE: partial(asked_over_http, kept, token, root),
            "MCP over stdio": partial(asked_as_tool, over_stdio, root),
            "MCP over HTTP": partial(asked_as_tool, over_http, root),
            "command, over HTTP": partial(asked_as_command, kept, token, root),
        }
        if edits:
            file = root / "saved_by_the_benchmark.py"
            stack.callback(file.unlink, missing_ok=True)
            ways["MCP over stdio, after an edit"] = partial(asked_after_edit, over_stdio, root, file)
        await asked_over_http(kept, token, root, QUERIES[0])
        await asyncio.sleep(settle_seconds)  # the first look of the watcher
        return await measure(ways, rounds, runtime.pid)


def report(times: dict[str, list[tuple[float, float]]]) -> dict[str, dict[str, float]]:
    """Return the quantiles of each way, and how they compare with the baseline."""
    base = statistics.median(taken for taken, _ in times[BASELINE])
    return {
        name: {
            "median_ms": round(statistics.median(taken for taken, _ in values), 1),
            "p95_ms": round(percentile([taken for taken, _ in values], 95), 1),
            "above_http_ms": round(statistics.median(taken for taken, _ in values) - base, 1),
            "daemon_cpu_ms": round(statistics.mean(used for _, used in values), 1),
        }
        for name, values in times.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, nargs="+")
    parser.add_argument("--project", type=Path, help="a folder to ask about instead")
    parser.add_argument("--edits", action="store_true", help="also save a file before each search")
    parser.add_argument("--settle", type=float, default=3.0, help="seconds that the watcher has before the first round")
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scratch", type=Path, help="keep the project here, and use it again")
    options = parser.parse_args()
    scratch: Path = (options.scratch or Path(tempfile.mkdtemp(prefix="cairn-bench-"))).resolve()
    os.environ["XDG_STATE_HOME"] = str(scratch / "state")
    folder = StateFolder.of_user()
    root: Path = (options.project or scratch / "project").resolve()
    if options.project is not None:
        cairn("index", "-C", str(root))
    elif not root.exists():
        make_project(root, list_sources(options.sources, options.files), options.files)
        cairn("index", "-C", str(root))
    try:
        times = asyncio.run(
            run(root, folder, ensure(folder), options.rounds, edits=options.edits, settle_seconds=options.settle)
        )
        print(json.dumps({"project": root.name, "load": round(os.getloadavg()[0], 1), **report(times)}, indent=1))
    finally:
        stop(folder)
        if options.scratch is None:
            shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
