"""The process in which ast-grep works for one structural search: what it parses may crash it, or keep it busy.

Run as a module it is that process: it takes pickled requests on stdin and answers each on stdout.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from cairn import waiting
from cairn.search.exact import LineMatch

START_SECONDS = 20.0  # to start, and to find out what a pattern means in each language
FILE_SECONDS = 3.0
_MAX_BYTES = 1 << 30  # of address space
_LOOK_SECONDS = 0.1  # between looks at whether anybody waits

Rules = dict[str, dict[str, Any]]


class GaveUpError(Exception):
    """The process crashed, failed or was too slow. It is gone; the next request starts another."""


class Matcher:
    """Matches one pattern; use it in a `with` block."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._rules: Rules | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def prepare(self, languages: list[str]) -> tuple[Rules, set[str]]:
        """Return ast-grep's rule for each language that takes the pattern, and those of which it is a piece.

        Raises:
            GaveUpError: if that takes too long.
            BusyError: if nobody waits for it any more. So below.
        """
        found: tuple[Rules, set[str]] = self._ask(("prepare", self._pattern, languages), START_SECONDS)
        self._rules = found[0]
        return found

    def match(self, number: int, data: bytes, language: str) -> list[LineMatch]:
        """Return the matches in a file.

        Raises:
            GaveUpError: if the file is too much for ast-grep.
        """
        assert self._rules is not None
        seconds = FILE_SECONDS if self._process is not None else START_SECONDS
        found: list[LineMatch] = self._ask(
            ("match", number, data, language, self._rules[language], self._pattern), seconds
        )
        return found

    def _ask(self, request: object, seconds: float) -> Any:  # noqa: ANN401 - of any request
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            with suppress(OSError):  # a process that died is noticed below
                pickle.dump(request, self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
                self._process.stdin.flush()
            is_done, answer = self._answer(time.monotonic() + seconds)
        except BaseException:
            self._end()
            raise
        if not is_done:
            self._end()
            raise GaveUpError
        return answer

    def _answer(self, until: float) -> tuple[bool, Any]:
        """Wait for the answer, which says first whether there is one."""
        while True:
            waiting.check()
            try:
                found: tuple[bool, Any] = self._answers.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                if time.monotonic() > until:
                    return False, None
            else:
                return found

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cairn.search.matcher"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self._answers = queue.SimpleQueue()
        threading.Thread(target=_collect, args=(self._process, self._answers), daemon=True).start()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdin is not None
            with suppress(OSError):  # what was not sent is of no use
                self._process.stdin.close()
            self._process = None


def _collect(process: subprocess.Popen[bytes], answers: queue.SimpleQueue[Any]) -> None:
    """Take answers until the process ends."""
    assert process.stdout is not None
    with process.stdout as stream, suppress(EOFError, pickle.UnpicklingError, OSError):
        while True:
            answers.put(pickle.load(stream))
    answers.put((False, None))


# -- in the other process ----------------------------------------------------------------------------------------------


def _work() -> None:
    """Answer requests until there are no more."""
    from cairn.search.structural import matches_of, prepare  # noqa: PLC0415 - this module is imported by that one

    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nobody else writes answers
    _limit_memory()
    steps: dict[str, Callable[..., Any]] = {"prepare": prepare, "match": matches_of}
    with suppress(EOFError):
        while True:
            name, *arguments = pickle.load(requests)
            try:
                answer = (True, steps[name](*arguments))
            except BaseException:  # noqa: BLE001 - the edge of a process; Rust's panics are no Exceptions
                answer = (False, None)
            pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
            answers.flush()


def _limit_memory() -> None:
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _MAX_BYTES if hard == resource.RLIM_INFINITY else min(_MAX_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _work()
