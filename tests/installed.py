"""The installed command, and the module that tests of several processes ask about."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "cairn")
CODE = '''def total(prices):
    """Add up the prices of a cart."""
    return sum(tax(price) for price in prices)


def tax(price):
    """Add the tax to a price."""
    return price * 1.2
'''


def cairn(*arguments: str | bytes, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a folder, its output being piped; `in_process.cairn` does without a process."""
    return subprocess.run(
        [COMMAND, *arguments], cwd=cwd, env=os.environ | environment, capture_output=True, timeout=120, check=False,
        encoding="utf-8", errors="surrogateescape",
    )  # fmt: skip
