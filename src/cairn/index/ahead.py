"""Has a few changed files parsed by a fork of this process, while this one imports what builds an index.

That import takes as long as starting a parser. A fork has the files and half of a parser's modules already, so it is
done by then, which a fresh process is not.
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
    """A fork at work on what a plan has to do; `pid` is 0 where there is none. Close it.

    Args:
        reader: of the files, which are all read at once; none that needs parsing starts no fork.
        limits: for what a fork that crashed leaves to do.
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
        except OSError:  # there may be no more processes: results() does without
            self._results.close()
        else:
            if not self.pid:
                run_fork((sink,), lambda: _work(self._tasks, sink))
        os.close(sink)

    def results(self) -> Iterator[tuple[Content, ParsedText]]:
        """Yield each file with what parsing made of it, in order; a crash costs one file its definitions."""
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
            os.kill(pid, signal.SIGKILL)  # in case that it lives and answers nonsense
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
        cores: how many this process may use; on one alone a fork would only come on top.
        imported: whether numpy is, as in a process that lives on: then there is little to wait for.
    """
    return limits.helpers > 0 and cores > 1 and not imported and may_fork()


def _work(tasks: Sequence[Task[Content]], sink: int) -> None:
    """Parse files and write the results; this is all the fork does."""
    with open(sink, "wb") as results:
        for task in tasks:
            if not find_failure(task.data, task.language):
                results.write(run_limited(TEXT_JOB.name, len(task.data), task.data, task.language))
                results.flush()
