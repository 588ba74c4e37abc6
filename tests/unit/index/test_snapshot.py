from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from cairn.index.snapshot import Snapshot
from cairn.workspace import Workspace


@pytest.mark.parametrize("n_files", [0, 1, 3])
def test_a_snapshot_counts_the_chunks_that_its_view_shows(tmp_path: Path, n_files: int) -> None:
    for number in range(3):
        (tmp_path / f"part{number}.py").write_text(f"def part{number}():\n    return {number}\n\n\nvalue = {number}\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        for number in range(n_files, 3):
            (tmp_path / f"part{number}.py").unlink()
        report = workspace.index()
        with closing(workspace.state.open_for_reading()) as connection:
            snapshot = Snapshot.open(connection, workspace.state, str(workspace.root))
    assert report.files == n_files
    assert snapshot.n_live == report.chunks == sum(snapshot.file_of_row >= 0)
    assert (snapshot.n_live > 0) == (n_files > 0)
