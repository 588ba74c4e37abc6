"""Keeps the products of numpy on the thread that asks for them, where that is quicker."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache

from cairn.sharing import ProcessSetting

# What the builds of OpenBLAS that numpy comes with call their functions.
_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads",
)


def one_thread() -> AbstractContextManager[None]:
    """Have OpenBLAS compute without threads of its own, in the whole process; another BLAS stays as it is.

    For many small products: threads that wait for each other in a loop take several times what the product takes.
    """
    threads = _threads()
    return nullcontext() if threads is None else threads.changed()


@cache
def _threads() -> ProcessSetting[int] | None:
    functions = _functions()
    return None if functions is None else ProcessSetting(*functions, lambda _: 1)


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
