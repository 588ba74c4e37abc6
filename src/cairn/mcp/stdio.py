"""`cairn mcp` as a process: a thin client of the daemon that exits along with the agent that started it."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from cairn.mcp.wire import Connection
from cairn.runtime import StateFolder

if TYPE_CHECKING:
    from cairn.mcp.project import Roots
    from cairn.mcp.surface import Surface

MAX_LINE_BYTES = 4_000_000
_PARENT_SECONDS = 1.0  # between checks whether the agent is alive
_LAST_SECONDS = 2.0  # for calls in progress when the agent closes its end


def project_path(given: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the folder of the project: the given one, else the agent's, else the current one.

    The agent's variable may be left over from another session, so it only counts if its folder exists.
    """
    named = environment.get("CLAUDE_PROJECT_DIR", "")
    return named if given == "." and os.path.isdir(named) else given


def run(path: str) -> None:
    """Serve the agent on stdin and stdout until it closes its end or is gone."""
    folder = StateFolder.of_user()

    def surface_of(roots: Roots) -> Surface:
        from cairn.mcp.project import make_surface  # noqa: PLC0415 - start-up time, see Connection

        return make_surface(project_path(path), folder, roots)

    # Only messages may reach the agent, whatever else prints.
    output, sys.stdout = sys.stdout.buffer, sys.stderr
    threading.Thread(target=_end_with_parent, name="cairn-parent", daemon=True).start()
    with suppress(KeyboardInterrupt):  # no traceback on Ctrl-C
        asyncio.run(_serve(surface_of, sys.stdin.buffer, output))
    sys.stderr.flush()
    os._exit(0)  # the reading thread may still be waiting for a line


async def _serve(make_surface: Callable[[Roots], Surface], source: IO[bytes], output: IO[bytes]) -> None:
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes] = asyncio.Queue()

    def send(line: str) -> None:
        try:
            output.write(line.encode("ascii") + b"\n")
            output.flush()
        except OSError:
            os._exit(0)  # nobody is listening any more

    def read() -> None:
        # In its own thread: on Windows an event loop cannot wait for stdin, and writing must not block reading.
        line = b" "
        while line:
            line = _read_line(source)
            loop.call_soon_threadsafe(lines.put_nowait, line)
        time.sleep(2 * _LAST_SECONDS)
        os._exit(0)  # the event loop would have exited by now, so it is blocked on writing to the agent

    threading.Thread(target=read, name="cairn-stdin", daemon=True).start()
    connection = Connection(lambda: make_surface(connection.roots), send)
    while line := await lines.get():
        if line.strip():
            connection.receive(line)
    await connection.drain(_LAST_SECONDS)


def _read_line(source: IO[bytes]) -> bytes:
    """Return the next line, empty at the end; of an overlong line only its beginning, which is not valid JSON."""
    line = source.readline(MAX_LINE_BYTES)
    while line and not line.endswith(b"\n") and len(line) >= MAX_LINE_BYTES:
        rest = source.readline(MAX_LINE_BYTES)
        if len(rest) < MAX_LINE_BYTES or rest.endswith(b"\n"):
            return line
    return line


def _end_with_parent() -> None:
    """Exit this process when its parent has exited, whatever its other threads do.

    Linux can send a signal in this case, but already does so when just the starting thread ends (prctl(2)).
    """
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(0)
