"""`cairn mcp` as a process: a thin client of the daemon that ends when the agent that started it does."""

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
_PARENT_SECONDS = 1.0  # between looks at whether the agent lives
_LAST_SECONDS = 2.0  # that calls under way have when the agent says no more


def project_path(given: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the folder whose project is meant: the one given, else the one the agent names, else the current one.

    The variable of the agent may be left from another session, so it counts only if its folder is there.
    """
    named = environment.get("CLAUDE_PROJECT_DIR", "")
    return named if given == "." and os.path.isdir(named) else given


def run(path: str) -> None:
    """Serve the agent on stdin and stdout until it says no more, or is gone."""
    folder = StateFolder.of_user()

    def surface_of(roots: Roots) -> Surface:
        from cairn.mcp.project import make_surface  # noqa: PLC0415 - start-up time, see Connection

        return make_surface(project_path(path), folder, roots)

    # Only messages may reach the agent, whatever prints.
    output, sys.stdout = sys.stdout.buffer, sys.stderr
    threading.Thread(target=_end_with_parent, name="cairn-parent", daemon=True).start()
    with suppress(KeyboardInterrupt):  # a user who presses Ctrl-C wants no traceback
        asyncio.run(_serve(surface_of, sys.stdin.buffer, output))
    sys.stderr.flush()
    os._exit(0)  # the thread that reads may still wait for a line


async def _serve(make_surface: Callable[[Roots], Surface], source: IO[bytes], output: IO[bytes]) -> None:
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes] = asyncio.Queue()

    def send(line: str) -> None:
        try:
            output.write(line.encode("ascii") + b"\n")
            output.flush()
        except OSError:
            os._exit(0)  # nobody listens any more

    def read() -> None:
        # A thread of its own: on Windows a loop cannot wait for stdin, and here no writing can hold up reading.
        line = b" "
        while line:
            line = _read_line(source)
            loop.call_soon_threadsafe(lines.put_nowait, line)
        time.sleep(2 * _LAST_SECONDS)
        os._exit(0)  # the loop would have ended this by now: it waits for somebody to read what it writes

    threading.Thread(target=read, name="cairn-stdin", daemon=True).start()
    connection = Connection(lambda: make_surface(connection.roots), send)
    while line := await lines.get():
        if line.strip():
            connection.receive(line)
    await connection.drain(_LAST_SECONDS)


def _read_line(source: IO[bytes]) -> bytes:
    """Return the next line, empty at the end; of a line that is too long, its beginning, which is not JSON."""
    line = source.readline(MAX_LINE_BYTES)
    while line and not line.endswith(b"\n") and len(line) >= MAX_LINE_BYTES:
        rest = source.readline(MAX_LINE_BYTES)
        if len(rest) < MAX_LINE_BYTES or rest.endswith(b"\n"):
            return line
    return line


def _end_with_parent() -> None:
    """End this process when the one that started it has ended, whatever the rest of it does.

    Linux can send a signal then, but does so already when the thread ends that started this process (prctl(2)).
    """
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(0)
