"""The systems the benchmark can run, each in a process of its own behind one small interface."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from metrics import Hit

HERE = Path(__file__).resolve().parent
NAMES = ("cairn", "semble")


@dataclass(frozen=True, slots=True)
class Indexed:
    """What indexing one folder took. `save_seconds` is 0 where saving is part of `seconds`."""

    seconds: float
    save_seconds: float
    files: int
    chunks: int


class System(Protocol):
    """A search system under test."""

    name: str

    def index(self, path: Path) -> Indexed:
        """Index a folder and search that from now on."""

    def search(self, query: str, limit: int) -> list[Hit]:
        """Return hits, best first, their paths relative to the folder indexed last."""


class Worker:
    """A `System` in a child process that speaks the protocol of `worker.py`.

    Args:
        name: the system.
        command: starts the child.
        environment: all of the child's environment.
        state: the folder below which the system keeps its indexes.
    """

    def __init__(self, name: str, command: list[str], environment: dict[str, str], state: Path) -> None:
        self.name = name
        self.version = ""
        self.search_seconds = 0.0  # of the last search, without the pipe
        self._state = state
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Self:
        self.version = self._ask("load")["version"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()  # closes stdin, at which the child ends

    def index(self, path: Path) -> Indexed:
        """Index a folder and search that from now on."""
        state = self._state / self.name / key_of(path)
        state.mkdir(parents=True, exist_ok=True)
        return Indexed(**self._ask("index", path=str(path.resolve()), state=str(state)))

    def search(self, query: str, limit: int) -> list[Hit]:
        """Return hits, best first, their paths relative to the folder indexed last."""
        answer = self._ask("search", query=query, limit=limit)
        self.search_seconds = answer["seconds"]
        return [Hit(*hit) for hit in answer["hits"]]

    def peak_bytes(self) -> int:
        """Return the most memory the child has had resident so far."""
        peak: int = self._ask("peak")["bytes"]
        return peak

    def _ask(self, do: str, **arguments: str | int) -> dict[str, Any]:
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the worker was started without pipes")
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {self.name} worker ended (exit code {self._process.wait()})")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"the {self.name} worker failed at {do!r}:\n{answer['error']}")
        return answer


def key_of(path: Path) -> str:
    """Return what the state of a folder is called."""
    return f"{path.name}-{blake2b(os.fsencode(path.resolve()), digest_size=6).hexdigest()}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the benchmark and the systems are."""
    parser.add_argument("--bench", type=Path, required=True, metavar="FOLDER", help="holds repos.json and annotations/")
    parser.add_argument("--repos", type=Path, required=True, metavar="FOLDER", help="what checkout.py laid out")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these repositories")
    parser.add_argument("--semble-python", metavar="PATH", help="a Python interpreter that has semble installed")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="semble's model (default: the one it downloads)")


def start(name: str, arguments: argparse.Namespace, state: Path) -> Worker:
    """Return a worker for the system `name`; enter it to load it.

    Raises:
        SystemExit: if `arguments` do not say where the system is.
    """
    python = sys.executable
    if name == "semble":
        if not arguments.semble_python:
            raise SystemExit("semble runs in its own environment: name its interpreter with --semble-python")
        python = arguments.semble_python
    return Worker(name, [python, str(HERE / f"{name}_worker.py")], environment(arguments, state), state)


def environment(arguments: argparse.Namespace, state: Path) -> dict[str, str]:
    """Return the environment for a system: no user settings, and nothing written outside `state`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CAIRN_", "XDG_", "SEMBLE_"))}
    folders = {f"XDG_{kind}_HOME": str(state / "xdg" / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA", "STATE")}
    model = {"SEMBLE_MODEL_NAME": str(arguments.model.resolve())} if arguments.model else {}
    return {**kept, **folders, **model, "SEMBLE_CACHE_LOCATION": str(state / "semble-cache")}
