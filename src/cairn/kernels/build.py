"""Whether this installation has the compiled inner loops; imports no numpy."""

from __future__ import annotations

# What `_compiled.c` must say of itself; an editable installation is not built again by itself after its source changed.
VERSION = 11


def _is_compiled() -> bool:
    try:
        import cairn.kernels._compiled as found  # noqa: PLC0415 - optional: there is no build for every platform
    except ImportError:
        return False
    return found.VERSION == VERSION


IS_COMPILED = _is_compiled()
