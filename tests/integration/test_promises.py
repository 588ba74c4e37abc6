"""Short forms of the benchmarks that hold the index to what is promised of it; see bench/README.md."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import corrupt
import crowd
import fresh
from cairn.config import Settings
from cairn.index.analysis import Postings
from cairn.index.segment import Segment
from cairn.storage.arrays import save_arrays
from cairn.workspace import Workspace


@pytest.mark.parametrize("number", range(6))
def test_an_updated_index_answers_as_a_fresh_one_does(number: int, tmp_path: Path) -> None:
    assert fresh.play(tmp_path, number, seed=7, n_steps=10) == []


@pytest.mark.parametrize("number", range(len(corrupt.KINDS)), ids=lambda number: corrupt.KINDS[number].__name__)
def test_after_a_corruption_the_answers_are_those_of_a_fresh_index(number: int) -> None:
    if corrupt.KINDS[number] is corrupt.forbid and os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("root may read everything, and nothing here takes that right away")
    what, how, wrong = corrupt.one_corruption(number, seed=11)
    assert not wrong, (what, how)


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may read everything")
def test_a_state_folder_that_may_not_be_read_is_refused_with_a_hint() -> None:
    what, how, wrong = corrupt.one_corruption(130, seed=14)
    assert what == "forbid: forbid .cairn"
    assert not wrong, how


def test_ten_processes_at_once_get_no_wrong_answer(tmp_path: Path) -> None:
    found = crowd.play(tmp_path, 6.0)
    assert not found["wrong"], found["first"]


def test_equal_files_stand_by_path_though_they_were_indexed_in_another_order(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with Workspace.open(root) as workspace:
        for number in (7, 3, 9, 1):
            (root / f"part_{number}.py").write_text(f"def store(row):\n    # {number}\n    return row\n")
            workspace.index()
        paths = [hit.path for hit in workspace.search("where is a row put", limit=4).code]
        assert paths == sorted(paths)
        assert [hit.path for hit in workspace.search("store", limit=2).code] == ["part_1.py", "part_3.py"]


def test_an_index_whose_files_are_all_gone_answers_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def store(row):\n    return row\n")
    with Workspace.open(tmp_path, settings=Settings()) as workspace:
        workspace.index()
        (tmp_path / "a.py").unlink()
        workspace.index()
        assert workspace.search("where is a row put").code == ()
        assert workspace.search("store").code == ()


@pytest.mark.parametrize("claim", ["rows", "start", "blob_start", "forms", "vectors", "missing"])
def test_a_segment_whose_arrays_do_not_fit_each_other_is_read_again(claim: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def store(row):\n    return row\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        (file,) = workspace.state.derived.glob("*.seg")
        one = Segment.load(file)
        names = ("blob_ids", "blob_start", "forms", "vectors")
        arrays = {name: np.array(getattr(one, name)) for name in names}
        arrays |= {name: np.array(getattr(one.postings, name)) for name in Postings._fields}
        if claim == "missing":
            arrays.pop("hashes")
        elif claim == "vectors":
            arrays[claim] = arrays[claim][:0]
        else:
            arrays[claim].reshape(-1)[-1] = 99
        save_arrays(file, arrays)
    with Workspace.open(tmp_path) as workspace:
        assert [hit.name for hit in workspace.search("store", limit=1).code] == ["store"]
        assert not [finding for finding in workspace.upkeep.doctor(fix=True) if finding.repair and not finding.fixed]
