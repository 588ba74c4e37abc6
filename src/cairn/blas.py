"""Keeps numpy's matrix products on the calling thread, where that is faster."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache

from cairn.sharing import ProcessSetting

# Names of the functions in numpy's builds of OpenBLAS.
_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads",
)


def one_thread() -> AbstractContextManager[None]:
    """Make OpenBLAS single-threaded in the whole process; another BLAS is left alone.

    Use this for many small products: threads that wait for each other take several times longer than the product.
    """
    threads = _threads()
    return nullcontext() if threads is None else threads.changed()


@cache
def _threads() -> ProcessSetting[int] | None:
    functions = _functions()
    return None if functions is None else ProcessSetting(*functions, lambda _: 1)


@cache
def _functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Return OpenBLAS's functions to get and set its number of threads, None if numpy uses another BLAS."""
    numpy_core = sys.modules.get("numpy._core._multiarray_umath")
    if numpy_core is None:
        return None
    try:
        library = ctypes.CDLL(numpy_core.__file__)  # the loaded module, through which linked libraries are found
    except OSError:
        return None
    for name in _NAMES:
        if hasattr(library, name.format("get")) and hasattr(library, name.format("set")):
            get_threads, set_threads = library[name.format("get")], library[name.format("set")]
            get_threads.restype, set_threads.restype = ctypes.c_int, None
            return get_threads, set_threads
    return None
