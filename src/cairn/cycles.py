"""How often Python looks for cycles of objects: work that makes many objects, and hardly a cycle, can do without."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# For a process, or a piece of work, that ends soon: by default it takes a twentieth of the time. So has the command.
RARELY = (50_000, 20, 50)
_lock = threading.Lock()
_inside = 0  # how many are at work
_before = gc.get_threshold()  # that of the process, before the first of them


@contextmanager
def rarely_sought() -> Iterator[None]:
    """Have Python look for cycles rarely, in the whole process, for as long as this is entered."""
    global _before, _inside
    with _lock:
        if not _inside:
            _before = gc.get_threshold()
            gc.set_threshold(*map(max, _before, RARELY))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                gc.set_threshold(*_before)
