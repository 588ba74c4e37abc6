"""Starts background processes: embedding with the configured models, the symbol graph, and tuning."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from cairn.config import Settings
from cairn.embedding.chain import fingerprint_of
from cairn.errors import IndexLockedError, UnsafeStateError
from cairn.index.limits import lower_priority, on_battery
from cairn.index.models import place_of, places_agreed_to
from cairn.index.state_dir import StateDir
from cairn.model_settings import ModelSettings, is_loopback
from cairn.storage.index import overlay_db
from cairn.storage.index.schema import INDEX
from cairn.storage.lock import write_lock
from cairn.storage.own_files import open_stream

# How long to wait after a failure before the next attempt in the background.
REST_SECONDS = 300.0


def start(root: Path, state: StateDir, settings: Settings) -> subprocess.Popen[bytes] | None:
    """Start `cairn index` for the folder `root` in its own session; return None if it must not run.

    It must not run if another process is embedding, if the model failed just before, on battery if the settings say
    so, or if the user has not yet sent texts to all these places by a command of their own: a search alone never
    sends code anywhere new.
    """
    if not settings.chain or not _may_start(state, settings.chain):
        return None
    if settings.pause_on_battery and on_battery():
        return None
    try:
        with write_lock(state.embedding_lock, 0.0, INDEX):
            pass  # nobody holds it; if two processes start at once, one finds it held and exits
    except IndexLockedError:
        return None
    # `-P`: a module in the working folder must not shadow one of ours.
    command = [sys.executable, "-P", "-m", "cairn", "index", str(root), "--state-dir", str(state.path)]
    try:
        log = open_stream(state.embedding_log, "wb")
    except (OSError, UnsafeStateError):  # the user's next own run reports what is wrong
        return None
    with log:
        process = subprocess.Popen(
            command, cwd=state.path, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    lower_priority(settings, process.pid)
    return process


def start_graph(root: Path, state: StateDir, settings: Settings) -> subprocess.Popen[bytes] | None:
    """Start a process that resolves the whole symbol graph, which is kept beside the index; return None on battery.

    The caller waits for the process or ends it. It takes the index as it is and compares no files.
    """
    if settings.pause_on_battery and on_battery():
        return None
    return _start(["map", "--no-update"], root, state, settings)


def start_learning(root: Path, state: StateDir, settings: Settings, action: str) -> subprocess.Popen[bytes]:
    """Start `cairn optimize` with an action, at low priority. The caller waits for the process or ends it.

    No chat model is asked, since nobody has just agreed to spend money.
    """
    limits = ["--text-calls", "0"] if action == "run" else []
    return _start(["optimize", action, *limits], root, state, settings)


def _start(command: Sequence[str], root: Path, state: StateDir, settings: Settings) -> subprocess.Popen[bytes]:
    """Start a command for the folder `root` at low priority; nobody reads what it prints."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "cairn", *command, "-C", str(root), "--state-dir", str(state.path), "--json"],
        cwd=state.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    lower_priority(settings, process.pid)
    return process


def _may_start(state: StateDir, chain: Sequence[ModelSettings]) -> bool:
    with closing(state.open_for_reading()) as connection:
        rows = {row.fingerprint: row for row in overlay_db.read_models(connection)}
    places = places_agreed_to(state)
    if not all(is_loopback(model.base_url) or place_of(model) in places for model in chain):
        return False
    row = rows.get(fingerprint_of(chain[0]))
    return row is None or not row.error or time.time() - row.error_at > REST_SECONDS
