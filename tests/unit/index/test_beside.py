from __future__ import annotations

from pathlib import Path

import pytest

from cairn.index.beside import TEXT_JOB, Task, _Crew, parse_beside


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
    crew = _Crew(TEXT_JOB.name, 2)
    tasks = [Task(b"x = 1\n" * lines, "python", None) for lines in (2_000, 10, 10, 3_000)]
    try:
        numbers = [crew.send(task) for task in tasks]
        assert numbers == [0, 1, 1, 1]
        for number, task in zip(numbers, tasks, strict=True):
            assert not crew.receive(number, task, []).failure
        assert crew.send(tasks[0]) == 0
    finally:
        crew.close()
