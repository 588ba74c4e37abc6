"""The worker's side of the protocol: one JSON request a line on stdin, one JSON answer a line on stdout.

Uses the standard library only, for it runs in the environment of whichever system is measured.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol


class Engine(Protocol):
    """A search system inside its own process. Each method returns plain JSON values, times in seconds."""

    def load(self) -> dict[str, Any]:
        """Load what every later call needs, such as a model; return the system's `version`."""

    def index(self, path: str, state: str) -> dict[str, Any]:
        """Index the folder `path`, with files kept under `state`, and search that from now on.

        Returns `seconds`, `save_seconds` (0 where saving is part of `seconds`), `files` and `chunks`.
        """

    def search(self, query: str, limit: int) -> dict[str, Any]:
        """Return `hits`, a list of [path, start line, end line], and `seconds`."""


def serve(engine: Engine) -> None:
    """Answer requests until stdin ends."""
    # What a library prints must not end up between the answers.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        calls: dict[str, Callable[..., dict[str, Any]]] = {
            "load": engine.load,
            "index": engine.index,
            "search": engine.search,
            "peak": peak_memory,
        }
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer = calls[request.pop("do")](**request)
            except Exception:  # noqa: BLE001 - the outer edge of a worker
                answer = {"error": traceback.format_exc()}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def peak_memory() -> dict[str, Any]:
    """Return the most memory this process has had resident (VmHWM), 0 where the system does not say."""
    status = Path("/proc/self/status")
    for line in status.read_text(encoding="ascii").splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return {"bytes": int(line.split()[1]) * 1024}
    return {"bytes": 0}
