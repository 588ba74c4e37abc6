"""Keeps the interceptor of each open project: created in the background after its first event, closed before it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from cairn.loading import load

if TYPE_CHECKING:
    from cairn.hooks.intercept import Interceptor
    from cairn.workspace import Workspace

_log = logging.getLogger("cairn.hooks")


def make_interceptor(workspace: Workspace) -> Interceptor:
    """Create a project's interceptor; its imports take a while."""
    interceptor: Interceptor = load("cairn.hooks.intercept:Interceptor")(workspace)
    return interceptor


class Interceptors:
    """The interceptors of all open projects. Threads may share it.

    Args:
        make: creates one; a seam for tests.
    """

    def __init__(self, make: Callable[[Workspace], Any] = make_interceptor) -> None:
        self._make = make
        self._made: dict[
            int, Future[Any]
        ] = {}  # by the workspace's `id`, which stays valid for as long as the entry exists
        self._change = threading.Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="cairn-interceptor")

    def begin(self, workspace: Workspace) -> Future[Any]:
        """Start to create a project's interceptor, unless that has begun; what it imports slows all else down."""
        with self._change:
            if id(workspace) not in self._made:
                self._made[id(workspace)] = self._pool.submit(self._make, workspace)
            return self._made[id(workspace)]

    def made(self, workspace: Workspace) -> Interceptor | None:
        """Return a project's interceptor, None if it is not created yet."""
        with self._change:
            making = self._made.get(id(workspace))
        is_made = making is not None and making.done()
        return self.of(workspace, 0.0) if is_made else None

    def of(self, workspace: Workspace, seconds: float) -> Interceptor | None:
        """Return the interceptor of a project, None while it is being created.

        Args:
            workspace: the project, open.
            seconds: how long to wait for it.
        """
        making = self.begin(workspace)
        try:
            interceptor: Interceptor = making.result(seconds)
        except TimeoutError:
            return None
        except Exception as error:  # noqa: BLE001 - the edge of what may be said; without it, events are still taken in
            _log.warning("nothing is said about tools: %s: %s", type(error).__name__, error)
            return None
        return interceptor

    def close(self, workspace: Workspace) -> None:
        """Close the interceptor of a project, if any; call this before closing the workspace."""
        with self._change:
            making = self._made.pop(id(workspace), None)
        if making is None or making.cancel() or making.exception() is not None:
            return
        making.result().close()
