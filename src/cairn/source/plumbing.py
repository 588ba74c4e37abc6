"""Runs git: finds the program, and limits what it may do, how long it may take, and how much it may print.

A repository brings its own configuration, and git runs programs that it names: filters, hooks, file system monitors,
converters, transport helpers. So git is never asked for anything that could need one. Only `COMMANDS` are ever run. All
of them only read, and none converts or compares a file's content, writes an index, moves a reference or opens a pager.
Whatever they could still start is turned off on the command line, which no configuration file can override.
"""

from __future__ import annotations

import mmap
import os
import re
import select
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from cairn.errors import PathError
from cairn.hints import Hint

# No `diff`, `status` or anything else that compares files with the index, because git then runs filters. `diff-tree`
# compares commits.
COMMANDS = frozenset((
    "cat-file", "check-ignore", "config", "diff-tree", "for-each-ref", "ls-files", "ls-tree", "rev-list", "rev-parse",
    "symbolic-ref", "version",
))  # fmt: skip
# The history of some lines: `log` in exactly this form, which prints no diff, signature, note or other name. Everything
# that a repository's settings could change is given: renames, the order of files, the encoding of the output.
LINE_LOG = (
    *("log", "-s", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--no-mailmap"),
    *("--no-decorate", "--no-color", "-M", "-O/dev/null", "--encoding=UTF-8", "--format=%H %ct"),
)
# The last commit of each line of a committed file: `blame` in exactly this form, which needs no index or checkout.
BLAME = ("blame", "--incremental", "--no-textconv", "--no-ext-diff", "--ignore-revs-file", "")
# These read attributes from the index though nobody asks for them; git before 2.40 then writes the missing parts of a
# sparse one.
_WITHOUT_INDEX = ("diff-tree", "log", "blame")
_NO_INDEX = os.path.join(os.path.abspath(os.sep), "no index of git")
_CONVERTING = frozenset(
    ("--filters", "--textconv", "--modified", "-m", "-p", "--ext-diff", "--eol", "--show-signature")
)
_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",  # an id always means the object that it is the hash of
    *("-c", "core.fsmonitor="),  # empty instead of `false`, which git before 2.36 takes for a program
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.attributesFile=/dev/null"),
    *("-c", "protocol.allow=never"),
    *("-c", "safe.bareRepository=explicit"),  # ignored by git before 2.38, so `find_repository` checks too
)
OLDEST_GIT = (2, 30)  # older versions give incomplete answers
TIMEOUT_S = 20.0
MAX_BYTES = 128_000_000
_MAX_COMPLAINT_BYTES = 100_000
_PIECE_BYTES = 65_536
# When to ask a caller's `look` whether waiting makes sense.
_PATIENCE_S = (1.0, 10.0)
# git only ever waits for the disk. If it has not woken up for this long, it is waiting for a pipe without a writer.
_ASLEEP_S = 5.0
_MAX_MEMORY_BYTES = 2_000_000_000
# Set by git around hooks and aliases; they point to another repository or change the meaning of arguments and output.
_FOREIGN_VARIABLE = (
    r"GIT_(?:ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|CONFIG|DIR|EXTERNAL_DIFF|GRAFT_FILE|IMPLICIT_WORK_TREE|INDEX_FILE"
    r"|INTERNAL_SUPER_PREFIX|NAMESPACE|OBJECT_DIRECTORY|PREFIX|QUARANTINE_PATH|REPLACE_REF_BASE|SHALLOW_FILE|WORK_TREE"
    r"|(?:GLOB|ICASE|LITERAL|NOGLOB)_PATHSPECS|TRACE.*)"
)


class GitStalledError(PathError):
    """git takes too long, prints too much, or waits forever.

    Args:
        message, hint: as for any error.
        path: the file to blame, relative to where git ran; empty if unknown.
        reason: what is wrong with the file.
    """

    def __init__(self, message: str, hint: str, path: str = "", reason: str = "") -> None:
        super().__init__(message, hint)
        self.path = path
        self.reason = reason


class ForbiddenCommandError(RuntimeError):
    """Cairn asked git for something forbidden; no input can cause this."""


def run_git(
    folder: Path,
    arguments: list[str],
    timeout_s: float = TIMEOUT_S,
    *,
    ceiling: Path | None = None,
    given: bytes = b"",
    max_bytes: int = MAX_BYTES,
    meanwhile: Callable[[], None] | None = None,
    look: Callable[[float], None] | None = None,
    is_unwanted: Callable[[], bool] = lambda: False,
) -> subprocess.CompletedProcess[bytes]:
    """Run one of git's `COMMANDS`, `LINE_LOG` or `BLAME` in a folder, without the variables of a surrounding git.

    Args:
        folder: where to run it.
        arguments: for git.
        timeout_s: how long to wait for it.
        ceiling: git only looks for a repository in folders below this one.
        given: git's standard input.
        max_bytes: how much it may print.
        meanwhile: called while git starts working.
        look: called with the elapsed seconds if git takes longer than usual; if it raises, git is stopped.
        is_unwanted: called at least once a second; git is stopped if it returns true: nobody is waiting any more.

    Raises:
        FileNotFoundError: if git is not installed.
        PathError: if the folder is gone or cannot be entered; as `GitStalledError` if git is too slow or unwanted, or
            prints too much.
    """
    try:
        process = start_git(folder, arguments, ceiling=ceiling, stderr=subprocess.PIPE, seconds=timeout_s)
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        if isinstance(error, FileNotFoundError) and os.path.isdir(folder):
            raise
        raise PathError(
            f"git cannot run in {folder}: {error.strerror}", "check whether the folder is there, and its permissions"
        ) from error
    with process:
        try:
            if meanwhile is not None:
                meanwhile()
            output, complaints = _Conversation(process, folder, given, max_bytes).run(timeout_s, look, is_unwanted)
        except BaseException:
            end_git(process)
            raise
    return subprocess.CompletedProcess(arguments, process.returncode, output, complaints)


def is_installed() -> bool:
    """Tell whether git is installed; without it, no folder is known to be in a repository."""
    return shutil.which("git") is not None


def start_git(
    folder: Path,
    arguments: list[str],
    *,
    ceiling: Path | None = None,
    stderr: int = subprocess.DEVNULL,
    seconds: float | None = None,
) -> subprocess.Popen[bytes]:
    """Start git with pipes in its own process group, so that it can be stopped along with its children.

    Args:
        folder, arguments, ceiling: as for `run_git`.
        stderr: as for `subprocess.Popen`.
        seconds: processor time after which the system stops it, even if this process is gone.

    Raises:
        FileNotFoundError: if git is not installed.
        OSError: if the folder cannot be entered.
        ForbiddenCommandError: if the arguments ask for more than reading.
    """
    _check_allowed(arguments)
    if arguments[0] == "ls-files" and _is_sparse(folder):
        # Otherwise git writes trees of the omitted folders to its object store.
        arguments = ["ls-files", "--sparse", *arguments[1:]]
    environment = environment_for(folder, ceiling)
    if arguments[0] in _WITHOUT_INDEX:
        environment["GIT_INDEX_FILE"] = _NO_INDEX
    program = shutil.which("git", path=environment["PATH"])
    if program is None:
        raise FileNotFoundError("git is not installed")
    process = subprocess.Popen(
        [program, *_OPTIONS, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        process_group=0,  # not a new session, which costs 2 ms because the scheduler groups it separately
    )
    _limit(process.pid, seconds)
    return process


def _check_allowed(arguments: list[str]) -> None:
    """Refuse anything that could write or run a program of the repository. Not an `assert`, which `python -O` drops."""
    is_known = arguments[0] in COMMANDS or any(tuple(arguments[: len(form)]) == form for form in (LINE_LOG, BLAME))
    only_reads = is_known and not _CONVERTING.intersection(arguments)
    if not only_reads or (arguments[0] == "config" and arguments[1:2] != ["--get"]):
        raise ForbiddenCommandError(f"git is never asked for: {' '.join(arguments)[:200]}")


def end_git(process: subprocess.Popen[bytes]) -> None:
    """Stop git and whatever it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def environment_for(folder: Path, ceiling: Path | None = None) -> dict[str, str]:
    """Return the environment for git: it takes no locks, fetches nothing, never prompts, and speaks English."""
    environment = {name: value for name, value in os.environ.items() if not _is_foreign(name)}
    environment |= {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",  # since 2.45, and in patch releases of older versions
        "GIT_ALLOW_PROTOCOL": "none",  # makes a fetch by older versions fail before it starts anything
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        "PATH": os.pathsep.join(_search_path(environment.get("PATH", os.defpath), _project_around(folder))),
    }
    if ceiling is not None:
        ceilings = [os.environ.get("GIT_CEILING_DIRECTORIES", ""), os.path.abspath(ceiling)]
        environment["GIT_CEILING_DIRECTORIES"] = os.pathsep.join(filter(None, ceilings))
    return environment


def read_small(path: str | Path, max_bytes: int = 10_000) -> bytes:
    """Return the content of a short file without ever blocking.

    Every answer reads some of these files, and reading them as text takes twice as long.

    Raises:
        OSError: if it is missing, not a regular file, or too long.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        content = os.read(descriptor, max_bytes + 1)  # raises OSError for a folder
        if len(content) > max_bytes or not os.path.isfile(descriptor):
            raise OSError(f"{path} is not a regular file of at most {max_bytes:,} bytes")
        return content
    finally:
        os.close(descriptor)


def _is_foreign(name: str) -> bool:
    return name.startswith("GIT_") and re.fullmatch(_FOREIGN_VARIABLE, name) is not None


@lru_cache(maxsize=64)
def _search_path(path: str, project: str) -> list[str]:
    """Return the folders in which to look for programs: none inside the project, and no relative ones."""
    inside = os.path.join(project, "")
    return [
        folder
        for folder in path.split(os.pathsep)
        if os.path.isabs(folder) and not os.path.join(os.path.realpath(folder), "").startswith(inside)
    ]


def _is_sparse(folder: Path) -> bool:
    """Tell whether a checkout's index may have entries for whole folders; see `sdir` in gitformat-index(5)."""
    at = os.path.realpath(folder)
    while not os.path.lexists(git_dir := os.path.join(at, ".git")):
        if (above := os.path.dirname(at)) == at:
            return False
        at = above
    try:
        if os.path.isfile(git_dir):
            link = os.fsdecode(read_small(git_dir)).strip().removeprefix("gitdir: ")
            git_dir = os.path.join(at, link)
        with (
            open(os.open(os.path.join(git_dir, "index"), os.O_RDONLY | os.O_NONBLOCK), "rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as index,
        ):
            return index.rfind(b"sdir\0\0\0\0") >= 0
    except (OSError, ValueError):  # no index yet
        return False


def _project_around(folder: Path) -> str:
    """Return the topmost folder upwards with a `.git`, since a submodule is inside its project; else the folder itself.

    A home folder under version control and its parents do not count, because the user's own programs are there.
    """
    at = os.path.realpath(folder)
    home = os.path.join(os.path.realpath(os.path.expanduser("~")), "")
    project = at
    while not home.startswith(os.path.join(at, "")):
        if os.path.lexists(os.path.join(at, ".git")):
            project = at
        if (above := os.path.dirname(at)) == at:
            return project
        at = above
    return "\0" if project == at else project


def _limit(pid: int, seconds: float | None) -> None:
    """Limit the memory and processor time of another process, if the system allows it."""
    import resource  # noqa: PLC0415 - start-up time: not every command runs git

    if not hasattr(resource, "prlimit"):
        return
    limits = [(resource.RLIMIT_DATA, _MAX_MEMORY_BYTES), (resource.RLIMIT_CORE, 0)]
    if seconds is not None:
        limits.append((resource.RLIMIT_CPU, int(seconds) + 1))
    for kind, limit in limits:
        with suppress(OSError, ValueError):  # it has exited already, or has a lower limit
            resource.prlimit(pid, kind, (limit, limit))


class _Conversation:
    """Writes git's input and reads its output until it exits.

    Args:
        process: git.
        folder: where it runs.
        given: its standard input.
        max_bytes: how much it may print.
    """

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, given: bytes, max_bytes: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._folder = folder
        self._pid = process.pid
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._rest = memoryview(given)
        self._max_bytes = max_bytes
        self._output: list[bytes] = []
        self._complaints: list[bytes] = []
        self._output_bytes = self._complaint_bytes = 0
        self._state: tuple[bytes, int] = (b"", 0)  # git's wake-ups, and the bytes it had printed by then
        self._same_since = 0.0
        self._selector = selectors.DefaultSelector()

    def run(
        self, timeout_s: float, look: Callable[[float], None] | None, is_unwanted: Callable[[], bool]
    ) -> tuple[bytes, bytes]:
        """Return git's standard output and standard error.

        Raises:
            GitStalledError: if it is too slow, unwanted, or prints too much; also whatever `look` raises.
        """
        start = time.monotonic()
        deadline = start + timeout_s
        looks = list(_PATIENCE_S) if look is not None else []
        with self._selector:
            self._open()
            while self._selector.get_map():
                now = time.monotonic()
                if look is not None and looks and now >= start + looks[0]:
                    look(looks.pop(0))
                    continue
                if now >= start + _PATIENCE_S[0]:
                    self._refuse_sleeping(now)
                if is_unwanted():
                    raise GitStalledError(f"nobody waits for git in {self._folder} any more", "see: git status")
                if now >= deadline:
                    raise GitStalledError(
                        f"git needed more than {timeout_s:.0f} s in {self._folder}", "see: git status"
                    )
                until = min([deadline, now + _PATIENCE_S[0], *(start + seconds for seconds in looks)])
                for key, _ in self._selector.select(until - now):
                    self._pass(key)
        return b"".join(self._output), b"".join(self._complaints)

    def _refuse_sleeping(self, now: float) -> None:
        """Raise an error if git has not woken up for a while, as far as the system reports that."""
        try:
            status = read_small(f"/proc/{self._pid}/status")
        except OSError:
            return
        asleep = re.search(rb"(?m)^State:\s*S", status) is not None
        woken = re.search(rb"(?m)^voluntary_ctxt_switches:.*", status)
        state = (woken[0] if woken and asleep else b"", self._output_bytes)
        if not state[0] or state != self._state:
            self._state, self._same_since = state, now
        elif now >= self._same_since + _ASLEEP_S:
            raise GitStalledError(
                f"git waits forever in {self._folder}, probably for a pipe in the place of a file",
                "find it: find . -type p",
            )

    def _open(self) -> None:
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        if self._rest:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        else:
            self._stdin.close()

    def _pass(self, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._stdin:
            self._give()
            return
        piece = os.read(key.fd, _PIECE_BYTES)
        if not piece:
            self._selector.unregister(key.fileobj)
        elif key.fileobj is self._stderr:
            self._complaint_bytes += len(piece)
            if self._complaint_bytes <= _MAX_COMPLAINT_BYTES:
                self._complaints.append(piece)
        else:
            self._output_bytes += len(piece)
            if self._output_bytes > self._max_bytes:
                message = f"git lists more than {self._max_bytes:,} bytes in {self._folder}"
                raise GitStalledError(message, Hint("name a smaller folder", "index", path=None))
            self._output.append(piece)

    def _give(self) -> None:
        try:
            self._rest = self._rest[os.write(self._stdin.fileno(), self._rest[: select.PIPE_BUF]) :]
        except BrokenPipeError:  # git has stopped reading
            self._rest = self._rest[:0]
        if not self._rest:
            self._selector.unregister(self._stdin)
            with suppress(BrokenPipeError):
                self._stdin.close()
