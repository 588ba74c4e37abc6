"""A few changed files are parsed by a fork, which is made only where numpy is not imported: not in this process."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.index.ahead import is_worthwhile
from cairn.index.limits import limits_of
from cairn.index.reading import HASH_BYTES
from cairn.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are made on Linux only")

LONG_AGO_NS = 1_600_000_000_000_000_000
CRASHED = "the grammar crashed on this file"

# Runs the command as a process with so many cores does, and says whether it parsed itself.
RUN = """
import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[1])])
from cairn.cli.main import main
assert main(sys.argv[2:]) == 0
print("cairn.index.parsing" in sys.modules)
"""

# Begins as an update does, up to where the fork is at work, and ends as the test wants it to.
BEGIN = """
import os, signal, sys, time
from contextlib import closing
from pathlib import Path
from cairn.config import Settings
from cairn.embedding.fingerprint import bundled_fingerprint
from cairn.index.ahead import Ahead
from cairn.index.limits import limits_of
from cairn.index.plan import plan_update
from cairn.index.reading import PlanReader
from cairn.index.state_dir import StateDir
from cairn.index.views import CheckoutView

root = Path(sys.argv[1])
view, state = CheckoutView(root, None, 1_000_000), StateDir(root / ".cairn")
limits, found = limits_of(Settings(), background=False), view.walk()
connection = state.open_for_writing()
plan = plan_update(connection, state, view, found, bundled_fingerprint())
ahead = Ahead(PlanReader(view, connection, plan, None), limits)
"""
BUILD = """
from cairn.embedding.static import StaticModel
from cairn.index.build import Builder
with closing(connection), closing(ahead):
    builder = Builder(view, state, connection, StaticModel.load(), Settings(), limits)
    builder.run(found, plan, time.perf_counter(), full=False, verify=False, ahead=ahead)
"""


def source(name: str) -> str:
    return f"class {name.title()}:\n    def {name}(self):\n        return store({name!r})\n"


def write(root: Path, path: str, text: str) -> None:
    """Write a file as if long ago, so that its time vouches for its content."""
    (root / path).write_text(text)
    os.utime(root / path, ns=(LONG_AGO_NS, LONG_AGO_NS))


def run(script: str, *arguments: str | Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def stored(root: Path) -> dict[str, tuple[bytes, str, list[str]]]:
    """Return the hash, note and definitions of each file."""
    with closing(sqlite3.connect(root / ".cairn" / "index.db")) as connection:
        rows = connection.execute(
            "SELECT path, blob.id, hash, note FROM file JOIN blob ON blob.id = blob_id"
        ).fetchall()
        names = {
            blob: [
                name
                for (name,) in connection.execute("SELECT name FROM definition WHERE id >> 20 = ? ORDER BY id", (blob,))
            ]
            for _, blob, _, _ in rows
        }
        return {os.fsdecode(path): (content, note, names[blob]) for path, blob, content, note in rows}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An indexed folder with three files."""
    for name in ("alpha", "beta", "gamma"):
        write(tmp_path, f"{name}.py", source(name))
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
    return tmp_path


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core only")
def test_a_fork_parses_what_changed_and_the_index_is_as_if_built_at_once(root: Path) -> None:
    write(root, "alpha.py", source("delta") + source("alpha"))
    write(root, "new.py", source("epsilon"))
    (root / "gamma.py").unlink()
    *_, parsed_itself = run(RUN, "2", "index", root)
    assert parsed_itself == "False"
    updated = stored(root)
    assert updated["alpha.py"][2] == ["Delta", "delta", "Alpha", "alpha"]
    with Workspace.open(root) as workspace:
        workspace.index(full=True)
        assert [hit.path for hit in workspace.search("epsilon").code][:1] == ["new.py"]
    assert updated == stored(root)


def test_on_one_core_a_process_does_not_parse_itself_either(root: Path) -> None:
    write(root, "alpha.py", source("delta"))
    *_, parsed_itself = run(RUN, "1", "index", root)
    assert parsed_itself == "False"
    assert stored(root)["alpha.py"][2] == ["Delta", "delta"]


def test_a_fork_is_made_where_it_saves_time_only() -> None:
    limits = limits_of(Settings(), background=False, cores=2)
    assert not is_worthwhile(limits, cores=1, imported=False)
    assert not is_worthwhile(limits, cores=2, imported=True)
    assert not is_worthwhile(limits_of(Settings(memory_mb=256), background=False, cores=2), cores=2, imported=False)
    *_, verdicts = run(
        "import threading\nfrom cairn.config import Settings\nfrom cairn.index.ahead import is_worthwhile\n"
        "from cairn.index.limits import limits_of\nlimits = limits_of(Settings(), background=False, cores=2)\n"
        "alone = is_worthwhile(limits, cores=2, imported=False)\nend = threading.Event()\n"
        "thread = threading.Thread(target=end.wait)\nthread.start()\n"
        "print(alone, is_worthwhile(limits, cores=2, imported=False))\nend.set()\nthread.join()"
    )
    assert verdicts == "True False"


def test_a_fork_that_is_killed_costs_the_file_at_hand_its_definitions_and_no_other(root: Path) -> None:
    write(root, "alpha.py", source("delta"))
    write(root, "beta.py", source("epsilon"))
    run(f"{BEGIN}\nos.kill(ahead.pid, signal.SIGKILL)\n{BUILD}", root)
    found = stored(root)
    assert found["alpha.py"][1:] == (CRASHED, [])
    assert found["beta.py"][1:] == ("", ["Epsilon", "epsilon"])
    with Workspace.open(root) as workspace:
        assert workspace.search("delta").code[0].path == "alpha.py"


def test_what_is_recorded_is_what_was_parsed_though_the_file_changes_meanwhile(root: Path) -> None:
    write(root, "alpha.py", source("delta"))
    run(f"{BEGIN}\n(root / 'alpha.py').write_text({source('epsilon')!r})\n{BUILD}", root)
    assert stored(root)["alpha.py"] == (
        blake2b(source("delta").encode(), digest_size=HASH_BYTES).digest(),
        "",
        ["Delta", "delta"],
    )
    with Workspace.open(root) as workspace:
        assert workspace.index().changed == 1
    assert stored(root)["alpha.py"][2] == ["Epsilon", "epsilon"]


def test_where_no_fork_can_be_made_the_files_are_parsed_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # with other threads, nothing would fork
    write(root, "alpha.py", source("delta"))
    refuse = """
import sys
def refuse(event, arguments):
    if event == "os.fork":
        raise BlockingIOError(11, "Resource temporarily unavailable")
sys.addaudithook(refuse)
"""
    run(f"{refuse}{BEGIN}\nassert not ahead.pid\n{BUILD}", root)
    assert stored(root)["alpha.py"][1:] == ("", ["Delta", "delta"])


def test_nothing_to_parse_starts_no_fork_and_a_closed_one_is_gone(root: Path) -> None:
    count = "\nprint(ahead.pid > 0)\nahead.close()\ntry: os.waitpid(-1, 0)\nexcept ChildProcessError: print('none')"
    (root / "alpha.py").touch()  # another time, the same content
    assert run(BEGIN + count, root) == ["False", "none"]
    write(root, "alpha.py", source("delta"))
    assert run(BEGIN + count, root) == ["True", "none"]


def test_the_write_lock_goes_with_the_process_though_its_fork_is_alive(root: Path) -> None:
    write(root, "alpha.py", source("delta"))
    begin = BEGIN.replace("ahead = ", "lock = file_lock(state.lock, 0)\nlock.__enter__()\nahead = ")
    script = f"""from contextlib import suppress
from cairn.storage.lock import file_lock{begin}
files = Path("/proc", str(ahead.pid), "fd")
with suppress(OSError):  # it ended
    while any(os.path.realpath(one) == str(state.lock) for one in files.iterdir()):
        time.sleep(0.001)
os.kill(ahead.pid, signal.SIGSTOP)
print(ahead.pid, flush=True)
os._exit(0)
"""
    with subprocess.Popen([sys.executable, "-c", script, root], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        fork = int(process.stdout.readline())
        try:
            process.wait()
            with Workspace.open(root) as workspace:
                assert workspace.index(wait_seconds=0).changed == 1
        finally:
            os.kill(fork, signal.SIGKILL)
