"""Parses a few changed files in a fork of this process while this one imports the code that builds an index.

The import takes as long as starting a parser does. A fork inherits the files and half of the parser's modules, so it
finishes in that time; a fresh process would not.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress

from cairn.index.beside import TEXT_JOB, Task, outcome, parse_beside
from cairn.index.helper import failure_of, limits_for, may_fork, read_result, run_fork, run_limited
from cairn.index.isolation import find_failure, remember
from cairn.index.limits import RunLimits
from cairn.index.reading import Content, PlanReader
from cairn.index.words import ParsedText


class Ahead:
    """A fork that works through a plan; `pid` is 0 if none was started. Close it when done.

    Args:
        reader: reads all the files up front; if none of them needs parsing, no fork is started.
        limits: for parsing what a crashed fork left undone.
    """

    def __init__(self, reader: PlanReader, limits: RunLimits) -> None:
        self.reader = reader
        self._limits = limits
        self._tasks = list(reader.tasks())
        self.pid = 0
        if not self._tasks:
            return
        source, sink = os.pipe()
        self._results = open(source, "rb")  # noqa: SIM115 - closed by close()
        try:
            self.pid = os.fork()
        except OSError:  # the system may refuse another process; results() then parses here
            self._results.close()
        else:
            if not self.pid:
                run_fork((sink,), lambda: _work(self._tasks, sink))
        os.close(sink)

    def results(self) -> Iterator[tuple[Content, ParsedText]]:
        """Yield each file with its parse result, in order; a crash costs one file its definitions."""
        if not self.pid:
            yield from self._beside(self._tasks)
            return
        for number, task in enumerate(self._tasks):
            if reason := find_failure(task.data, task.language):
                yield task.tag, TEXT_JOB.give_up(task.data, task.language, reason)
                continue
            try:
                result = read_result(self._results)
            except (EOFError, pickle.UnpicklingError):
                result = failure_of(self._wait(), *limits_for(len(task.data)))
            if result.failure:
                remember(result, task.data, task.language)
            yield task.tag, outcome(result, task, TEXT_JOB)
            if result.died:
                yield from self._beside(self._tasks[number + 1 :])
                return

    def _beside(self, tasks: Sequence[Task[Content]]) -> Iterator[tuple[Content, ParsedText]]:
        return parse_beside(tasks, TEXT_JOB, n_helpers=1, in_flight_bytes=self._limits.in_flight_bytes)

    def _wait(self) -> int:
        """Wait for the end of the fork, and return its exit code."""
        pid, self.pid = self.pid, 0
        self._results.close()
        try:
            os.kill(pid, signal.SIGKILL)  # it may still be running after a garbled reply
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        except ChildProcessError:  # the program does not want to know how its children end
            return 0

    def close(self) -> None:
        """End the fork, if it has not."""
        if not self.pid:
            return
        self._results.close()
        with suppress(ChildProcessError):  # the program does not want to know how its children end
            if not os.waitpid(self.pid, os.WNOHANG)[0]:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        self.pid = 0


def is_worthwhile(limits: RunLimits, *, cores: int, imported: bool) -> bool:
    """Tell whether parsing ahead saves time, and is possible.

    Args:
        limits: of the run.
        cores: how many this process may use; with only one, a fork would just add work.
        imported: whether numpy is imported already, as in a long-lived process; then there is no wait to fill.
    """
    return limits.helpers > 0 and cores > 1 and not imported and may_fork()


def _work(tasks: Sequence[Task[Content]], sink: int) -> None:
    """Parse the files and write the results; the fork does nothing else."""
    with open(sink, "wb") as results:
        for task in tasks:
            if not find_failure(task.data, task.language):
                results.write(run_limited(TEXT_JOB.name, len(task.data), task.data, task.language))
                results.flush()
