"""`cairn daemon start` where this process is to be the daemon."""

from __future__ import annotations

from cairn.client import START_SECONDS
from cairn.config import load_settings
from cairn.daemon.lifecycle import detach, run
from cairn.mcp.http import mcp_route
from cairn.runtime import StateFolder


def be_daemon(folder: StateFolder, *, detached: bool) -> None:
    """Serve until asked to stop; `detached`, in a child of this process."""
    if detached:
        detach(folder, START_SECONDS)
    run(load_settings(None), folder, [mcp_route])
