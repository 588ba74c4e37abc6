"""Keeps the index of an open project up to date, in its own thread with its own workspace."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.errors import CairnError
from cairn.loading import load

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_BEHIND = "changes are still being indexed: this is from before"
_log = logging.getLogger("cairn.daemon")
_PART_SECONDS = 2.0  # for which commits are read at a time; what was read by then is used


def open_workspace(root: Path) -> Workspace:
    """Open a project, and import what that takes."""
    from cairn.workspace import Workspace  # noqa: PLC0415 - start-up time: no project is open at first

    return Workspace.open(root)


class Watch:
    """Follows the edits of a project until it is stopped, or the folder is gone.

    Args:
        name: the project's name in the log.
        workspace: for this watch alone, which closes it.
    """

    def __init__(self, name: str, workspace: Workspace) -> None:
        self._name = name
        self._workspace = workspace
        self._watcher = self._workspace.upkeep.watcher()
        self._is_stopping = False
        self._changed = threading.Event()
        self._history = threading.Thread(target=self._read_history, name=f"cairn-history-{name}", daemon=True)
        self._thread = threading.Thread(target=self._run, name=f"cairn-watch-{name}", daemon=True)
        self._thread.start()
        if workspace.settings.history:
            self._history.start()

    def catch_up(self) -> str | None:
        """Wait until the index holds what was saved before; see `cairn.facets.project_index.Follower`."""
        is_done = self._watcher.catch_up() if self._thread.is_alive() else None
        if is_done is None:
            return None
        return "" if is_done else _BEHIND

    def stop(self, timeout_seconds: float) -> bool:
        """Stop; return whether that was done in time. An update that is running is finished first."""
        deadline = time.monotonic() + timeout_seconds
        self._is_stopping = True
        self._watcher.stop()
        self._thread.join(timeout_seconds)
        if self._history.is_alive():
            self._changed.set()
            self._history.join(max(0.0, deadline - time.monotonic()))
        return not self._thread.is_alive() and not self._history.is_alive()

    def _read_history(self) -> None:
        """Read new commits after updates of the index, at low priority, until the watch ends."""
        try:
            load("cairn.index.limits:lower_priority")(self._workspace.settings)
            while self._changed.wait() and not self._is_stopping:
                self._changed.clear()
                n_read = -1
                while not self._is_stopping:
                    extent = self._workspace.history.follow(seconds=_PART_SECONDS)
                    if extent is None or extent.read >= extent.listed or extent.read == n_read:
                        break
                    n_read = extent.read
        except Exception:  # noqa: BLE001 - the edge of a thread
            _log.exception("%s: commits are no longer read", self._name)

    def _run(self) -> None:
        try:
            for update in self._workspace.upkeep.watch(self._watcher):
                self._changed.set()
                if update.batch.note:
                    _log.info("%s: %s", self._name, update.batch.note)
                if update.error is not None:
                    _log.warning("%s was not updated: %s", self._name, update.error)
        except CairnError as error:
            _log.warning("%s is no longer watched: %s", self._name, error)
        except Exception:  # noqa: BLE001 - the edge of a thread
            _log.exception("%s is no longer watched", self._name)
        finally:
            self._is_stopping = True
            self._changed.set()
            self._workspace.close()
