"""What the daemon does beside answering: closes what is idle, ends when nobody needs it, and leaves all in order."""

from __future__ import annotations

import asyncio
import logging

from cairn.daemon.http import Receive, Send
from cairn.daemon.state import Daemon

_log = logging.getLogger("cairn.daemon")
_TIDY_SECONDS = 5.0


async def live(daemon: Daemon, receive: Receive, send: Send) -> None:
    """Answer the server's messages of start and end (ASGI's lifespan), and tidy up in between."""
    await receive()  # the start
    tidying = asyncio.create_task(_tidy(daemon))
    await send({"type": "lifespan.startup.complete"})
    await receive()  # the end
    tidying.cancel()
    await asyncio.to_thread(daemon.projects.close)
    await send({"type": "lifespan.shutdown.complete"})


async def _tidy(daemon: Daemon) -> None:
    step = min(_TIDY_SECONDS, max(0.05, 60 * daemon.settings.daemon_idle_minutes / 4))
    while True:
        await asyncio.sleep(step)
        daemon.projects.tidy()
        if daemon.is_idle():
            _log.info("nobody asked anything for %g minutes", daemon.settings.daemon_idle_minutes)
            daemon.stop()
