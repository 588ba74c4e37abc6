"""The event stream: tells that something in a project changed, never what. The page then reloads its parts.

Changes are detected by the times of the stores' files. So changes by other processes are noticed too, and an open tab
keeps neither a project open nor the daemon alive.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from cairn.errors import BusyError

if TYPE_CHECKING:
    from cairn.dashboard.visit import Visit
    from cairn.workspace import Workspace

MOST_STREAMS = 20
_STEP_SECONDS = 0.4
_QUIET_STEPS = 40  # after which the stream sends a sign of life, and notices whether the browser is gone
_STORES = {"memory": "memory.db", "index": "index.db"}
_open: set[object] = set()


async def stream(visit: Visit, is_allowed: Callable[[], bool]) -> Response:
    """Return the changes of a project as they happen.

    Args:
        visit: for the project.
        is_allowed: whether the browser still has access.

    Raises:
        BusyError: if too many streams are open.
        ProjectError: if there is no such project.
    """
    if len(_open) >= MOST_STREAMS:
        raise BusyError(f"{len(_open)} streams are open", "close some tabs")
    folder: Path = await visit.daemon.projects.run_at_once(visit.project, _state_folder)
    files = {
        **{kind: folder / name for kind, name in _STORES.items()},
        "log": visit.daemon.projects.registry.folder.log,
    }
    return StreamingResponse(_follow(files, is_allowed, lambda: visit.daemon.stopping), media_type="text/event-stream")


def _state_folder(workspace: Workspace) -> Path:
    return workspace.state.path


async def _follow(
    files: Mapping[str, Path], is_allowed: Callable[[], bool], is_ending: Callable[[], bool]
) -> AsyncIterator[str]:
    this = object()
    _open.add(this)
    try:
        yield "retry: 2000\n\n"
        marks, n_quiet = _marks(files), 0
        while not is_ending():
            await asyncio.sleep(_STEP_SECONDS)
            now = _marks(files)
            n_quiet = 0 if now != marks else n_quiet + 1
            for kind in (kind for kind in now if now[kind] != marks[kind]):
                yield f"event: changed\ndata: {kind}\n\n"
            if n_quiet >= _QUIET_STEPS:
                n_quiet = 0
                yield ": still here\n\n"
            if not is_allowed():
                yield "event: signed-out\ndata: \n\n"
                return
            marks = now
    finally:
        _open.discard(this)


def _marks(files: Mapping[str, Path]) -> dict[str, tuple[int, ...]]:
    """Return stamps of each store and of the log: the times and sizes of their files."""
    return {
        kind: tuple(fact for end in ("", "-wal") for fact in _facts(file.with_name(f"{file.name}{end}")))
        for kind, file in files.items()
    }


def _facts(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
