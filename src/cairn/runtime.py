"""Where the daemon of this user is found: the files by which it says so, and how to tell that they still hold.

Commands and hooks read this before anything else, so it imports little.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cairn.errors import StoreError, UnsafeStateError
from cairn.folders import check_private, state_folder
from cairn.hints import Hint
from cairn.storage.lock import holder
from cairn.storage.own_files import create_new, read_own

FIRST_PORT, LAST_PORT = 37_800, 37_899
_MAX_BYTES = 100_000  # of a file here
_PREFIXES = ("CAIRN_", "GIT_CONFIG")
# What does not change an answer.
_WITHOUT_EFFECT = ("CAIRN_DAEMON",)


class Runtime(NamedTuple):
    """A daemon that runs, as it wrote it down.

    `started` tells its process from a later one with the same number. `environment` is `environment_mark` of the
    variables it was started with: under others, a command may mean something else. `answers_commands` is the setting
    `daemon`.
    """

    pid: int
    started: str
    host: str
    port: int
    version: str
    protocol: int
    environment: str
    answers_commands: bool = True


class StateFolder:
    """The files of this user's daemon, below the XDG state folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of_user(cls, environment: Mapping[str, str] = os.environ) -> StateFolder:
        """Return the folder where it is by the conventions of the system."""
        return cls(state_folder(environment))

    @property
    def lock(self) -> Path:
        """The file that a daemon locks as long as it lives."""
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
        """The file with the secret that every request carries; only its owner can read it."""
        return self.path / "daemon.token"

    @property
    def log(self) -> Path:
        """What the daemon writes while it runs."""
        return self.path / "daemon.log"

    @property
    def projects(self) -> Path:
        """The projects that the user allows the daemon to serve."""
        return self.path / "projects.json"

    def create(self) -> None:
        """Make the folder, for its owner only.

        Raises:
            UnsafeStateError: if there is one that belongs to another user, or that others can write.
            StoreError: if it cannot be made.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_private(self.path)
        except OSError as error:
            raise StoreError(
                f"cannot write {self.path}: {error.strerror}", "make it writable, or set XDG_STATE_HOME"
            ) from error

    def find(self) -> Runtime | None:
        """Return the daemon that runs, None when there is none.

        What the file says counts only while the process it names holds the lock, which the system takes from a process
        that dies. So nobody is sent the token because he sits at a dead daemon's port.

        Raises:
            UnsafeStateError: if the folder belongs to another user, or others can write it.
        """
        try:
            check_private(self.path)
        except OSError:
            return None
        try:
            runtime = Runtime(**json.loads(read_own(self.runtime, _MAX_BYTES)))
        except (OSError, ValueError, TypeError, UnsafeStateError):  # none, or of a version that wrote other things
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
            raise StoreError(f"cannot read {self.token}: {error.strerror}", Hint.of("daemon stop")) from error
        except UnicodeDecodeError as error:
            raise StoreError(f"{self.token} holds no token", Hint.of("daemon stop")) from error

    def write(self, runtime: Runtime, token: str) -> None:
        """Write down where a daemon is found; readers see all of it or nothing."""
        self._write(self.token, token)
        self._write(self.runtime, json.dumps(runtime._asdict()))

    def _write(self, file: Path, text: str) -> None:
        new = file.with_name(f"{file.name}.{os.getpid()}")
        with os.fdopen(create_new(new, 0o600), "w", encoding="ascii") as stream:
            stream.write(text)
        new.replace(file)

    def forget(self) -> None:
        """Take back what `write` wrote."""
        self.runtime.unlink(missing_ok=True)
        self.token.unlink(missing_ok=True)


def environment_mark(environment: Mapping[str, str] = os.environ) -> str:
    """Return a short text that is equal for equal settings in the environment."""
    kept = sorted(
        (name, value)
        for name, value in environment.items()
        if (name.startswith(_PREFIXES) and not name.startswith(_WITHOUT_EFFECT)) or name == "XDG_CONFIG_HOME"
    )
    return f"{zlib.crc32(repr(kept).encode('utf-8', 'surrogateescape')):08x}"


def process_started(pid: int) -> str:
    """Return when a process started, in the system's own words; empty when there is none, or it is not known."""
    if sys.platform == "linux":
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return ""
        return fields[19].decode()  # ticks since the machine started; proc_pid_stat(5)
    if sys.platform == "win32":
        return ""
    import subprocess  # noqa: PLC0415 - start-up time: few ask, and Linux needs none

    done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()
