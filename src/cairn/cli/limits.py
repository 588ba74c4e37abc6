"""Checks, before a command begins, what it needs of the system: without it, libraries exit or crash."""

from __future__ import annotations

import mmap

from cairn.errors import ResourceError

MIN_FILES = 64  # open at once
MAX_FILES = 4_096  # as many as a command ever asks for
# Importing numpy takes 150 MB of address space, most of it never used; with less, OpenBLAS ends the process.
SPARE_BYTES = 192 << 20


def check_limits() -> None:
    """Raise a low limit on open files as far as allowed, and check that files and memory suffice.

    Raises:
        ResourceError: if too few files may be open, or there is too little address space.
    """
    _check_files()
    try:
        mmap.mmap(-1, SPARE_BYTES).close()
    except OSError as error:
        raise ResourceError(
            f"too little memory: {SPARE_BYTES >> 20} MB of address space are needed",
            "allow more (ulimit -v unlimited), or close other programs, then run the command again",
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
            f"too few files may be open at once: {wanted}; {MIN_FILES} are needed",
            "ulimit -n 1024, then run the command again",
        )
