"""What the benchmarks read about processes, on processes that do something known."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from processes import cpu_seconds, family, measure, n_descriptors, n_threads, resident_mb, usage_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def start(code: str) -> subprocess.Popen[str]:
    """Start Python with some code, and wait until it says that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_family_has_the_children_that_any_thread_started() -> None:
    code = (
        "import subprocess, sys, threading\n"
        "run = lambda: subprocess.Popen([sys.executable, '-c', 'input()'])\n"
        "thread = threading.Thread(target=run); thread.start(); thread.join()\n"
        "print('ready', flush=True); input()"
    )
    with start(code) as process:
        assert len(family(process.pid)) == 2
        assert family(process.pid)[0] == process.pid
        process.communicate("\n\n")
    assert family(process.pid) == []


def test_memory_counts_what_a_process_fills() -> None:
    with start("data = b'x' * 50_000_000; print('ready', flush=True); input()") as process:
        assert 50_000_000 / 2**20 < usage_of([process.pid]).total < 120
        assert resident_mb(process.pid) > 50_000_000 / 2**20
        process.communicate("\n")
    assert usage_of([process.pid]) == (0, 0)


def test_processor_time_only_has_that_of_children_on_request() -> None:
    code = (
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'sum(range(10_000_000))'], check=True)\n"
        "print('ready', flush=True); input()"
    )
    with start(code) as process:
        assert cpu_seconds(process.pid) < cpu_seconds(process.pid, with_children=True)
        process.communicate("\n")


def test_open_files_and_threads_are_counted() -> None:
    files, threads = n_descriptors(os.getpid()), n_threads(os.getpid())
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    with open(os.devnull, "rb"):
        thread.start()
        assert (n_descriptors(os.getpid()), n_threads(os.getpid())) == (files + 1, threads + 1)
        done.set()
        thread.join()


def test_a_measured_command_reports_its_exit_code_and_errors() -> None:
    code = "import sys, time; data = b'x' * 30_000_000; time.sleep(0.2); sys.exit('it failed')"
    outcome = measure([sys.executable, "-c", f"{code}; 1"], dict(os.environ))
    assert (outcome["status"], outcome["errors"]) == (1, "")
    assert isinstance(outcome["peak_mb"], int)
    assert outcome["peak_mb"] >= 28
    outcome = measure([sys.executable, "-c", "import sys; print('broken', file=sys.stderr); sys.exit(3)"], {})
    assert (outcome["status"], outcome["errors"]) == (3, "broken\n")
