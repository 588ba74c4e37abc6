from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from cairn.errors import DerivedFileError
from cairn.index.snapshot import Snapshot
from cairn.workspace import Workspace

_ONES = np.ones(256, dtype=np.float32)


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


def test_how_often_a_stem_is_mentioned_counts_what_is_shown_only(tmp_path: Path) -> None:
    (tmp_path / "shape.py").write_text("def area():\n    return 1\n")
    for number in range(4):
        (tmp_path / f"user{number}.py").write_text(f"import shape\n\n\ndef use{number}():\n    return shape.area()\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        before = _mentions(workspace, "shape.py")
        (tmp_path / "user3.py").unlink()
        (tmp_path / "user2.py").write_text("def other():\n    return 2\n")
        workspace.index()
        after = _mentions(workspace, "shape.py")
    with Workspace.open(tmp_path, state_dir=tmp_path.parent / "fresh") as workspace:
        workspace.index()
        assert after == _mentions(workspace, "shape.py")
    assert 0 < after < before


def _mentions(workspace: Workspace, path: str) -> float:
    with closing(workspace.state.open_for_reading()) as connection:
        snapshot = Snapshot.open(connection, workspace.state, str(workspace.root))
        return float(snapshot.priors["mentions"][snapshot.files.paths.index(path)])


def test_a_newer_generation_takes_over_the_segments_that_both_have_unless_their_files_changed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def first():\n    return 1\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        with closing(workspace.state.open_for_reading()) as connection:
            old = Snapshot.open(connection, workspace.state, str(workspace.root))
            (tmp_path / "b.py").write_text("def second():\n    return 2\n")
            workspace.index()
            new = Snapshot.open(connection, workspace.state, str(workspace.root), old)
            assert (new.n_live, new.generation > old.generation) == (2, True)
            assert new.vectors.similarities(_ONES).tolist()[:1] == old.vectors.similarities(_ONES).tolist()
            (segment, *_) = workspace.state.derived.glob("*.seg")
            segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")
            with pytest.raises(DerivedFileError):
                Snapshot.open(connection, workspace.state, str(workspace.root), new)
