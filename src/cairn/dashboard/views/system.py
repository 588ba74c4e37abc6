"""The state of Cairn itself: the daemon, projects and their indexes, agents, the log."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import Any

from starlette.responses import Response

from cairn import __version__
from cairn.daemon.usage import usage
from cairn.dashboard.remarks import Remark
from cairn.dashboard.visit import Visit
from cairn.errors import IndexMissingError, RequestError
from cairn.hooks.errors import with_errors
from cairn.install.doctor import examine_all
from cairn.workspace import Workspace

_LOG_LINES, _MOST_LOG_LINES = 40, 2_000
_SAID = {
    "started": "The index is being updated.",
    "running": "The index is being updated already.",
    "mended": "What could be mended is mended.",
    "embedding": "All memories are being embedded again; until then they are found as before.",
    "embedding-already": "The memories are being embedded already.",
    "stopped": "Embedding stops after this batch.",
    "ended": "Nothing was being embedded any more.",
}


async def show(visit: Visit) -> Response:
    """Show the state of the daemon and of a project."""
    daemon = visit.daemon
    report = None
    try:
        report = with_errors(await daemon.projects.run(visit.project, _status), _state_of(visit))
    except IndexMissingError as error:
        visit.note(str(error), is_error=True, hint=str(error.hint))
    return visit.page(
        "system.html",
        version=__version__,
        usage=usage(daemon.settings),
        uptime=time.time() - daemon.started_at,
        requests=daemon.n_requests,
        opened={state.root for state in daemon.projects.states()},
        report=report,
        builds={name: visit.builds.state(name) for name in visit.projects.values()},
        build=visit.builds.state(visit.project),
        embedding=visit.embeddings.state(visit.project),
        estimate=await visit.ask("memories/embed", dry_run=True),
        lines=await _end_of_log(visit),
    )


async def check(visit: Visit) -> Response:
    """Show the findings of `cairn doctor`, which reads the whole index."""
    findings = await visit.daemon.projects.run_apart(visit.project, partial(examine_all, state=_state_of(visit)))
    return visit.page("checks.html", findings=findings)


async def log(visit: Visit) -> Response:
    """Show the end of the log, as `cairn daemon logs` does."""
    return visit.page("log.html", lines=await _end_of_log(visit), wanted=_wanted_lines(visit))


async def act(visit: Visit) -> Response:
    """Build the index, or repair what can be repaired."""
    action = (await visit.form()).get("action", [""])[-1]
    if action in ("index", "rebuild"):
        done = "started" if visit.builds.start(visit.project, full=action == "rebuild") else "running"
    elif action == "embed":
        done = "embedding" if visit.embeddings.start(visit.project) else "embedding-already"
    elif action == "stop-embedding":
        done = "stopped" if visit.embeddings.stop(visit.project) else "ended"
    elif action == "fix":
        mend = partial(examine_all, state=_state_of(visit), fix=True)
        await visit.daemon.projects.run_apart(visit.project, mend)
        done = "mended"
    else:
        raise RequestError("there is nothing to do", "press one of the buttons")
    return visit.back("/system", Remark(_SAID[done]))


def _state_of(visit: Visit) -> Path:
    return visit.daemon.projects.registry.folder.path


def _status(workspace: Workspace) -> dict[str, Any]:
    """Return what `cairn status` shows, without errors of hooks."""
    return workspace.upkeep.status()


def _wanted_lines(visit: Visit) -> int:
    return max(1, visit.number("lines", _LOG_LINES, _MOST_LOG_LINES))


async def _end_of_log(visit: Visit) -> list[str]:
    return await asyncio.to_thread(visit.daemon.projects.registry.folder.end_of_log, _wanted_lines(visit))
