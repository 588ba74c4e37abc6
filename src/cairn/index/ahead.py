"""Has a few changed files parsed by a fork of this process, while this one imports what builds an index.

That import takes as long as starting a parser. A fork has the files and half of a parser's modules already, so it is
done by then, which a fresh process is not.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NoReturn

from cairn.index.beside import TEXT_JOB, Task, parse_beside, parse_here
from cairn.index.limits import Limits
from cairn.index.reading import Content, Reader
from cairn.index.words import ParsedText

# From so many threads on a fork may find a lock taken by one that it does not have.
_TOO_MANY_THREADS = 2
_STREAMS = 3  # the standard ones


class Ahead:
    """A fork at work on what a plan has to do; `pid` is 0 where there is none. Close it.

    Args:
        reader: of the files, which are all read at once; none that needs parsing starts no fork.
        limits: for what a fork that crashed leaves to do.
    """

    def __init__(self, reader: Reader, limits: Limits) -> None:
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
        except OSError:  # there may be no more processes: parsed() does without
            self._results.close()
        else:
            if not self.pid:
                _work(self._tasks, sink)
        os.close(sink)

    def parsed(self) -> Iterator[tuple[Content, ParsedText]]:
        """Yield each file with what parsing made of it, in order; a crash costs one file its definitions."""
        if not self.pid:
            yield from parse_here(self._tasks)
            return
        for number, task in enumerate(self._tasks):
            try:
                result = TEXT_JOB.unpack(pickle.load(self._results))
            except (EOFError, pickle.UnpicklingError):
                yield task.tag, TEXT_JOB.give_up(task.data, task.language)
                yield from parse_beside(self._tasks[number + 1 :], TEXT_JOB, self._limits._replace(helpers=1))
                return
            yield task.tag, result

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


def is_worthwhile(limits: Limits, *, cores: int, imported: bool) -> bool:
    """Tell whether parsing ahead saves time, and is possible.

    Args:
        limits: of the run.
        cores: how many this process may use; on one alone a fork would only come on top.
        imported: whether numpy is, as in a process that lives on: then there is little to wait for.
    """
    return limits.helpers > 0 and cores > 1 and not imported and sys.platform == "linux" and _has_one_thread()


def _has_one_thread() -> bool:
    return len(os.listdir("/proc/self/task")) < _TOO_MANY_THREADS


def _work(tasks: Sequence[Task[Content]], sink: int) -> NoReturn:
    """Parse files and write the results; this is all the fork does, whatever its parent had in mind."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that a person started
        _close_all_but(sink)
        from cairn.index.parsing import JOBS  # noqa: PLC0415 - start-up time: only the fork needs it

        with open(sink, "wb") as results:
            for task in tasks:
                pickle.dump(JOBS[TEXT_JOB.name](task.data, task.language), results, protocol=pickle.HIGHEST_PROTOCOL)
                results.flush()
        status = 0
    except BaseException:  # noqa: BLE001 - nothing of the parent's may run here, not even what catches its errors
        traceback.print_exc()
    finally:
        os._exit(status)


def _close_all_but(sink: int) -> None:
    """Close the parent's files, above all the write lock, which has to go with the parent."""
    for number in map(int, os.listdir("/proc/self/fd")):
        if number >= _STREAMS and number != sink:
            with suppress(OSError):  # the one that listed them
                os.close(number)
