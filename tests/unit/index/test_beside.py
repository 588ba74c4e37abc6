from __future__ import annotations

from pathlib import Path

import pytest

from cairn.index import isolation
from cairn.index.beside import TEXT_JOB, Task, _Crew, parse_beside
from cairn.index.helper import Helper


def test_a_package_in_the_current_folder_is_not_taken_for_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    for name in ("cairn/__init__.py", "cairn/index/__init__.py", "cairn/index/parsing.py", "pickle.py", "numpy.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(planted)
    monkeypatch.chdir(tmp_path)
    task = Task(b"def parse():\n    pass\n", "python", 1)
    ((tag, parsed),) = parse_beside([task], TEXT_JOB, n_helpers=1, in_flight_bytes=1_000)
    assert tag == 1
    assert [one.name for one in parsed.parsed.definitions] == ["parse"]
    assert not (tmp_path / "ran").exists()


def test_a_file_goes_to_the_helper_with_the_least_to_do() -> None:
    crew = _Crew(TEXT_JOB, 2)
    tasks = [Task(b"x = 1\n" * lines, "python", None) for lines in (2_000, 10, 10, 3_000)]
    try:
        numbers = [crew.send(task) for task in tasks]
        assert numbers == [0, 1, 1, 1]
        for number, task in zip(numbers, tasks, strict=True):
            assert not crew.receive(number, task, []).failure
        assert crew.send(tasks[0]) == 0
    finally:
        crew.close()


def test_a_build_with_one_helper_leaves_as_many_waiting_as_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_idle", [])
    task = Task(b"x = 1\n", "python", None)
    waiting = list[list[Helper]]()
    for n_helpers in (1, 2, 1):
        assert len(list(parse_beside([task], TEXT_JOB, n_helpers=n_helpers, in_flight_bytes=1_000))) == 1
        waiting.append([helper for _, helper in isolation._idle])
    assert [len(helpers) for helpers in waiting] == [1, 2, 2]
    assert set(waiting[1]) == set(waiting[2])
    assert all(helper.is_alive for helper in waiting[2])
    for helper in waiting[2]:
        helper.close()
