"""Keeps why the last run failed in the state folder, until a run succeeds."""

from __future__ import annotations

import json
import time
from contextlib import suppress

from cairn.errors import CairnError, StoreError, UnsafeStateError
from cairn.index.state_dir import StateDir
from cairn.storage.atomic import write_file
from cairn.storage.own_files import read_own

_MAX_BYTES = 100_000


def record_error(state: StateDir, error: CairnError) -> None:
    """Record why a run failed."""
    document = {"code": error.code, "message": str(error), "hint": error.hint, "at": time.time()}
    with suppress(OSError, StoreError):  # the error may be that nothing can be written to disk
        if state.check() is not None:
            write_file(state.last_error, json.dumps(document).encode("ascii"))


def clear_error(state: StateDir) -> None:
    """Forget the last failure, once a run has succeeded."""
    with suppress(OSError):
        state.last_error.unlink(missing_ok=True)


def read_error(state: StateDir) -> dict[str, object] | None:
    """Return why the last run failed, None if it did not."""
    try:
        document = json.loads(read_own(state.last_error, _MAX_BYTES))
    except (OSError, ValueError, UnsafeStateError, RecursionError):  # missing, cut short, or not ours
        return None
    return document if isinstance(document, dict) else None
