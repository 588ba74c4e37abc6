"""What a command needs of the system, looked at before it begins: without, libraries end the process or crash it."""

from __future__ import annotations

import mmap

from cairn.errors import ResourceError

MIN_FILES = 64  # that may be open at once
MAX_FILES = 4_096  # more are not asked for
# To import numpy takes 150 MB of address space, most of it never used; OpenBLAS ends the process if it gets less.
SPARE_BYTES = 192 << 20


def check_limits() -> None:
    """Raise the limit on open files as far as is allowed where it is low, and see that enough may be had.

    Raises:
        ResourceError: if there may be too few open files, or there is too little address space.
    """
    _check_files()
    try:
        mmap.mmap(-1, SPARE_BYTES).close()
    except OSError as error:
        raise ResourceError(
            f"too little memory: {SPARE_BYTES >> 20} MB of address space are needed and cannot be had",
            "allow more (ulimit -v unlimited), or end what takes it, and run the command again",
        ) from error


def _check_files() -> None:
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= MAX_FILES:
        return
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if wanted < MIN_FILES:
        raise ResourceError(
            f"too few files may be open at once: {wanted}, and {MIN_FILES} are needed",
            "ulimit -n 1024, then run the command again",
        )
