"""The machine of a developer: a home of its own, in which commands run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_SECONDS = 120.0


def git(folder: Path, *arguments: str) -> str:
    """Run git, and return what it prints."""
    result = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return result.stdout.strip()


class Machine:
    """Runs commands without a daemon."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self.home = home
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "CAIRN_DAEMON": "0"}
        self.environment |= {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "cairn", *arguments]

    def run(
        self, *arguments: str, stdin: str = "", code: int = 0, folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command that ends with a code."""
        result = subprocess.run(
            self.command(*arguments), input=stdin, env=self.environment, cwd=folder or self.home,
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        assert result.returncode == code, (result.returncode, result.stdout[-500:], result.stderr[-2000:])
        assert "Traceback" not in result.stderr, result.stderr
        return result

    def json(self, *arguments: str, stdin: str = "", code: int = 0, folder: Path | None = None) -> Any:  # noqa: ANN401 - JSON
        """Run a command and return the document that it prints."""
        return json.loads(self.run(*arguments, "--json", stdin=stdin, code=code, folder=folder).stdout)
