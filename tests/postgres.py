"""A PostgreSQL of the system, started for the tests of a team's server and thrown away after them."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PLACES = ("/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql*/bin")
_SECONDS = 30.0


def find_programs() -> Path | None:
    """Return the folder of `initdb` and `postgres`, None if there is none."""
    found = shutil.which("initdb")
    if found is not None and (Path(found).resolve().parent / "postgres").exists():
        return Path(found).resolve().parent
    for place in _PLACES:
        folders = sorted(Path("/").glob(place.lstrip("/")))
        if folders and (folders[-1] / "initdb").exists():
            return folders[-1]
    return None


class Postgres:
    """A server with a database; it does not survive a crash of the machine.

    Attributes:
        address: as libpq takes it, of its owner.
    """

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        # It refuses to run as root.
        self._user = "postgres" if os.getuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self.owner = self._user or getpass.getuser()
        self.address = f"postgresql:///postgres?host={folder}&user={self.owner}"
        if self._user is not None:
            shutil.chown(folder, self._user)
        data = folder / "data"
        arguments = [
            str(programs / "initdb"),
            "-D",
            str(data),
            "-A",
            "trust",
            "-U",
            self.owner,
            "-E",
            "UTF8",
            "--no-sync",
        ]
        subprocess.run(arguments, user=self._user, check=True, capture_output=True, cwd=folder)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = ("listen_addresses=", f"unix_socket_directories={self._folder}", "fsync=off", "max_connections=60")
        command = [str(self._programs / "postgres"), "-D", str(self._folder / "data")]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *(word for option in options for word in ("-c", option))],
                user=self._user,
                stdout=log,
                stderr=log,
                cwd=self._folder,
            )
        deadline = time.monotonic() + _SECONDS
        ready = [str(self._programs / "pg_isready"), "-q", "-h", str(self._folder)]
        while subprocess.run(ready, check=False).returncode:
            assert self._process.poll() is None, (self._folder / "log").read_text()
            assert time.monotonic() < deadline, "PostgreSQL does not start"
            time.sleep(0.05)

    def stop(self, number: int = signal.SIGQUIT) -> None:
        """End the server at once, as a crash would."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(_SECONDS)
            self._process = None


@contextmanager
def postgres(programs: Path) -> Iterator[Postgres]:
    """Run a server for as long as the block lasts."""
    folder = Path(tempfile.mkdtemp(prefix="cairn-postgres-"))  # whose name is short enough for a socket
    server = Postgres(programs, folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
