"""How this user's daemon is found: the files in which it says where it is, and the check that they still hold.

Commands and hooks read this before anything else, so it imports little.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cairn.errors import StoreError, UnsafeStateError
from cairn.folders import check_private, state_folder, unwritable
from cairn.storage.atomic import write_file
from cairn.storage.lock import holder
from cairn.storage.own_files import read_own

_PROGRAM = Path(__file__).parent
_MAX_BYTES = 100_000  # of a file in the state folder
_WRITTEN_AGAIN = "a running daemon writes it again within 5 seconds; then repeat the command"
_PREFIXES = ("CAIRN_", "GIT_CONFIG")
# Variables that do not change an answer.
_WITHOUT_EFFECT = ("CAIRN_DAEMON", "CAIRN_ACTOR", "CAIRN_FRESH")


class Runtime(NamedTuple):
    """A running daemon, as it describes itself.

    `started` tells its process from a later one with the same id. `environment` is the `environment_mark` that it was
    started with: under other variables, a command may mean something else. `answers_commands` is the setting `daemon`.
    `program` is the `program_mark` of what it runs.
    """

    pid: int
    started: str
    host: str
    port: int
    version: str
    protocol: int
    environment: str
    answers_commands: bool = True
    program: str = ""


class StateFolder:
    """The files of this user's daemon, below the XDG state folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of_user(cls, environment: Mapping[str, str] = os.environ) -> StateFolder:
        """Return the folder that the environment names, below XDG_STATE_HOME by default."""
        return cls(state_folder(environment))

    @property
    def lock(self) -> Path:
        """The file that a daemon locks while it runs."""
        return self.path / "daemon.lock"

    @property
    def start_lock(self) -> Path:
        """The file that is locked while a daemon is started or replaced."""
        return self.path / "daemon-start.lock"

    @property
    def runtime(self) -> Path:
        """The file that says where the daemon listens."""
        return self.path / "daemon.json"

    @property
    def token(self) -> Path:
        """The file with the secret that every request carries, readable by its owner alone."""
        return self.path / "daemon.token"

    @property
    def log(self) -> Path:
        """The daemon's log."""
        return self.path / "daemon.log"

    @property
    def projects(self) -> Path:
        """The list of projects that the daemon may serve."""
        return self.path / "projects.json"

    @property
    def servers(self) -> Path:
        """The team's servers that the user is signed in to, with their tokens, readable by their owner alone."""
        return self.path / "servers.json"

    def end_of_log(self, limit: int = 0) -> list[str]:
        """Return the last lines of the daemon's log, all of them for 0; none if there is no log.

        Raises:
            StoreError: if it cannot be read.
        """
        try:
            with self.log.open(encoding="utf-8", errors="replace") as stream:
                return [line.rstrip("\n") for line in deque(stream, limit or None)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreError(f"cannot read {self.log}: {error.strerror}", "make it readable") from error

    def create(self) -> None:
        """Create the folder, for its owner only.

        Raises:
            UnsafeStateError: if it exists and belongs to another user, or others can write to it.
            StoreError: if it cannot be created.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_private(self.path)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def find(self) -> Runtime | None:
        """Return the running daemon, None if there is none.

        The file counts only while the process it names holds the lock, which the system releases when that process
        dies. So the token is never sent to a program that has taken a dead daemon's port.

        Raises:
            UnsafeStateError: if the folder belongs to another user, or others can write to it.
        """
        try:
            check_private(self.path)
        except OSError:
            return None
        try:
            said = json.loads(read_own(self.runtime, _MAX_BYTES))
            # A later version may say more.
            runtime = Runtime(**{name: value for name, value in said.items() if name in Runtime._fields})
        except (OSError, ValueError, TypeError, AttributeError, UnsafeStateError):  # missing, or of another version
            return None
        return runtime if holder(self.lock) == runtime.pid else None

    def read_token(self) -> str:
        """Return the secret.

        Raises:
            StoreError: if it cannot be read.
        """
        try:
            return read_own(self.token, _MAX_BYTES).decode("ascii").strip()
        except OSError as error:
            raise StoreError(f"cannot read {self.token}: {error.strerror}", _WRITTEN_AGAIN) from error
        except UnicodeDecodeError as error:
            raise StoreError(f"{self.token} does not hold a token", _WRITTEN_AGAIN) from error

    def write(self, runtime: Runtime, token: str) -> None:
        """Write where the daemon is found; readers see all of it or nothing."""
        write_file(self.token, token.encode("ascii"), mode=0o600)
        write_file(self.runtime, json.dumps(runtime._asdict()).encode("ascii"), mode=0o600)

    def forget(self) -> None:
        """Delete what `write` wrote."""
        self.runtime.unlink(missing_ok=True)
        self.token.unlink(missing_ok=True)


def environment_mark(environment: Mapping[str, str] = os.environ) -> str:
    """Return a short string that is equal for equal settings in the environment."""
    settings = sorted(
        (name, value)
        for name, value in environment.items()
        if (name.startswith(_PREFIXES) and not name.startswith(_WITHOUT_EFFECT)) or name == "XDG_CONFIG_HOME"
    )
    return f"{zlib.crc32(repr(settings).encode('utf-8', 'surrogateescape')):08x}"


def program_mark(folder: Path = _PROGRAM) -> str:
    """Return where this program is installed and which files are there, each as a short string, with a dash between.

    An update changes the files, also where it brings no new version, as an update of a checkout.
    """
    files = []
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            with suppress(OSError):  # it goes at this moment
                facts = os.stat(os.path.join(path, name))
                files.append((name, facts.st_size, facts.st_mtime_ns))
    return f"{zlib.crc32(os.fsencode(folder)):08x}-{zlib.crc32(repr(files).encode('utf-8', 'surrogateescape')):08x}"


def is_replaced(mark: str, now: str) -> bool:
    """Tell from two marks whether a program was updated where it is. Another installation is no update."""
    where, dash, what = mark.partition("-")
    return bool(dash) and now.startswith(f"{where}-") and not now.endswith(f"-{what}")


def process_started(pid: int) -> str:
    """Return when a process started, in the system's own format; empty if there is no such process or it is unknown."""
    if sys.platform == "linux":
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return ""
        return fields[19].decode()  # ticks since boot; proc_pid_stat(5)
    if sys.platform == "win32":
        return ""
    import subprocess  # noqa: PLC0415 - start-up time: seldom called, and not needed on Linux

    process = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return process.stdout.strip()
