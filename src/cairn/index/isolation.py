"""Runs jobs on untrusted content in helpers: keeps some warm, and remembers contents on which a job failed."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from cairn.digest import blake2b
from cairn.errors import UnparsableError
from cairn.index.helper import CRASHED, Helper, Result, own_priority, start_helpers
from cairn.kernels import build

IDLE_SECONDS = 30.0  # after which an idle helper ends
# What a failure depends on: this version (its package is above this layer), Python, and the build of the inner loops.
_PARSER = f"{sys.modules['cairn'].__version__} {sys.version} {build.VERSION if build.IS_COMPILED else 'plain'}"
_HASH_BYTES = 16
_MAX_REMEMBERED_BYTES = 1_000_000


def run_isolated(job: str, data: bytes, language: str, *arguments: object, scope: str = "") -> Any:  # noqa: ANN401 - of any job
    """Run a job on a content in a helper, where a crash or an endless parse does no harm.

    Args:
        job: a function, as `module:name`, that is called with the content, the language's name and the arguments.
        data: the content.
        language: the name of its language.
        arguments: plain values or our own records; so must the result be.
        scope: names a job that does more than parse, so that its failures do not count for other jobs.

    Raises:
        UnparsableError: if the job failed on this content, now or before.
        CairnError: what the job raises.
    """
    if reason := find_failure(data, language, scope):
        raise UnparsableError(reason)
    most = max(1, count_waiting())  # keeps as many idle as before
    helper = borrow()
    try:
        helper.send(job, len(data), data, language, *arguments)
        result = helper.receive()
    except BaseException:
        helper.close()
        raise
    give_back(helper, most)
    if result.error is not None:
        raise result.error
    if result.failure:
        remember(result, data, language, scope)
        raise UnparsableError(result.failure)
    return result.value


# -- helpers that wait for their next job ------------------------------------------------------------------------------

_idle: list[tuple[float, Helper]] = []
_timer: threading.Timer | None = None
_lock = threading.Lock()


def borrow() -> Helper:
    """Return an idle helper; give it back or close it."""
    return borrow_several(1)[0]


def borrow_several(count: int) -> list[Helper]:
    """Return idle helpers, fewer if the system allows no more; give each back or close it."""
    with _lock:
        entries = _waiting(own_priority())[:count]
        _idle[:] = [entry for entry in _idle if entry not in entries]
    helpers = []
    for _, helper in entries:
        helper.catch_up()
        if helper.is_alive:
            helpers.append(helper)
        else:
            helper.close()
    return helpers + (start_helpers(count - len(helpers)) if len(helpers) < count else [])


def count_waiting() -> int:
    """Return how many helpers of this thread's priority are idle."""
    with _lock:
        return len(_waiting(own_priority()))


def _waiting(priority: int) -> list[tuple[float, Helper]]:
    """Return the idle helpers of a priority, with since when. The caller holds the lock."""
    return [entry for entry in _idle if entry[1].priority == priority]


def warm() -> None:
    """Start a helper unless one is idle, so that the next job does not have to."""
    give_back(borrow())


def warm_up(job: str, data: bytes, language: str) -> None:
    """Start a helper unless one is idle, and have it load what a job needs while the caller continues."""
    priority = own_priority()
    with _lock:
        if _waiting(priority):
            return
    helper = Helper()
    helper.send_ahead(job, len(data), data, language)
    give_back(helper)


def give_back(helper: Helper, most: int = 1) -> None:
    """Keep a helper for a while for the next job of its priority.

    Args:
        most: how many of one priority may be idle; if there are that many, this one is closed.
    """
    with _lock:
        if helper.is_alive and len(_waiting(helper.priority)) < most:
            _idle.append((time.monotonic(), helper))
            _plan_closing(IDLE_SECONDS)
            return
    helper.close()


def _plan_closing(seconds: float) -> None:
    """Schedule the closing of idle helpers, unless it is scheduled. The caller holds the lock."""
    global _timer
    if _timer is None:
        _timer = threading.Timer(seconds, _close_idle)
        _timer.daemon = True
        _timer.start()


def _close_idle() -> None:
    """Close helpers that have been idle long enough, and reschedule if others remain."""
    global _timer
    now = time.monotonic()
    with _lock:
        _timer = None
        done = [helper for since, helper in _idle if now - since >= IDLE_SECONDS]
        _idle[:] = [(since, helper) for since, helper in _idle if helper not in done]
        if _idle:
            _plan_closing(IDLE_SECONDS - (now - min(since for since, _ in _idle)))
    for helper in done:
        helper.close()


@atexit.register
def _close_all() -> None:
    with _lock:
        done = [helper for _, helper in _idle]
        _idle.clear()
    for helper in done:
        helper.close()


# -- contents on which a job failed ------------------------------------------------------------------------------------


def find_failure(data: bytes, language: str, scope: str = "") -> str:
    """Return why this version failed on this content before; empty if it did not."""
    if not (known := _read(_file())):
        return ""
    return known.get(_key(data, language, "")) or known.get(_key(data, language, scope), "")


def remember(result: Result, data: bytes, language: str, scope: str = "") -> None:
    """Record a failure if the content was to blame."""
    if not result.memorable:
        return
    key = _key(data, language, "" if result.failure == CRASHED else scope)
    file = _file()
    with suppress(OSError):  # it will just fail again
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        too_long = file.exists() and file.stat().st_size > _MAX_REMEMBERED_BYTES
        with file.open("w" if too_long else "a", encoding="utf-8") as stream:
            stream.write(f"{key} {result.failure}\n")


def _key(data: bytes, language: str, scope: str) -> str:
    name = f"{_PARSER}\0{language}\0{scope}\0".encode()
    return blake2b(name + blake2b(data).digest(), digest_size=_HASH_BYTES).hexdigest()


def _file() -> Path:
    """Return this user's file of failures, one per line, kept outside of all projects."""
    return _file_in(os.environ.get("XDG_CACHE_HOME", ""))


@cache
def _file_in(folder: str) -> Path:
    if folder:
        return Path(folder) / "cairn" / "unparsable"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "cairn" / "unparsable"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "cairn" / "unparsable"
    return Path.home() / ".cache" / "cairn" / "unparsable"


_read_last: tuple[tuple[Path, int, int], dict[str, str]] | None = None


def _read(file: Path) -> dict[str, str]:
    """Return the reasons by key, reread if another process added one."""
    global _read_last
    try:
        status = file.stat()
        stamp = (file, status.st_size, status.st_mtime_ns)
        if _read_last is None or _read_last[0] != stamp:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            _read_last = stamp, {key: reason for key, _, reason in (line.partition(" ") for line in lines)}
    except OSError:
        return {}
    return _read_last[1]
