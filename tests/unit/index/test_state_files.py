from __future__ import annotations

from pathlib import Path

from cairn.index.state_files import StateFiles


def test_sizes_are_those_of_the_files_by_what_they_are_for(tmp_path: Path) -> None:
    state = StateFiles(tmp_path)
    assert set(state.sizes().values()) == {0}
    state.derived.mkdir()
    for name, size in (("index.db", 3), ("index.db-wal", 4), ("notes", 1), ("derived/a.seg", 5), ("derived/b.arr", 6)):
        (tmp_path / name).write_bytes(b"x" * size)
    sizes = {part: size for part, size in state.sizes().items() if size}
    assert sizes == {"database": 7, "segments": 5, "views": 6, "other": 1}
    assert state.disk_bytes() == 19
