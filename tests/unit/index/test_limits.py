from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.errors import ConfigError
from cairn.index.limits import (
    RunLimits,
    background_cores,
    kept_bytes_of,
    limits_of,
    lower_priority,
    on_battery,
    run_behind,
)


def test_a_run_that_somebody_waits_for_uses_all_cores_up_to_four() -> None:
    assert limits_of(Settings(), background=False, cores=2) == RunLimits(2, 3_000, 8_000_000, 8_000_000)
    assert limits_of(Settings(memory_mb=8_192), background=False, cores=16).helpers == 4


def test_a_run_in_the_background_gets_half_of_the_cores_or_as_many_as_set() -> None:
    assert limits_of(Settings(), background=True, cores=4).helpers == 2
    assert limits_of(Settings(background_cores=1), background=True, cores=8).helpers == 1
    assert background_cores(Settings(), 1) == 1


def test_less_memory_makes_fewer_processes_and_smaller_batches() -> None:
    least, small, full = (limits_of(Settings(memory_mb=mb), background=False, cores=4) for mb in (256, 512, 2_048))
    assert (least.helpers, small.helpers, full.helpers) == (0, 1, 4)
    assert least.batch_chunks < small.batch_chunks < full.batch_chunks == 3_000
    assert least.batch_bytes < small.batch_bytes < full.batch_bytes == 8_000_000
    assert least.vocabulary_share < small.vocabulary_share < full.vocabulary_share == 1.0
    kept = [kept_bytes_of(Settings(memory_mb=mb)) for mb in (256, 512, 2_048)]
    assert 0 < kept[0] < kept[1] < kept[2]


@pytest.mark.parametrize(
    "values",
    [
        {"memory_mb": 100},
        {"background_cores": -1},
        {"background_nice": 20},
        {"garbage_days": -1.0},
        {"watch_poll_seconds": 0.0},
    ],
    ids=str,
)
def test_limits_that_make_no_sense_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(values))):
        Settings(**values)  # type: ignore[arg-type] # any setting


def test_another_process_is_put_behind_others_and_an_ended_one_is_no_error() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        lower_priority(Settings(background_nice=7), process.pid)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) >= 7
        if sys.platform == "linux":
            wanted = background_cores(Settings(), os.cpu_count() or 1)
            assert len(os.sched_getaffinity(process.pid)) == min(wanted, len(os.sched_getaffinity(0)))
    lower_priority(Settings(), process.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_work_behind_others_leaves_the_waiting_thread_as_it_was() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    assert run_behind(Settings(background_nice=15), lambda _: os.getpriority(os.PRIO_PROCESS, 0)) == max(15, before)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_an_error_of_work_behind_others_reaches_whoever_waits() -> None:
    with pytest.raises(ZeroDivisionError):
        run_behind(Settings(), lambda _: 1 // 0)


def supply(folder: Path, name: str, **values: str) -> None:
    (folder / name).mkdir(parents=True)
    for key, value in values.items():
        (folder / name / key).write_text(value + "\n")


def test_a_discharging_battery_counts_unless_mains_is_there(tmp_path: Path) -> None:
    assert not on_battery(tmp_path / "missing")
    supply(tmp_path, "BAT0", type="Battery", status="Discharging")
    assert on_battery(tmp_path)
    supply(tmp_path, "AC", type="Mains", online="1")
    assert not on_battery(tmp_path)


def test_the_battery_of_a_mouse_and_a_full_one_do_not_count(tmp_path: Path) -> None:
    supply(tmp_path, "hid", type="Battery", status="Discharging", scope="Device")
    supply(tmp_path, "BAT0", type="Battery", status="Full")
    supply(tmp_path, "AC", type="Mains", online="0")
    assert not on_battery(tmp_path)
