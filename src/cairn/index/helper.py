"""Helper processes for a repository's content: a crash, an endless parse or running out of memory harms nothing else.

A helper does one job after another. The operating system enforces a job's limits, because nothing else can stop native
code. A helper that exceeds them is killed, and only its job is lost.
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

# A job's limits: processor time, and memory on top of what the helper already holds; larger files get more.
SECONDS = 1.5
MEMORY_MB = 224
SECONDS_PER_MB, MEMORY_MB_PER_MB = 2, 50
# Wall-clock limit, for where processor time is not limited (Windows) or does not advance.
PATIENCE_SECONDS = 60
CRASHED = "the grammar crashed on this file"
_MOST_KEPT_MB = 200  # kept between jobs: grammars, queries, and what malloc does not release
_MEMORY_EXIT = 17
_JOBS_PER_LIMIT, _LARGE_BYTES = 16, 100_000
_job_numbers = count()
_STREAMS = 3  # stdin, stdout, stderr
_MB = 1_000_000
_PIPE_BYTES = 1 << 20  # the most that Linux allows an unprivileged process


class Result(NamedTuple):
    """The outcome of a job: its value, the user-facing error it raised, or why there is neither.

    `memorable` means that the content is to blame, so retrying is pointless; `died` that the helper takes no more jobs.
    """

    value: Any = None
    error: CairnError | None = None
    failure: str = ""
    memorable: bool = False
    died: bool = False


class Helper:
    """A helper process, with a thread for each direction, so that neither side blocks on the other.

    It is forked if this process has a single thread, which saves start-up and imports; otherwise it is spawned.

    Args:
        started: the process, if it is already running; see `start_helpers`.
    """

    def __init__(self, started: _Started | None = None) -> None:
        import queue  # noqa: PLC0415 - start-up time: many runs need no helper

        self.priority = own_priority()
        self._process, tasks, results = started or _start()
        self._limits: deque[tuple[float, int]] = deque()  # of the jobs in flight
        self._n_ahead = 0  # the first of these, whose results are not needed
        self._tasks: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._feed, args=(tasks,), daemon=True),
            threading.Thread(target=self._collect, args=(results,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send(self, job: str, size: int, *arguments: Any) -> None:  # noqa: ANN401 - of any job
        """Send a job; a dead process is noticed when its result is received.

        Args:
            job: a function, as `module:name`.
            size: of the content, in bytes.
        """
        self._limits.append(limits_for(size))
        self._tasks.put(pickle.dumps((job, size, arguments), protocol=pickle.HIGHEST_PROTOCOL))

    def send_ahead(self, job: str, size: int, *arguments: Any) -> None:  # noqa: ANN401 - of any job
        """Send a job only for what it loads, so that the next one starts faster."""
        self.send(job, size, *arguments)
        self._n_ahead += 1

    def catch_up(self) -> None:
        """Wait for the jobs of `send_ahead`."""
        while self._n_ahead:
            self._n_ahead -= 1
            self.receive()

    def receive(self) -> Result:
        """Return the outcome of the oldest job in flight; after a failure `is_alive` may be false."""
        import queue  # noqa: PLC0415 - as above

        seconds, memory_mb = self._limits.popleft()
        try:
            result = self._results.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            self._process.kill()
            return Result(failure=f"took more than {PATIENCE_SECONDS} s to parse", died=True)
        if result is not _DIED:
            return result
        self._results.put(_DIED)  # for later calls
        return failure_of(self._process.wait(), seconds, memory_mb)

    @property
    def is_alive(self) -> bool:
        """Whether it can take more jobs."""
        return self._process.poll() is None and all(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """End the process."""
        self._tasks.put(None)
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()

    def _feed(self, stream: IO[bytes]) -> None:
        with suppress(BrokenPipeError), stream:  # receive() reports the death
            while (task := self._tasks.get()) is not None:
                stream.write(task)
                stream.flush()

    def _collect(self, stream: IO[bytes]) -> None:
        with suppress(EOFError, pickle.UnpicklingError, OSError), stream:
            while True:
                self._results.put(read_result(stream))
        self._process.kill()  # a garbled reply counts as a death
        self._results.put(_DIED)


_DIED = Result(died=True)


def start_helpers(count: int) -> list[Helper]:
    """Start helpers, or as many as the system allows: all processes first, because threads rule out forking."""
    started: list[_Started] = []
    try:
        while len(started) < count:
            started.append(_start())
    except OSError:
        if not started:
            raise
    return [Helper(one) for one in started]


def limits_for(size: int) -> tuple[float, int]:
    """Return the seconds and megabytes that a job on `size` bytes may use."""
    beyond = max(0, size - 1) // _MB
    return SECONDS + SECONDS_PER_MB * beyond, MEMORY_MB + MEMORY_MB_PER_MB * (beyond + 1)


def failure_of(exit_code: int, seconds: float, memory_mb: int) -> Result:
    """Return what the exit of a process says about its job."""
    if exit_code == -getattr(signal, "SIGPROF", 0):
        return Result(failure=f"took more than {seconds:g} s to parse", memorable=True, died=True)
    if exit_code == _MEMORY_EXIT:
        return Result(failure=f"needed more than {memory_mb} MB to parse", memorable=True, died=True)
    # A signal from outside says nothing about the file.
    memorable = exit_code not in (-signal.SIGTERM, -getattr(signal, "SIGKILL", 0))
    return Result(failure=CRASHED, memorable=memorable, died=True)


def own_priority() -> int:
    """Return this thread's priority, which its children inherit."""
    return os.getpriority(os.PRIO_PROCESS, 0) if sys.platform != "win32" else 0


def may_fork() -> bool:
    """Tell whether forking is safe: in a fork, locks held by other threads are never released."""
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1


# -- starting one ------------------------------------------------------------------------------------------------------


def _start() -> _Started:
    if may_fork():
        with suppress(OSError):  # forking can need more memory up front than a new process
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
    """Enlarge a pipe so that it holds about a second of work, as far as the system allows.

    While this process writes a batch, its helper threads wait for the interpreter. Meanwhile the helper needs input,
    and room for its output.
    """
    if sys.platform == "linux":
        fcntl = import_module("fcntl")  # missing on Windows
        with suppress(OSError):  # this user's pipes are at their limit
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


class _Fork:
    """A forked child, reaped once."""

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
                except ChildProcessError:  # SIGCHLD is ignored
                    self._exit_code = 0
                else:
                    self._exit_code = os.waitstatus_to_exitcode(status) if pid else None
            return self._exit_code


# A process, the pipe to send it jobs, and the pipe for its results.
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
    """Run `work` in a fork and exit, so that none of the parent's code runs on.

    Args:
        keep: the descriptors it needs. All others are closed: above all that of the write lock, which must be released
            when the parent exits.
    """
    status = 1
    try:
        for number in map(int, os.listdir("/proc/self/fd")):
            if number >= _STREAMS and number not in keep:
                with suppress(OSError):  # that of the listing itself
                    os.close(number)
        be_helper()
        work()
        status = 0
    finally:
        os._exit(status)  # nothing of the parent may run here, not even error handlers


# -- inside the helper -------------------------------------------------------------------------------------------------


def be_helper() -> None:
    """Prepare this process for work on untrusted content."""
    gc.set_threshold(*RARELY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the parent
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - is not there on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(_STREAMS):  # grammars print before they crash
        os.dup2(nowhere, stream)
    os.close(nowhere)


def run_limited(job: str, size: int, *arguments: Any) -> bytes:  # noqa: ANN401 - of any job
    """Run a job under its limits and return its outcome as bytes; the system kills a process that exceeds them."""
    function = _function(job)
    seconds, memory_mb = limits_for(size)
    if (
        size > _LARGE_BYTES or next(_job_numbers) % _JOBS_PER_LIMIT == 0
    ):  # setting the limit takes as long as parsing a small file
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
    """Limit this process to so many more seconds of processor time; 0 for no limit."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(memory_mb: int) -> None:
    """Limit this process to so much more memory than it now holds; allocations beyond that fail."""
    if sys.platform != "linux":
        return
    import resource  # noqa: PLC0415 - is not there on Windows

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    wanted = min(_private_bytes(), _first_private_bytes() + _MOST_KEPT_MB * _MB) + memory_mb * _MB
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def _private_bytes() -> int:
    """Return this process's private memory in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGESIZE")


@cache
def _first_private_bytes() -> int:
    return _private_bytes()


def serve(tasks: IO[bytes], results: IO[bytes]) -> None:
    """Do incoming jobs until the other side closes the stream."""
    while True:
        try:
            job, size, arguments = pickle.load(tasks)
        except EOFError:
            return
        results.write(run_limited(job, size, *arguments))
        results.flush()


# -- reading its answers -----------------------------------------------------------------------------------------------


def read_result(stream: IO[bytes]) -> Result:
    """Read the outcome of a job.

    Raises:
        EOFError, pickle.UnpicklingError: if the process ended or its reply is garbled.
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
    """Unpickles only plain values and our own records: a compromised helper must not control this process."""

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
