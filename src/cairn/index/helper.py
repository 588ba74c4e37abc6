"""Processes that work on a repository's content, so that a crash, an endless parse or a lack of memory harms no other.

A helper does one job after another for as long as there are any. The operating system enforces what a job may use,
because nothing else stops a grammar in native code. A helper that uses more is ended, and only its job is lost.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import count
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn

from cairn.errors import CairnError, error_from_dict
from cairn.garbage_collection import RARELY

if TYPE_CHECKING:
    import queue

# What a job may use: processor time, and memory on top of what the helper holds already; larger files get more.
SECONDS = 1.5
MEMORY_MB = 224
SECONDS_PER_MB, MEMORY_MB_PER_MB = 2, 50
# By the wall clock, where processor time is not limited (Windows) or does not advance.
PATIENCE_SECONDS = 60
CRASHED = "the grammar crashed on this file"
_MOST_KEPT_MB = 200  # between jobs: grammars, queries, and what malloc does not release
_MEMORY_EXIT = 17
_JOBS_PER_LIMIT, _LARGE_BYTES = 16, 100_000
_job_numbers = count()
_STREAMS = 3  # the standard ones
_MB = 1_000_000
_PIPE_BYTES = 1 << 20  # what Linux allows everybody


class Result(NamedTuple):
    """What became of a job: its value, the error meant for the user that it raised, or why there is neither.

    `memorable` says that the reason lies in the content, so that trying again is pointless; `died` that the helper can
    take no more jobs.
    """

    value: Any = None
    error: CairnError | None = None
    failure: str = ""
    memorable: bool = False
    died: bool = False


class Helper:
    """Another process, with a thread for each direction, so that neither side ever waits for the other to read.

    It is forked if this process has a single thread, which saves the start and the imports; else it is started afresh.

    Args:
        started: the process, if it runs already; see `start_helpers`.
    """

    def __init__(self, started: _Started | None = None) -> None:
        import queue  # noqa: PLC0415 - start-up time: many runs need no helper

        self.priority = own_priority()
        self._process, tasks, results = started or _start()
        self._limits: deque[tuple[float, int]] = deque()  # of the jobs without an answer
        self._n_ahead = 0  # of these, the first ones, whose results nobody wants
        self._tasks: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._feed, args=(tasks,), daemon=True),
            threading.Thread(target=self._collect, args=(results,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send(self, job: str, size: int, *arguments: Any) -> None:  # noqa: ANN401 - of any job
        """Hand over a job; a process that died is noticed when its result is asked for.

        Args:
            job: a function, as `module:name`.
            size: of the content that it works on, in bytes.
        """
        self._limits.append(limits_for(size))
        self._tasks.put(pickle.dumps((job, size, arguments), protocol=pickle.HIGHEST_PROTOCOL))

    def send_ahead(self, job: str, size: int, *arguments: Any) -> None:  # noqa: ANN401 - of any job
        """Hand over a job whose result nobody wants, so that what it loads is there for the next one."""
        self.send(job, size, *arguments)
        self._n_ahead += 1

    def catch_up(self) -> None:
        """Wait for the jobs whose results nobody wants."""
        while self._n_ahead:
            self._n_ahead -= 1
            self.receive()

    def receive(self) -> Result:
        """Return what became of the first job without an answer; after a failure `is_alive` may be false."""
        import queue  # noqa: PLC0415 - as above

        seconds, memory_mb = self._limits.popleft()
        try:
            result = self._results.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            self._process.kill()
            return Result(failure=f"took more than {PATIENCE_SECONDS} s to parse", died=True)
        if result is not _DIED:
            return result
        self._results.put(_DIED)  # for whoever asks again
        return failure_of(self._process.wait(), seconds, memory_mb)

    @property
    def is_alive(self) -> bool:
        """Whether it can take jobs."""
        return self._process.poll() is None and all(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """End the process."""
        self._tasks.put(None)
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()

    def _feed(self, stream: IO[bytes]) -> None:
        with suppress(BrokenPipeError), stream:  # receive() tells of a process that died
            while (task := self._tasks.get()) is not None:
                stream.write(task)
                stream.flush()

    def _collect(self, stream: IO[bytes]) -> None:
        with suppress(EOFError, pickle.UnpicklingError, OSError), stream:
            while True:
                self._results.put(read_result(stream))
        self._process.kill()  # one that answers nonsense is treated like one that died
        self._results.put(_DIED)


_DIED = Result(died=True)


def start_helpers(count: int) -> list[Helper]:
    """Start some helpers, or as many as the system allows: first all processes, for threads keep one from forking."""
    started: list[_Started] = []
    try:
        while len(started) < count:
            started.append(_start())
    except OSError:
        if not started:
            raise
    return [Helper(one) for one in started]


def limits_for(size: int) -> tuple[float, int]:
    """Return the seconds and megabytes that a job on so many bytes may use."""
    beyond = max(0, size - 1) // _MB
    return SECONDS + SECONDS_PER_MB * beyond, MEMORY_MB + MEMORY_MB_PER_MB * (beyond + 1)


def failure_of(exit_code: int, seconds: float, memory_mb: int) -> Result:
    """Return what the end of a process says about the job that it had."""
    if exit_code == -getattr(signal, "SIGPROF", 0):
        return Result(failure=f"took more than {seconds:g} s to parse", memorable=True, died=True)
    if exit_code == _MEMORY_EXIT:
        return Result(failure=f"needed more than {memory_mb} MB to parse", memorable=True, died=True)
    # Somebody else's signal says nothing about the file.
    memorable = exit_code not in (-signal.SIGTERM, -getattr(signal, "SIGKILL", 0))
    return Result(failure=CRASHED, memorable=memorable, died=True)


def own_priority() -> int:
    """Return the priority of this thread, which its children inherit."""
    return os.getpriority(os.PRIO_PROCESS, 0) if sys.platform != "win32" else 0


def may_fork() -> bool:
    """Tell whether this process can be forked safely: in a fork, nobody releases the locks of other threads."""
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1


# -- starting one ------------------------------------------------------------------------------------------------------


def _start() -> _Started:
    if may_fork():
        with suppress(OSError):  # a fork needs more memory at once than a new process
            return _fork()
    return _spawn()


def _spawn() -> _Started:
    # Nothing is imported from the working folder, which may be the repository. -S: no `.pth` file runs code.
    path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path if folder)
    process = subprocess.Popen(
        [sys.executable, "-S", "-P", "-m", "cairn.index.helper"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # grammars print before they crash
        cwd=os.path.abspath(os.sep),
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for stream in (process.stdin, process.stdout):
        _widen(stream.fileno())
    return process, process.stdin, process.stdout


def _widen(pipe: int) -> None:
    """Let a pipe hold the work of a second, as far as the system allows.

    While this process writes a batch, its threads for the helper wait for the interpreter. Meanwhile the helper needs
    files, and room for what it makes of them.
    """
    if sys.platform == "linux":
        fcntl = import_module("fcntl")  # is not there on Windows
        with suppress(OSError):  # this user's pipes hold too much already
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


class _Fork:
    """The process number of a fork, waited for once."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._exit_code: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        return self._wait_for_end(os.WNOHANG)

    def wait(self) -> int:
        code = self._wait_for_end(0)
        assert code is not None
        return code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self._pid, signal.SIGKILL)

    def _wait_for_end(self, options: int) -> int | None:
        with self._lock:
            if self._exit_code is None:
                try:
                    pid, status = os.waitpid(self._pid, options)
                except ChildProcessError:  # this program ignores how its children end
                    self._exit_code = 0
                else:
                    self._exit_code = os.waitstatus_to_exitcode(status) if pid else None
            return self._exit_code


# A process, what it reads its jobs from, and what it writes their results to.
_Started = tuple[subprocess.Popen[bytes] | _Fork, IO[bytes], IO[bytes]]


def _fork() -> _Started:
    tasks_source, tasks_sink = os.pipe()
    results_source, results_sink = os.pipe()
    _widen(tasks_sink)
    _widen(results_sink)
    try:
        pid = os.fork()
    except OSError:
        for end in (tasks_source, tasks_sink, results_source, results_sink):
            os.close(end)
        raise
    if not pid:
        run_fork((tasks_source, results_sink), lambda: _serve_ends(tasks_source, results_sink))
    os.close(tasks_source)
    os.close(results_sink)
    return _Fork(pid), open(tasks_sink, "wb"), open(results_source, "rb")


def _serve_ends(source: int, sink: int) -> None:
    with open(source, "rb") as tasks, open(sink, "wb") as results:
        serve(tasks, results)


def run_fork(keep: tuple[int, ...], work: Callable[[], None]) -> NoReturn:
    """Do some work and exit: none of the parent's own work goes on in a fork.

    Args:
        keep: the files it needs. All others are closed, above all the write lock, which must be released when the
            parent ends.
    """
    status = 1
    try:
        for number in map(int, os.listdir("/proc/self/fd")):
            if number >= _STREAMS and number not in keep:
                with suppress(OSError):  # the one that listed them
                    os.close(number)
        be_helper()
        work()
        status = 0
    finally:
        os._exit(status)  # none of the parent's code may run here, not even its error handling


# -- inside the helper -------------------------------------------------------------------------------------------------


def be_helper() -> None:
    """Set this process up for work on foreign content."""
    gc.set_threshold(*RARELY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that a person started
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - is not there on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(_STREAMS):  # grammars print before they crash
        os.dup2(nowhere, stream)
    os.close(nowhere)


def run_limited(job: str, size: int, *arguments: Any) -> bytes:  # noqa: ANN401 - of any job
    """Return the outcome of a job, as bytes; the process ends if it uses too much."""
    function = _function(job)
    seconds, memory_mb = limits_for(size)
    if (
        size > _LARGE_BYTES or next(_job_numbers) % _JOBS_PER_LIMIT == 0
    ):  # setting it takes as long as parsing a small file
        _limit_memory(memory_mb)
    _limit_time(seconds)
    try:
        result = function(*arguments)
        return pickle.dumps(("value", result), protocol=pickle.HIGHEST_PROTOCOL)
    except CairnError as error:
        return pickle.dumps(("error", error.to_dict()))
    except MemoryError:
        os._exit(_MEMORY_EXIT)
    except Exception as error:  # noqa: BLE001 - unexpected content costs one file, not the run
        return pickle.dumps(("failure", f"cannot be parsed: {type(error).__name__}"))
    finally:
        _limit_time(0)


@cache
def _function(job: str) -> Callable[..., Any]:
    module, name = job.split(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def _limit_time(seconds: float) -> None:
    """Have the system end this process when it has used so many more seconds of processor time; 0 for no limit."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(memory_mb: int) -> None:
    """Let this process take so much more memory than it holds; what asks for more fails."""
    if sys.platform != "linux":
        return
    import resource  # noqa: PLC0415 - is not there on Windows

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    wanted = min(_private_bytes(), _first_private_bytes() + _MOST_KEPT_MB * _MB) + memory_mb * _MB
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def _private_bytes() -> int:
    """Return how much private memory this process has, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGESIZE")


@cache
def _first_private_bytes() -> int:
    return _private_bytes()


def serve(tasks: IO[bytes], results: IO[bytes]) -> None:
    """Do the jobs that come in until the other side closes the stream: all that the process is for."""
    while True:
        try:
            job, size, arguments = pickle.load(tasks)
        except EOFError:
            return
        results.write(run_limited(job, size, *arguments))
        results.flush()


# -- reading its answers -----------------------------------------------------------------------------------------------


def read_result(stream: IO[bytes]) -> Result:
    """Read what became of a job.

    Raises:
        EOFError, pickle.UnpicklingError: if the process ended, or what it says is no answer.
    """
    try:
        kind, *rest = _Plain(stream).load()
        if kind == "value":
            return Result(rest[0])
        if kind == "error":
            return Result(error=error_from_dict(rest[0]))
        return Result(failure=str(rest[0]), memorable=True)
    except (EOFError, pickle.UnpicklingError):
        raise
    except Exception as error:
        raise pickle.UnpicklingError(str(error)) from error


class _Plain(pickle.Unpickler):
    """Creates only plain values and our own records: whoever controls the helper must not control this process."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as in the base class
        if module == "array" and name in ("array", "_array_reconstructor"):
            return super().find_class(module, name)
        if module.startswith("cairn.") and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and (issubclass(found, tuple | Enum) or is_dataclass(found)):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not part of an answer")


if __name__ == "__main__":
    with os.fdopen(os.dup(0), "rb") as own_tasks, os.fdopen(os.dup(1), "wb") as own_results:
        be_helper()
        serve(own_tasks, own_results)
