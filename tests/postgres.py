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

    Args:
        programs: the folder of its programs.
        folder: an empty one, whose name is short enough for a socket.
        primary: which it follows, as a standby; None if it follows none.

    Attributes:
        address: as libpq takes it, of its owner.
    """

    def __init__(self, programs: Path, folder: Path, primary: Postgres | None = None) -> None:
        self.programs = programs
        self.folder = folder
        # It refuses to run as root.
        self._user = "postgres" if os.getuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self.owner = self._user or getpass.getuser()
        self.address = f"postgresql:///postgres?host={folder}&user={self.owner}"
        if self._user is not None:
            shutil.chown(folder, self._user)
        if primary is None:
            self._run("initdb", "-A", "trust", "-U", self.owner, "-E", "UTF8", "--no-sync")
        else:
            self._run("pg_basebackup", "-h", str(primary.folder), "-U", self.owner, "-R", "-c", "fast", "--no-sync")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), "-D", str(self.folder / "data"), *arguments]
        subprocess.run(command, user=self._user, check=True, capture_output=True, cwd=self.folder)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = ("listen_addresses=", f"unix_socket_directories={self.folder}", "fsync=off", "max_connections=60")
        command = [str(self.programs / "postgres"), "-D", str(self.folder / "data")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *(word for option in options for word in ("-c", option))],
                user=self._user,
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        deadline = time.monotonic() + _SECONDS
        ready = [str(self.programs / "pg_isready"), "-q", "-h", str(self.folder)]
        while subprocess.run(ready, check=False).returncode:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "PostgreSQL does not start"
            time.sleep(0.05)

    def wait_for(self, standby: Postgres) -> None:
        """Acknowledge nothing from now on that a standby has not got."""
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.write("\nsynchronous_standby_names = '*'\n")
        self._run("pg_ctl", "reload")
        deadline = time.monotonic() + _SECONDS
        while self.say("SELECT sync_state FROM pg_stat_replication") != "sync":
            assert standby.is_running, (standby.folder / "log").read_text()
            assert time.monotonic() < deadline, "no standby follows"
            time.sleep(0.05)

    def wait_until_commits_wait(self) -> None:
        """Wait until somebody's commit waits for a standby."""
        deadline = time.monotonic() + _SECONDS
        while self.say("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "0":
            assert time.monotonic() < deadline, "nothing waits"
            time.sleep(0.01)

    def promote(self) -> None:
        """Make a standby the primary, and wait until it is."""
        self._run("pg_ctl", "promote", "-w")

    def say(self, statement: str) -> str:
        """Return what it answers to a statement."""
        command = [str(self.programs / "psql"), "-XAtq", "-h", str(self.folder), "-U", self.owner, "-d", "postgres"]
        result = subprocess.run([*command, "-c", statement], check=True, capture_output=True, text=True)
        return result.stdout.strip()

    @property
    def is_running(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.poll() is None

    def stop(self, number: int = signal.SIGQUIT) -> None:
        """End the server at once, as a crash would."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(_SECONDS)
            self._process = None


@contextmanager
def postgres(programs: Path) -> Iterator[Postgres]:
    """Run a server for as long as the block lasts."""
    with _running(programs) as server:
        yield server


@contextmanager
def postgres_with_standby(programs: Path, *, is_synchronous: bool = True) -> Iterator[tuple[Postgres, Postgres]]:
    """Run a primary, and a standby without whose word it acknowledges nothing, or which it does not wait for."""
    with _running(programs) as primary, _running(programs, primary) as standby:
        if is_synchronous:
            primary.wait_for(standby)
        yield primary, standby


def address_of_both(first: Postgres, second: Postgres, database: str) -> str:
    """Return an address at which libpq finds whichever is the primary."""
    return f"postgresql:///{database}?host={first.folder},{second.folder}&user={first.owner}"


@contextmanager
def _running(programs: Path, primary: Postgres | None = None) -> Iterator[Postgres]:
    folder = Path(tempfile.mkdtemp(prefix="cairn-postgres-"))
    server = Postgres(programs, folder, primary)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
