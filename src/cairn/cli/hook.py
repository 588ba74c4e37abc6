"""`cairn hook`, where its options had to be parsed."""

from __future__ import annotations

import argparse
from typing import NoReturn

from cairn.hooks.entry import run


def run_hook(options: argparse.Namespace) -> NoReturn:
    """Report an event of an agent."""
    payload = [] if options.payload is None else [options.payload]
    run([options.event, "--agent", options.agent, *payload])
