"""How many commits are read at once, and what becomes of git when nobody wants it any more."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import pytest

import cairn.history.build as build
from cairn.errors import PathError
from cairn.source.commits import Commit
from cairn.source.plumbing import GitStalledError, run_git

NOW, SOON = 0.0, 600.0
Unwanted = Callable[[], bool]


def hashes(count: int) -> list[str]:
    return [f"{number:040x}" for number in range(count)]


def sizes_read(monkeypatch: pytest.MonkeyPatch, folder: Path, count: int, seconds: float) -> list[int]:
    def read(_: Path, asked: Sequence[str], *, partial: bool, is_unwanted: Unwanted) -> list[Commit]:
        return [Commit(one, 0, "", ()) for one in asked]

    monkeypatch.setattr(build, "read_commits", read)
    batches = list(build._read_in_time(folder, hashes(count), time.monotonic() + seconds, partial=False))
    assert [one.hash for batch in batches for one in batch] == hashes(sum(map(len, batches)))
    return [len(batch) for batch in batches]


@pytest.mark.parametrize(
    ("count", "seconds", "sizes"),
    [
        (0, SOON, []),
        (3, NOW, [3]),
        (55, NOW, [50]),
        (55, SOON, [50, 5]),
        (700, SOON, [50, 100, 200, 250, 100]),
        (60, float("inf"), [50, 10]),
    ],
)
def test_batches_grow_as_long_as_there_is_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int, seconds: float, sizes: list[int]
) -> None:
    assert sizes_read(monkeypatch, tmp_path, count, seconds) == sizes


def test_git_is_told_when_reading_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gave_up = Event()

    def read(_: Path, asked: Sequence[str], *, partial: bool, is_unwanted: Unwanted) -> list[Commit]:
        if asked[0] == hashes(1)[0]:
            return []
        while not is_unwanted():
            time.sleep(0.01)
        gave_up.set()
        raise PathError("given up", "try again")

    monkeypatch.setattr(build, "read_commits", read)
    batches = build._read_in_time(tmp_path, hashes(300), time.monotonic() + SOON, partial=False)
    assert next(batches) == []
    batches.close()  # type: ignore[attr-defined] # a generator has it
    assert gave_up.is_set()


def test_an_error_of_git_ends_reading_and_any_other_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def failing(error: Exception) -> list[list[Commit]]:
        def read(*_: object, **__: object) -> list[Commit]:
            raise error

        monkeypatch.setattr(build, "read_commits", read)
        return list(build._read_in_time(tmp_path, hashes(9), time.monotonic() + SOON, partial=False))

    assert failing(PathError("too slow", "try again")) == []
    with pytest.raises(RuntimeError, match="ours"):
        failing(RuntimeError("ours"))


def test_git_that_nobody_wants_is_ended(tmp_path: Path) -> None:
    with pytest.raises(GitStalledError, match="nobody waits"):
        run_git(tmp_path, ["rev-parse", "HEAD"], is_unwanted=lambda: True)
