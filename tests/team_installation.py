"""A team's server as processes: commands of an operator, workers, nodes, and HAProxy in front of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

_SECONDS = 60.0
CONFIGURATION = Path(__file__).resolve().parents[1] / "deploy" / "helm" / "haproxy.cfg"


def find_haproxy() -> str | None:
    """Return the program, None if it is not installed."""
    return shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def make_repository(folder: Path, files: dict[str, str]) -> None:
    """Make a repository of one commit."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    commit_all(folder)


def commit_all(folder: Path) -> None:
    """Make a repository of one commit out of what is in a folder."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false")
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A", "-f"), ("commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)


class Installation:
    """Commands with one database and one store of objects.

    Args:
        address: of the database.
        folder: for all that is written.
        objects: where objects are, by default a folder.
        variables: of the environment, beside those that are needed.
    """

    def __init__(
        self, address: str, folder: Path, objects: str | None = None, variables: dict[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CAIRN_TEAM_DATABASE": address,
            "CAIRN_TEAM_OBJECTS": objects or f"file://{folder}/bucket",
            **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE")},
            **(variables or {}),
        }

    def command(self, *arguments: str) -> list[str]:
        """Return the words of a command of `cairn team`."""
        return [sys.executable, "-m", "cairn", "team", *arguments]

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a command that must end with some code, and return what it prints."""
        command = self.command(*arguments)
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=600, check=False)
        assert result.returncode == code, result.stderr
        return result.stdout + result.stderr

    def add(self, project: str, folder: Path, *people: str) -> None:
        """Add a repository of this machine as a project that some people may read."""
        self.run("add", project, f"file://{folder}")
        for person in people:
            self.run("grant", person, project)

    def token(self, person: str) -> str:
        """Return a new token of a person."""
        made: str = json.loads(self.run("token", person, "--json"))["token"]
        return made

    @contextmanager
    def serving(self, name: str = "node", port: int = 0) -> Iterator[str]:
        """Run a node, and yield its address."""
        node = Node(self, name, port)
        node.start()
        try:
            yield node.address
        finally:
            assert node.stop() in (0, -15), node.log.read_text()


class Node:
    """A process that answers."""

    def __init__(self, installation: Installation, name: str, port: int) -> None:
        self._installation = installation
        self._name = name
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        self.log = installation.folder / f"{name}.log"
        self.address = ""

    def start(self) -> None:
        """Start it, and wait until it listens."""
        folder = self._installation.folder / self._name
        command = self._installation.command("serve", "--folder", str(folder), "--port", str(self._port))
        with self.log.open("wb") as stream:
            self._process = subprocess.Popen(command, env=self._installation.environment, stderr=stream)
        deadline = time.monotonic() + _SECONDS
        while (found := re.search(r"listening at ([^\s\"]+)", self.log.read_text())) is None:
            assert self._process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = found[1]

    def stop(self) -> int:
        """End it in order, and return its exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(_SECONDS)

    def kill(self) -> None:
        """End it as a crash does."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(_SECONDS)


class Cluster:
    """Nodes behind HAProxy with the configuration that ships, at ports of this machine.

    Attributes:
        address: of the proxy.
        log: what the proxy says.
    """

    def __init__(self, installation: Installation, n_nodes: int) -> None:
        front, *ports = free_ports(n_nodes + 1)
        self.address = f"http://127.0.0.1:{front}"
        self.nodes = [Node(installation, f"node{number}", port) for number, port in enumerate(ports, 1)]
        self._configuration = installation.folder / "haproxy.cfg"
        self._configuration.write_text(_configuration(front, ports))
        self.log = installation.folder / "haproxy.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start all, and wait until an answer comes through."""
        for node in self.nodes:
            node.start()
        program = find_haproxy()
        assert program is not None
        with self.log.open("wb") as stream:
            command = [program, "-db", "-f", str(self._configuration)]
            self._process = subprocess.Popen(command, stdout=stream, stderr=stream)
        deadline = time.monotonic() + _SECONDS
        while True:
            assert self._process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline
            try:
                if httpx.get(f"{self.address}/api/projects").status_code == httpx.codes.UNAUTHORIZED:
                    return
            except httpx.TransportError:
                time.sleep(0.05)

    def stop(self) -> None:
        """End all."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_SECONDS)
        for node in self.nodes:
            node.kill()


@contextmanager
def cluster(installation: Installation, n_nodes: int) -> Iterator[Cluster]:
    """Run nodes and a proxy for as long as the block lasts."""
    made = Cluster(installation, n_nodes)
    made.start()
    try:
        yield made
    finally:
        made.stop()


def free_ports(count: int) -> list[int]:
    """Return ports that nobody uses at the moment."""
    with ExitStack() as stack:
        return [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(count)]


def _configuration(front: int, ports: list[int]) -> str:
    """Return the configuration that ships, without TLS and with other addresses."""
    text = re.sub(r"(?m)^    bind .*$", f"    bind 127.0.0.1:{front}", CONFIGURATION.read_text())
    text = re.sub(r"(?m)^    server .*\n?", "", text)
    return text + "".join(f"    server node{number} 127.0.0.1:{port}\n" for number, port in enumerate(ports, 1))
