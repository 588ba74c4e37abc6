from __future__ import annotations

import os
from pathlib import Path

import pytest

from cairn.index.state_files import StateFiles, may_be_unfinished


def test_sizes_are_those_of_the_files_by_what_they_are_for(tmp_path: Path) -> None:
    state = StateFiles(tmp_path)
    assert set(state.sizes().values()) == {0}
    state.derived.mkdir()
    for name, size in (("index.db", 3), ("index.db-wal", 4), ("notes", 1), ("derived/a.seg", 5), ("derived/b.arr", 6)):
        (tmp_path / name).write_bytes(b"x" * size)
    sizes = {part: size for part, size in state.sizes().items() if size}
    assert sizes == {"database": 7, "segments": 5, "views": 6, "other": 1}
    assert state.disk_bytes() == 19


@pytest.mark.parametrize("kind", ["past", "hnsw", "vec"])
def test_a_file_that_is_written_under_another_lock_is_left_alone_for_a_minute(kind: str, tmp_path: Path) -> None:
    new = tmp_path / f"{'a' * 32}.{kind}.17.tmp"
    assert may_be_unfinished(new), "it may have its own name by now"
    new.write_bytes(b"")
    assert may_be_unfinished(new)
    os.utime(new, (1, 1))
    assert not may_be_unfinished(new)
    segment = tmp_path / f"{'a' * 32}.seg.17.tmp"
    segment.write_bytes(b"")
    assert not may_be_unfinished(segment)
