"""A project that is deleted while it is open stays deleted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cairn.errors import CairnError
from cairn.workspace import Workspace


def test_a_project_that_is_deleted_while_it_is_open_is_not_made_again(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / "money.py").write_text("def tax(price):\n    return price * 1.2\n")
    with Workspace.open(root) as workspace:
        workspace.index()
        shutil.rmtree(root)
        for write in (workspace.index, workspace.refresh, lambda: workspace.memory.remember("Prices carry tax")):
            with pytest.raises(CairnError):
                write()
            assert not root.exists()


@pytest.mark.parametrize("name", ["state", ".cairn"])
def test_folders_above_a_state_folder_that_was_chosen_are_made(tmp_path: Path, name: str) -> None:
    root, state = tmp_path / "shop", tmp_path / "far" / "away" / name
    root.mkdir()
    (root / "money.py").write_text("def tax(price):\n    return price * 1.2\n")
    with Workspace.open(root, state_dir=state) as workspace:
        workspace.index()
    assert (state / "index.db").exists()
