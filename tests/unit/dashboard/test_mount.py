"""What the pages cost a daemon of which nobody wants one."""

from __future__ import annotations

import subprocess
import sys

LATER = (
    "cairn.dashboard.site",
    "cairn.dashboard.browsers",
    "cairn.workspace",
    "cairn.memory.store",
    "jinja2",
    "starlette",
)


def test_a_daemon_at_rest_has_not_loaded_what_pages_and_answers_need() -> None:
    program = f"import sys, cairn.cli.daemon_process; print([name for name in {LATER} if name in sys.modules])"
    got = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True)
    assert got.stdout == "[]\n"
