"""The daemon's housekeeping: closes idle projects, stays discoverable, and shuts down in order."""

from __future__ import annotations

import asyncio
import gc
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from cairn.daemon.http import Receive, Send
from cairn.daemon.state import Daemon
from cairn.daemon.usage import SPARE_THREADS

_log = logging.getLogger("cairn.daemon")
_TIDY_SECONDS = 5.0
_LEAST_SECONDS = 0.05
_END_SECONDS = 1.0  # for a running exchange of memories at shutdown; it is continued later


async def live(daemon: Daemon, receive: Receive, send: Send) -> None:
    """Implement ASGI's lifespan: answer the startup and shutdown messages, and tidy up in between."""
    await receive()  # startup
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(SPARE_THREADS))
    tidying = asyncio.create_task(_tidy(daemon))
    await send({"type": "lifespan.startup.complete"})
    daemon.hooks.begin_catching_up()
    await receive()  # shutdown
    daemon.stopping = True
    tidying.cancel()
    daemon.preparer.close()
    daemon.learner.close()
    daemon.hooks.stop()
    await asyncio.to_thread(daemon.memory_sync.wait, _END_SECONDS)
    with suppress(asyncio.CancelledError):
        await tidying
    daemon.ended_in_time = await asyncio.to_thread(daemon.projects.close)
    await send({"type": "lifespan.shutdown.complete"})


async def _tidy(daemon: Daemon) -> None:
    step = min(_TIDY_SECONDS, max(_LEAST_SECONDS, 60 * daemon.settings.daemon_idle_minutes / 4))
    n_cleared = 0
    while True:
        await asyncio.sleep(step)
        is_found = True
        try:
            await daemon.projects.tidy()
            await daemon.hooks.catch_up()
            if daemon.n_requests != n_cleared and not daemon.is_busy:
                await daemon.preparer.look()
            await daemon.learner.look(daemon.quiet_seconds)
            daemon.memory_sync.look()
            n_cleared = clear_garbage(daemon, n_cleared)
            is_found = daemon.stay_found()
        except Exception:  # noqa: BLE001 - the edge of a task that must go on
            _log.exception("tidying failed")
        if not is_found:
            _log.warning("the state folder is gone")
            daemon.stop()
        elif daemon.is_idle():
            _log.info("no request for %g minutes", daemon.settings.daemon_idle_minutes)
            daemon.stop()


def clear_garbage(daemon: Daemon, n_cleared: int) -> int:
    """Run a full garbage collection, unless a request is running or there was none since the last collection.

    Args:
        daemon: counts the requests.
        n_cleared: the number of requests at the last collection.

    Returns:
        the new `n_cleared`.
    """
    if daemon.n_requests == n_cleared or daemon.is_busy:
        return n_cleared
    gc.collect()
    return daemon.n_requests
