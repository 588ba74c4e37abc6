"""What a repository brings is parsed where a crash, an endless parse or much memory cost one file only."""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path

import pytest

from cairn.errors import NotFoundError, UnparsableError
from cairn.index import helper, isolation
from cairn.index.helper import CRASHED, Helper, read_result
from cairn.index.isolation import run_isolated
from cairn.structure.outline import FileOutline

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits are those of Unix")

HERE = "tests.unit.index.test_isolation"


# -- jobs, done by helpers ---------------------------------------------------------------------------------------------


def length(data: bytes, language: str) -> int:
    return len(data)


def crash(data: bytes, language: str) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def end(data: bytes, language: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def never_end(data: bytes, language: str) -> None:
    while True:
        pass


def take_much(data: bytes, language: str) -> int:
    return len(bytearray(2_000_000_000))


def fall(data: bytes, language: str) -> None:
    fall(data, language)


def find_nothing(data: bytes, language: str) -> None:
    raise NotFoundError("there is nothing", "look elsewhere")


def say_foreign(data: bytes, language: str) -> object:
    return Path("/")


def write_attempt(data: bytes, language: str, path: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write("x")
    os.kill(os.getpid(), signal.SIGSEGV)


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let helpers that are started afresh find the jobs of this file."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))


def test_a_job_gives_its_result_and_the_helper_takes_the_next() -> None:
    assert run_isolated(f"{HERE}:length", b"abc", "text") == 3
    started = time.perf_counter()
    assert [run_isolated(f"{HERE}:length", b"x" * size, "text") for size in range(20)] == list(range(20))
    assert time.perf_counter() - started < 20


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ("crash", CRASHED),
        ("never_end", "took more than 1.5 s to parse"),
        ("take_much", "needed more than 274 MB to parse"),
        ("fall", "cannot be parsed: RecursionError"),
    ],
)
def test_a_job_that_goes_wrong_costs_one_content_and_is_not_tried_again(job: str, reason: str) -> None:
    data = f"{job} once".encode()
    with pytest.raises(UnparsableError, match=reason):
        run_isolated(f"{HERE}:{job}", data, "text")
    with pytest.raises(UnparsableError, match=reason):
        run_isolated(f"{HERE}:length", data, "text")
    assert run_isolated(f"{HERE}:length", b"other", "text") == 5


def test_what_crashed_is_remembered_by_other_processes(tmp_path: Path) -> None:
    attempts = tmp_path / "attempts"
    script = (
        f"from cairn.index.isolation import run_isolated\n"
        f"try:\n    run_isolated('{HERE}:write_attempt', b'bomb', 'text', {str(attempts)!r})\n"
        f"except Exception as error:\n    print(error)"
    )
    root = Path(__file__).parents[3]
    said = {
        subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert said == {f"{CRASHED}\n"}
    assert attempts.read_text() == "x"


def test_nobody_else_may_see_what_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UnparsableError):
        run_isolated(f"{HERE}:fall", b"fallen", "text")
    assert (tmp_path / "cairn" / "unparsable").exists()
    assert (tmp_path / "cairn").stat().st_mode & 0o777 == 0o700


def test_a_helper_that_somebody_ended_says_nothing_about_the_content() -> None:
    with pytest.raises(UnparsableError):
        run_isolated(f"{HERE}:end", b"killed", "text")
    assert run_isolated(f"{HERE}:length", b"killed", "text") == 6


def test_what_fails_apart_from_parsing_says_nothing_about_other_jobs() -> None:
    with pytest.raises(UnparsableError):
        run_isolated(f"{HERE}:never_end", b"slow flow", "text", scope="flow")
    assert run_isolated(f"{HERE}:length", b"slow flow", "text") == 9
    with pytest.raises(UnparsableError):
        run_isolated(f"{HERE}:length", b"slow flow", "text", scope="flow")


def test_an_error_for_the_user_comes_through() -> None:
    with pytest.raises(NotFoundError, match="there is nothing") as caught:
        run_isolated(f"{HERE}:find_nothing", b"", "text")
    assert caught.value.hint == "look elsewhere"


def test_an_answer_holds_nothing_but_plain_values_and_our_records() -> None:
    with pytest.raises(UnparsableError):
        run_isolated(f"{HERE}:say_foreign", b"", "text")
    outline = FileOutline("a", "text", 1, 1, (), (0, 0), (), (), (), ())
    assert read_result(io.BytesIO(pickle.dumps(("value", outline)))).value == outline
    for forged in (os.system, Path, subprocess.Popen):
        with pytest.raises(pickle.UnpicklingError):
            read_result(io.BytesIO(pickle.dumps(("value", forged))))


def test_with_several_threads_a_fresh_process_helps_and_imports_nothing_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pickle.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        fresh = Helper()
        try:
            fresh.send(f"{HERE}:length", 3, b"abc", "text")
            assert fresh.receive().value == 3
        finally:
            fresh.close()
    finally:
        done.set()
        thread.join()


def test_helpers_end_with_the_process_that_they_work_for() -> None:
    script = (
        "import os, threading, time\nfrom cairn.index.helper import Helper\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "one = Helper()\nprint(one._process.pid, flush=True)\nos.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}/fd").exists()


def test_a_helper_without_a_job_ends_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "IDLE_SECONDS", 0.1)
    run_isolated(f"{HERE}:length", b"", "text")
    deadline = time.monotonic() + 30
    while isolation._idle and time.monotonic() < deadline:
        time.sleep(0.05)
        isolation._close_idle()
    assert not isolation._idle


@pytest.mark.parametrize("job", ["length", "crash"])
def test_a_helper_that_was_warmed_up_gives_the_next_job_its_own_result(
    monkeypatch: pytest.MonkeyPatch, job: str
) -> None:
    monkeypatch.setattr(isolation, "_idle", [])
    isolation.warm_up(f"{HERE}:{job}", b"ahead of all", "text")
    ((_, warmed),) = isolation._idle
    assert run_isolated(f"{HERE}:length", b"four", "text") == 4
    assert ([helper for _, helper in isolation._idle] == [warmed]) == (job == "length")
    isolation.warm_up(f"{HERE}:{job}", b"ahead of all", "text")  # one is there
    assert run_isolated(f"{HERE}:length", b"three", "text") == 5
    isolation._close_all()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows threads with a priority of their own")
def test_a_helper_of_low_priority_that_waits_keeps_no_other_from_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def work_in_the_background() -> None:
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) + 1)
        run_isolated(f"{HERE}:length", b"low", "text")

    monkeypatch.setattr(isolation, "_idle", [])
    thread = threading.Thread(target=work_in_the_background)
    thread.start()
    thread.join()
    try:
        run_isolated(f"{HERE}:length", b"first", "text")
        (_, low), (_, first) = isolation._idle
        assert low.priority > first.priority
        run_isolated(f"{HERE}:length", b"again", "text")
        assert [helper for _, helper in isolation._idle] == [low, first]
    finally:
        isolation._close_all()


def test_larger_contents_may_take_more() -> None:
    assert helper.limits_for(10) == (1.5, 274)
    assert helper.limits_for(1_000_000) == (1.5, 274)
    assert helper.limits_for(8_000_000) == (15.5, 624)


def test_many_jobs_one_after_the_other_leave_no_more_threads_than_one() -> None:
    run_isolated(f"{HERE}:length", b"first", "python")
    before = threading.active_count()
    for number in range(20):
        assert run_isolated(f"{HERE}:length", b"x" * number, "python") == number
    assert threading.active_count() <= before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has pipes of a chosen size")
def test_a_helper_has_room_for_the_work_of_a_while() -> None:
    fcntl = import_module("fcntl")  # is not there on Windows
    process, tasks, results = helper._spawn()
    most = int(Path("/proc/sys/fs/pipe-max-size").read_text())
    try:
        for pipe in (tasks, results):
            assert fcntl.fcntl(pipe.fileno(), fcntl.F_GETPIPE_SZ) == min(1 << 20, most)
    finally:
        tasks.close()
        process.wait()
        results.close()


# -- several helpers ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
def test_several_helpers_are_all_forked_before_there_are_threads() -> None:
    script = (
        "from cairn.index.helper import start_helpers\n"
        f"helpers = start_helpers(3)\nfor one in helpers: one.send('{HERE}:length', 0, b'four', 'text')\n"
        "print([(type(one._process).__name__, one.receive().value) for one in helpers])\n"
        "for one in helpers: one.close()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([("_Fork", 4)] * 3)


def test_as_many_helpers_wait_as_whoever_gives_them_back_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_idle", [])
    several = isolation.borrow_several(3)
    for one in several:
        isolation.give_back(one, 2)
    assert [one.is_alive for one in several] == [True, True, False]
    first, second = isolation.borrow_several(2)
    assert [first, second] == several[:2]
    isolation.give_back(first)
    isolation.give_back(second)
    assert (first.is_alive, second.is_alive) == (True, False)
    isolation._close_all()


def test_a_job_leaves_as_many_helpers_waiting_as_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_idle", [])
    for helper_ in isolation.borrow_several(2):
        isolation.give_back(helper_, 2)
    assert run_isolated(f"{HERE}:length", b"abc", "python") == 3
    assert isolation.count_waiting() == 2
    isolation._close_all()


def test_a_machine_with_room_for_one_more_process_gets_one_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    start, started = helper._start, list[object]()

    def refuse_the_second() -> object:
        if started:
            raise OSError("no more processes")
        started.append(start())
        return started[0]

    monkeypatch.setattr(helper, "_start", refuse_the_second)
    (only,) = helper.start_helpers(2)
    only.close()
    with pytest.raises(OSError, match="no more processes"):
        helper.start_helpers(2)
