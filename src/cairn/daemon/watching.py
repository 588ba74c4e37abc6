"""Keeps the index of an open project up to date, in a thread of its own with a workspace of its own."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.errors import CairnError

if TYPE_CHECKING:
    from cairn.workspace import Workspace

_log = logging.getLogger("cairn.daemon")


def open_workspace(root: Path) -> Workspace:
    """Open a project; whatever that takes is imported now."""
    from cairn.workspace import Workspace  # noqa: PLC0415 - start-up time: nothing is open at first

    return Workspace.open(root)


class Watch:
    """Follows the edits of a project until it is stopped, or its folder is gone.

    Args:
        name: what the log calls the project.
        workspace: one of its own, which this closes.
    """

    def __init__(self, name: str, workspace: Workspace) -> None:
        self._name = name
        self._workspace = workspace
        self._watcher = self._workspace.upkeep.watcher()
        self._thread = threading.Thread(target=self._run, name=f"cairn-watch-{name}", daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        """Tell whether edits are followed."""
        return self._thread.is_alive()

    def stop(self, timeout_seconds: float) -> bool:
        """Stop, and tell whether that was done in time: an update under way is finished first."""
        self._watcher.stop()
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            for update in self._workspace.upkeep.watch(self._watcher):
                if update.batch.note:
                    _log.info("%s: %s", self._name, update.batch.note)
                if update.error is not None:
                    _log.warning("%s was not updated: %s", self._name, update.error)
        except CairnError as error:
            _log.warning("%s is not watched any more: %s", self._name, error)
        except Exception:  # noqa: BLE001 - the edge of a thread
            _log.exception("%s is not watched any more", self._name)
        finally:
            self._workspace.close()
