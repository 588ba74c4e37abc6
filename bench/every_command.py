"""Runs every command on one project in this process, and writes the outcome of each as a line of JSON.

    python bench/every_command.py PROJECT REPORT [--first N]

`hostile.py` starts it where a project may harm its readers. Names of environment variables that are read are reported,
so that the reading of a secret shows. The report ends early where a command ends the process; `--first` continues after
the one that did.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import time
from collections.abc import Iterator, MutableMapping
from pathlib import Path

from processes import peak_mb

COMMANDS = (
    ("index",),
    ("search", "how are settings read"),
    ("search", '"load_settings"'),
    ("search", r"def \w+"),
    ("search", "load_settings", "--expand", "--explain"),
    ("search", "callers of load_settings"),
    ("search", "session", "--branch", "HEAD~1"),
    ("similar", "src/session.py:18"),
    ("fetch", "src/session.py#load_settings"),
    ("fetch", "../victims/authorized_keys#1", "/etc/passwd#1"),
    ("context", "open a session"),
    ("outline", "src/session.py"),
    ("outline", "src/session.py", "--mode", "context", "--symbol", "run"),
    ("outline", "crash.yaml"),
    ("outline", "keys.py"),
    ("flow", "src/session.py:run"),
    ("slice", "src/session.py:24:total"),
    ("callers", "load_settings"),
    ("callees", "run"),
    ("path", "run", "load_settings"),
    ("importers", "src/session.py"),
    ("impact", "load_settings"),
    ("impact", "--diff"),
    ("tests", "--diff", "HEAD~1"),
    ("dead",),
    ("cycles",),
    ("map",),
    ("core", "list"),
    ("core", "suggest"),
    ("core", "add", "src/session.py"),
    ("core", "remove", "src/session.py"),
    ("remember", "settings are read once", "--file", "src/session.py::load_settings"),
    ("recall", "how are settings read"),
    ("memories",),
    ("resolve", "m_0123456789"),
    ("sessions",),
    ("status",),
    ("index", "--skipped"),
    ("index", "--dry-run"),
    ("index", "--branch", "HEAD~1"),
    ("gc",),
    ("doctor",),
    ("doctor", "--fix"),
    ("index", "--full"),
    ("search", "load_settings", "--json"),
)


class Recorder(MutableMapping[str, str]):
    """The environment, with the names that were asked for one by one; copying it whole for a child does not count."""

    def __init__(self, values: MutableMapping[str, str]) -> None:
        self._values = values
        self._copied: set[str] = set()
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        if name in self._copied:
            self._copied.remove(name)
        else:
            self.asked.add(name)
        return self._values[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        self._copied = set(self._values)
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def run(command: tuple[str, ...]) -> tuple[int, str]:
    """Run one command and return its exit code with what it said."""
    from cairn.cli.main import main  # noqa: PLC0415 - after the environment is watched

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = main([*command, "--no-daemon"])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 2
    return code, said.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("report", type=Path)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    recorder = Recorder(os.environ)
    os.environ = recorder  # type: ignore[assignment]  # noqa: B003 - children get a copy of it
    os.chdir(options.project)
    with options.report.open("a") as report:
        for number, command in enumerate(COMMANDS[options.first :], options.first):
            started, recorder.asked = time.perf_counter(), set()
            report.write(json.dumps({"number": number, "command": command}) + "\n")
            report.flush()
            try:
                code, said = run(command)
            except BaseException as error:  # noqa: BLE001 - what escapes the command line is what is looked for
                code, said = -1, f"Traceback: {error!r}"
            seconds = time.perf_counter() - started
            outcome = {"code": code, "seconds": seconds, "peak_mb": peak_mb(os.getpid()), "said": said[-4_000:]}
            report.write(json.dumps({**outcome, "asked": sorted(recorder.asked)}) + "\n")
            report.flush()


if __name__ == "__main__":
    main()
