"""Work that waits for servers, in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")


def start(work: Callable[[], _T]) -> Future[_T]:
    """Do work in a daemon thread, because resolving a host's name cannot be interrupted.

    It cannot be cancelled either: the result is done when the thread is.
    """
    future: Future[_T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - whoever asks for the result gets it
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="cairn-remote", daemon=True).start()
    return future
