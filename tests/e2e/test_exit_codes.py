"""How commands end where the system gives too little, or takes nothing: never as if nothing were to be found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from installed import COMMAND
from other_processes import wait_for_work, wait_until_open

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")


CODE = "def total(prices):\n    return tax(sum(prices))\n\n\ndef tax(price):\n    return price\n"
ASKING = (["search", "add the tax"], ["callers", "tax"], ["map"], ["similar", "money.py:1"], ["index", "--full"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "money.py").write_text(
        "def total(prices):\n    return tax(sum(prices))\n\n\ndef tax(price):\n    return price\n"
    )
    assert cairn("index", cwd=root).returncode == 0
    return root


def cairn(
    *arguments: str, cwd: Path, limit: Callable[[], object] | None = None, stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments], cwd=cwd, preexec_fn=limit, stdin=subprocess.DEVNULL, stdout=stdout,
        stderr=subprocess.PIPE, timeout=60, check=False, text=True, env=os.environ | {"CAIRN_DAEMON": "0"},
    )  # fmt: skip


def _check_told(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 3, done
    first, last = done.stderr.splitlines()
    assert first.startswith("error[resources]: too ")
    assert last.startswith("  try: ")


@pytest.mark.parametrize("arguments", ASKING, ids=" ".join)
def test_too_few_open_files_are_told(project: Path, arguments: list[str]) -> None:
    _check_told(cairn(*arguments, cwd=project, limit=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))))


@pytest.mark.parametrize("kilobytes", [60_000, 130_000, 200_000])
def test_too_little_address_space_is_told(project: Path, kilobytes: int) -> None:
    size = kilobytes * 1024
    for arguments in ASKING[:3]:
        _check_told(cairn(*arguments, cwd=project, limit=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))))


def test_enough_is_enough(project: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (500_000 * 1024, 500_000 * 1024))
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 64))  # the soft limit is raised

    for arguments in ASKING:
        done = cairn(*arguments, cwd=project, limit=limit)
        assert done.returncode == 0, (arguments, done)


def test_output_that_cannot_be_written_is_no_answer(project: Path) -> None:
    for arguments in (
        ["search", "add the tax"],
        ["search", "tax", "--json"],
        ["help"],
        ["search", "-h"],
        ["--version"],
    ):
        with open("/dev/full", "wb") as full:
            done = cairn(*arguments, cwd=project, stdout=full.fileno())
        assert (done.returncode, done.stderr.splitlines()[:1]) == (3, ["error[resources]: the disk is full"]), arguments
        assert len(done.stderr.splitlines()) == 2, arguments


def test_closed_streams_change_no_exit_code(project: Path) -> None:
    def close() -> None:
        os.closerange(0, 3)

    found = subprocess.run([COMMAND, "search", "tax"], cwd=project, preexec_fn=close, timeout=60, check=False)
    none = subprocess.run(
        [COMMAND, "search", "--mode", "literal", "nothing like it"],
        cwd=project, preexec_fn=close, timeout=60, check=False,
    )  # fmt: skip
    assert (found.returncode, none.returncode) == (0, 1)


def test_an_installation_that_lacks_a_part_ends_as_an_error(project: Path) -> None:
    for missing in ("cairn.cli.main", "numpy"):
        code = f"import sys; sys.modules[{missing!r}] = None; from cairn.__main__ import run; run()"
        done = subprocess.run(
            [sys.executable, "-c", code, "search", "tax"],
            cwd=project, capture_output=True, text=True, timeout=60, check=False,
            env=os.environ | {"CAIRN_DAEMON": "0"},
        )  # fmt: skip
        assert done.returncode == 3, done
        assert "error[internal]" in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    ("number", "code", "words"), [(signal.SIGINT, 130, b"Interrupted.\n"), (signal.SIGTERM, -signal.SIGTERM, b"")]
)
def test_a_hard_search_ends_at_once_when_it_is_interrupted(project: Path, number: int, code: int, words: bytes) -> None:
    lines = [f"{place:0>2000b}".replace("0", "a").replace("1", "b") for place in range(3**1200, 3**1200 + 250)]
    (project / "letters.txt").write_text("\n".join(lines))
    assert cairn("index", cwd=project).returncode == 0
    process = subprocess.Popen(
        [COMMAND, "search", "--mode", "regex", "[ab]*a[ab]{900}c" * 6],
        cwd=project, env=os.environ | {"CAIRN_DAEMON": "0"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_until_open(process.pid, project / ".cairn/index.db")
    wait_for_work(process.pid, 2)
    assert process.poll() is None
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (code, words)


def test_a_command_that_is_interrupted_before_it_has_begun_says_so_in_one_word(project: Path) -> None:
    code = (
        "import os, signal, cairn.cli.main as it; read = it.parse; "
        "it.parse = lambda *given: (os.kill(os.getpid(), signal.SIGINT), read(*given))[1]; it.run()"
    )
    command = [sys.executable, "-c", code, "search", "tax"]
    done = subprocess.run(command, cwd=project, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"Interrupted.\n")


@pytest.mark.parametrize("command", ["similar", "slice", "flow"])
def test_a_line_with_thousands_of_digits_is_a_mistake_like_any_other(project: Path, command: str) -> None:
    done = cairn(command, "money.py:" + "9" * 5_000, cwd=project)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("error[")
