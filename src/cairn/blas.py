"""Keeps the products of numpy on the thread that asks for them, where that is quicker."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

# What the builds of OpenBLAS that numpy comes with call their functions.
_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads",
)
_lock = threading.Lock()
_inside = 0  # how many are at work on one thread
_before = 1  # how many threads there were before the first of them


@contextmanager
def one_thread() -> Iterator[None]:
    """Have OpenBLAS compute without threads of its own, in the whole process; another BLAS stays as it is.

    For many small products: threads that wait for each other in a loop take several times what the product takes.
    """
    global _before, _inside
    functions = _functions()
    if functions is None:
        yield
        return
    get_threads, set_threads = functions
    with _lock:
        if not _inside:
            _before = get_threads()
            set_threads(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                set_threads(_before)


@cache
def _functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Return what tells and sets how many threads OpenBLAS uses, None if numpy uses another BLAS."""
    numpy_core = sys.modules.get("numpy._core._multiarray_umath")
    if numpy_core is None:
        return None
    try:
        library = ctypes.CDLL(numpy_core.__file__)  # the loaded one, which finds what it was linked with
    except OSError:
        return None
    for name in _NAMES:
        if hasattr(library, name.format("get")) and hasattr(library, name.format("set")):
            get_threads, set_threads = library[name.format("get")], library[name.format("set")]
            get_threads.restype, set_threads.restype = ctypes.c_int, None
            return get_threads, set_threads
    return None
