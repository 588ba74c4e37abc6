from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cairn.index.state_files import StateFiles, unlisted


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
    state = StateFiles(tmp_path)
    state.derived.mkdir()
    new, segment = (state.derived / f"{'a' * 32}.{name}.17.tmp" for name in (kind, "seg"))
    new.write_bytes(b"")
    segment.write_bytes(b"")
    assert unlisted(state, set()) == [segment]
    for odd in (1, time.time() + 3_600):  # a clock that was set wrong
        os.utime(new, (odd, odd))
        assert set(unlisted(state, set())) == {new, segment}
    assert unlisted(state, {new, segment}) == []
