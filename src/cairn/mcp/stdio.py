"""`cairn mcp` as a process: a thin client of the daemon that ends when the agent that started it does."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import IO, TYPE_CHECKING

from cairn.errors import ProjectError
from cairn.mcp.wire import Connection
from cairn.registry import Registry, enclosing_root, name_of
from cairn.runtime import StateFolder

if TYPE_CHECKING:
    from cairn.mcp.surface import Surface

Roots = Callable[[], Awaitable[list[str]]]
MAX_LINE_BYTES = 4_000_000
_PARENT_SECONDS = 1.0  # between looks at whether the agent lives
_LAST_SECONDS = 2.0  # that calls under way have when the agent says no more


class Project:
    """The project an agent works in, put on the list of those the daemon serves when it is first asked about.

    Its user had the agent start this there, as he might have typed `cairn index`.

    Args:
        path: a folder in it.
        folder: where that list is.
        roots: asks the agent for the URIs of the folders it works in.
    """

    def __init__(self, path: str, folder: StateFolder, roots: Roots) -> None:
        self.root = enclosing_root(path) or os.path.realpath(path)
        self._registry = Registry(folder)
        self._roots = roots

    async def allow(self) -> str:
        """Put the project on the list, which it may have left meanwhile: what adds another drops those that are gone.

        Returns:
            its folder; where the agent was started in no project, that of the first folder it says it works in.

        Raises:
            ProjectError: if the folder is neither indexed nor in a git checkout: it may be anything, such as a home.
            StoreError: if the list cannot be written.
        """
        if not self._registry.knows(self.root, ""):
            if enclosing_root(self.root) is None:
                self.root = next(filter(None, map(_root_of, await self._roots())), self.root)
            await asyncio.to_thread(self._allow)
        return self.root

    def _allow(self) -> None:
        root = enclosing_root(self.root)
        if root is None:
            raise ProjectError(
                f"{self.root} is in no git checkout and was never indexed",
                f"cairn index -C {quote(self.root)}, if it is a project; or name one as `project`",
            )
        from cairn.index.project import is_everything  # noqa: PLC0415 - start-up time: a project is named once

        if is_everything(root):
            raise ProjectError(
                f"{root} holds much more than a project, and its user never indexed it by name",
                f"cairn index -C {quote(root)}, if it is meant; or name another as `project`",
            )
        from cairn.config import load_settings  # noqa: PLC0415 - start-up time: a project is named once

        self._registry.add(Path(root), load_settings(Path(root)).project_name or name_of(Path(root)))


def _root_of(uri: str) -> str | None:
    """Return the project around the folder that a `file:` URI names; None if there is none."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - start-up time: few agents are started outside their project
    from urllib.request import url2pathname  # noqa: PLC0415 - as above

    try:
        parts = urlsplit(uri)
        return enclosing_root(url2pathname(parts.path)) if parts.scheme == "file" and parts.path else None
    except ValueError:  # no URI, or no path
        return None


def project_path(given: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the folder whose project is meant: the one given, else the one the agent names, else the current one."""
    if given != ".":
        return given
    return environment.get("CLAUDE_PROJECT_DIR") or given


def run(path: str) -> None:
    """Serve the agent on stdin and stdout until it says no more, or is gone."""
    folder = StateFolder.of_user()

    def make_surface(roots: Roots) -> Surface:
        from cairn.client import Client, SocketTransport  # noqa: PLC0415 - start-up time, see Connection
        from cairn.mcp.surface import Surface  # noqa: PLC0415 - as above

        project = Project(project_path(path), folder, roots)
        return Surface(Client(SocketTransport(folder)), project.root, project.allow)

    # Nothing but messages may reach the agent's ears, whoever prints.
    output, sys.stdout = sys.stdout.buffer, sys.stderr
    threading.Thread(target=_end_with_parent, name="cairn-parent", daemon=True).start()
    with suppress(KeyboardInterrupt):  # whoever stops it that way wants no traceback
        asyncio.run(_serve(make_surface, sys.stdin.buffer, output))
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
    """Return the next line, empty at the end; of one that is too long the beginning, which is no JSON."""
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
