"""Starts processes for what nobody waits for: vectors of the configured models, the symbol graph, and tuning."""

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

# After a failure the next attempt in the background waits this long.
REST_SECONDS = 300.0


def start(root: Path, state: StateDir, settings: Settings) -> subprocess.Popen[bytes] | None:
    """Start `cairn index` for the folder `root` in a session of its own; return None when it is not to be started.

    That is so when a process embeds already, when the wanted model failed just before, or when the user has not sent
    texts to all these places by a command of their own: a search alone sends nothing anywhere new. On
    battery it is not started either, when the settings say so.
    """
    if not settings.chain or not _may_start(state, settings.chain):
        return None
    if settings.pause_on_battery and on_battery():
        return None
    try:
        with write_lock(state.embedding_lock, 0.0, INDEX):
            pass  # nobody holds it; should two start at once, one finds it held and ends
    except IndexLockedError:
        return None
    # `-P`: a folder with a module called like one of ours must not come first.
    command = [sys.executable, "-P", "-m", "cairn", "index", str(root), "--state-dir", str(state.path)]
    try:
        log = open_stream(state.embedding_log, "wb")
    except (OSError, UnsafeStateError):  # something is in the way; a run of the user's own says what
        return None
    with log:
        process = subprocess.Popen(
            command, cwd=state.path, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    lower_priority(settings, process.pid)
    return process


def start_graph(root: Path, state: StateDir, settings: Settings) -> subprocess.Popen[bytes] | None:
    """Start a process that resolves the whole symbol graph, which is kept beside the index; return None on battery.

    Whoever starts it waits for it, or ends it. It compares no files: it takes the index as it is.
    """
    if settings.pause_on_battery and on_battery():
        return None
    return _start(["map", "--no-update"], root, state, settings)


def start_learning(root: Path, state: StateDir, settings: Settings, action: str) -> subprocess.Popen[bytes]:
    """Start `cairn optimize` with an action, at low priority. Whoever starts it waits for it, or ends it.

    No chat model is asked: nobody has just said that this may cost something.
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
