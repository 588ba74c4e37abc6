"""Runs a function on items in a few threads, and stops at once if a call fails or the user presses Ctrl-C."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_all(function: Callable[[Item, threading.Event], Result], items: Sequence[Item], n_threads: int) -> list[Result]:
    """Return the results in the order of the items.

    The threads are daemons: unlike an executor's, they do not make an interrupted process wait for the network.
    `function` gets an event that is set once its result is no longer wanted.

    Raises:
        Exception: the first one raised by `function`; items not started by then are skipped.
    """
    stop = threading.Event()
    if min(n_threads, len(items)) <= 1:
        return [function(item, stop) for item in items]
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Result | None, BaseException | None]] = queue.SimpleQueue()
    for number in range(len(items)):
        todo.put(number)

    def work() -> None:
        while not stop.is_set():
            try:
                number = todo.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((number, function(items[number], stop), None))
            except BaseException as error:  # noqa: BLE001 - a worker's edge: raised again in the waiting thread
                done.put((number, None, error))

    for _ in range(min(n_threads, len(items))):
        threading.Thread(target=work, daemon=True).start()
    results: dict[int, Result] = {}
    try:
        while len(results) < len(items):
            number, result, error = done.get()
            if error is not None:
                raise error
            results[number] = cast("Result", result)
    finally:
        stop.set()
    return [results[number] for number in range(len(items))]
