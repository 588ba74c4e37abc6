"""`cairn mcp`."""

from __future__ import annotations

import argparse

from cairn.cli.outcomes import EXIT_FOUND
from cairn.mcp.stdio import run


def run_mcp(options: argparse.Namespace) -> int:
    """Serve an agent on stdin and stdout."""
    run(options.project)
    return EXIT_FOUND
