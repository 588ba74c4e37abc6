"""Runs commands as the installed one does, but in this process, which spares each the time that a process starts in."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cairn.cli.main import main
from cairn.cli.outcomes import EXIT_USAGE


def cairn(
    *arguments: str | bytes, cwd: Path, environment: Mapping[str, str] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, its input and its output being piped; return how it ended and what it printed."""
    command = [os.fsdecode(argument) for argument in arguments]
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdin", "stdout", "stderr")}
    streams["stdin"].write(stdin)
    streams["stdin"].seek(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for variable, value in (environment or {}).items():
            patch.setenv(variable, value)
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        code = _exit_code(command)
    printed = [_printed(streams[name]) for name in ("stdout", "stderr")]
    return subprocess.CompletedProcess(command, code, *printed)


def _exit_code(command: list[str]) -> int:
    try:
        return main(command)
    except SystemExit as end:  # from the parser, which has printed the reason
        return end.code if isinstance(end.code, int) else EXIT_USAGE


def _printed(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def document(done: subprocess.CompletedProcess[str]) -> Any:  # noqa: ANN401 - any JSON
    """Return the one JSON document that a command printed."""
    assert done.stdout.count("\n") == 1, (done.stdout, done.stderr)
    assert done.stdout.endswith("\n")
    return json.loads(done.stdout)


def check_error(done: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    """A clear message with the next command on stderr, nothing on stdout, no traceback."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    first, *rest = done.stderr.splitlines()
    assert first.startswith("error[")
    assert rest, done.stderr
    assert rest[-1].startswith("  try: "), done.stderr
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr
