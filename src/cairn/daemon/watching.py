"""Keeps the index of an open project up to date, in its own thread with its own workspace."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.errors import CairnError
from cairn.history.following import HistoryThread
from cairn.index.demand import PATIENCE_SECONDS

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_BEHIND = "changes are still being indexed: this is from before"
_log = logging.getLogger("cairn.daemon")


def open_workspace(root: Path) -> Workspace:
    """Open a project with the imports that this takes."""
    from cairn.workspace import Workspace  # noqa: PLC0415 - start-up time: no project is open at first

    return Workspace.open(root)


class Watch:
    """Follows the edits of a project until stopped or the folder is gone.

    Args:
        name: the project's name in the log.
        workspace: exclusive to this watch, which closes it.
    """

    def __init__(self, name: str, workspace: Workspace) -> None:
        self._name = name
        self._workspace = workspace
        self._watcher = self._workspace.upkeep.watcher()
        self._history = HistoryThread(
            name, workspace.settings, lambda seconds: workspace.history.follow(seconds=seconds)
        )
        self._thread = threading.Thread(target=self._run, name=f"cairn-watch-{name}", daemon=True)
        self._thread.start()

    def catch_up(self, *, waits: bool = True) -> str | None:
        """Wait until the index has everything that was saved before; see `cairn.facets.project_index.Follower`."""
        seconds = PATIENCE_SECONDS if waits else 0.0
        is_done = self._watcher.catch_up(seconds) if self._thread.is_alive() else None
        if is_done is None:
            return None
        return "" if is_done else _BEHIND

    def stop(self, timeout_seconds: float) -> bool:
        """Stop, after finishing a running update; return whether that was done in time."""
        deadline = time.monotonic() + timeout_seconds
        self._watcher.stop()
        self._thread.join(timeout_seconds)
        is_ended = self._history.end(deadline - time.monotonic())
        return is_ended and not self._thread.is_alive()

    def _run(self) -> None:
        try:
            for update in self._workspace.upkeep.watch(self._watcher):
                self._history.wake()
                if update.batch.note:
                    _log.info("%s: %s", self._name, update.batch.note)
                if update.error is not None:
                    _log.warning("%s was not updated: %s", self._name, update.error)
        except CairnError as error:
            _log.warning("%s is no longer watched: %s", self._name, error)
        except Exception:  # noqa: BLE001 - the edge of a thread
            _log.exception("%s is no longer watched", self._name)
        finally:
            self._history.end(0.0)
            self._workspace.close()
