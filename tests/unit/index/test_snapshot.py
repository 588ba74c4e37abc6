from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from cairn.errors import DerivedFileError
from cairn.index.snapshot import Snapshot, term_frequencies
from cairn.source.terms import term_hash
from cairn.storage.index.chunk_db import read_chunks
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
    assert snapshot.n_rows == report.chunks == len(snapshot.file_of_row)
    assert (snapshot.file_of_row >= 0).all()
    assert (snapshot.n_rows > 0) == (n_files > 0)


def test_rows_are_those_of_the_view_whatever_else_the_index_holds(tmp_path: Path) -> None:
    texts = {f"part{number}.py": f"def part{number}():\n    return {number} + shared\n" for number in range(6)}
    project, alone = tmp_path / "project", tmp_path / "alone"
    for folder in (project, alone):
        folder.mkdir()
    with Workspace.open(project) as workspace, Workspace.open(alone) as fresh:
        for shown in (["part3.py", "part0.py"], ["part1.py", "part2.py", "part4.py", "part5.py"]):
            for path in shown:
                (project / path).write_text(texts[path])
            workspace.index()
        for path in ("part0.py", "part2.py", "part5.py"):
            (project / path).unlink()
        for path in ("part1.py", "part3.py", "part4.py"):
            (alone / path).write_text(texts[path])
        workspace.index()
        fresh.index()
        mixed, own = _facts_of_rows(workspace), _facts_of_rows(fresh)
    assert len(own) == 3
    assert mixed == own


def test_how_often_terms_occur_is_counted_in_the_rows_of_the_view(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"part{number}.py").write_text(f"def part{number}():\n    return common + {number}\n")
    hashed = [term_hash("common"), term_hash("part"), term_hash("nowher")]
    with Workspace.open(tmp_path) as workspace:
        for n_files in (4, 3):
            for number in range(n_files, 4):
                (tmp_path / f"part{number}.py").unlink()
            workspace.index()
            with closing(workspace.state.open_for_reading()) as connection:
                snapshot = Snapshot.open(connection, workspace.state, str(workspace.root))
            found = snapshot.term_rows(hashed)
            counted = np.bincount(found.terms, minlength=3).tolist()
            assert term_frequencies(snapshot, hashed).tolist() == counted == [n_files, n_files, 0]


class _Known(dict[int, int]):
    """What is known of terms, whenever another thread may see it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    def __setitem__(self, term: int, count: int) -> None:
        super().__setitem__(term, count)
        self.seen.append(count)


def test_a_term_that_is_being_counted_is_not_known_by_half(tmp_path: Path) -> None:
    with Workspace.open(tmp_path) as workspace:
        for number in range(2):
            (tmp_path / f"part{number}.py").write_text(f"def part{number}():\n    return common + {number}\n")
            workspace.index()
        with closing(workspace.state.open_for_reading()) as connection:
            snapshot = Snapshot.open(connection, workspace.state, str(workspace.root))
    snapshot._frequencies = known = _Known()
    assert term_frequencies(snapshot, [term_hash("common")]).tolist() == known.seen == [2]


def _facts_of_rows(workspace: Workspace) -> list[tuple[object, ...]]:
    """Return of every row its path, form, cosine, whether it has a word, and its stable number; by path."""
    with closing(workspace.state.open_for_reading()) as connection:
        snapshot = Snapshot.open(connection, workspace.state, str(workspace.root))
        having = set(snapshot.term_rows([term_hash("share")]).rows.tolist())
        chunks = read_chunks(connection, snapshot.chunk_ids(range(snapshot.n_rows)))
        cosines = snapshot.vectors.similarities(_ONES)
        np.testing.assert_array_equal(snapshot.vectors.similarities_of(np.arange(snapshot.n_rows), _ONES), cosines)
        return sorted(
            (
                snapshot.files.paths[snapshot.file_of_row[row]],
                int(snapshot.forms[row]),
                float(cosines[row]),
                row in having,
                chunks[snapshot.chunk_ids([row])[0]].key,
            )
            for row in range(snapshot.n_rows)
        )


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
            assert (new.n_rows, new.generation > old.generation) == (2, True)
            assert new.vectors.similarities(_ONES).tolist()[:1] == old.vectors.similarities(_ONES).tolist()
            (segment, *_) = workspace.state.derived.glob("*.seg")
            segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")
            with pytest.raises(DerivedFileError):
                Snapshot.open(connection, workspace.state, str(workspace.root), new)
