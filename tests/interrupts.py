"""What a test starts to send Ctrl-C to: the command line as a process that heeds it, wherever the tests run."""

from __future__ import annotations

import sys

# What a shell starts in the background ignores Ctrl-C, with all that it starts.
_HEEDING = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("cairn", run_name="__main__", alter_sys=True)
"""
CAIRN = (sys.executable, "-c", _HEEDING)
