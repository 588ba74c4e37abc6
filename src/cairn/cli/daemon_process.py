"""`cairn daemon start --foreground`: this process becomes the daemon."""

from __future__ import annotations

import argparse

from cairn.cli.outcomes import EXIT_FOUND
from cairn.client import START_SECONDS
from cairn.config import load_settings
from cairn.daemon.lifecycle import detach, run
from cairn.dashboard.mount import dashboard
from cairn.install.routes import doctor_routes
from cairn.mcp.http import mcp_routes
from cairn.runtime import StateFolder


def run_here(options: argparse.Namespace) -> int:
    """Serve until told to stop; with `--detached`, in a child of this process."""
    folder = StateFolder.of_user()
    if options.detached:
        detach(folder, START_SECONDS)
    run(load_settings(None), folder, [mcp_routes, doctor_routes, dashboard])
    return EXIT_FOUND
