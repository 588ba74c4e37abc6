from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cairn.search import learned
from cairn.search.features import FEATURES
from cairn.search.learned import DATA, load_forest, make_forest
from cairn.workspace import Workspace

# A tree that asks for feature 0, and, where that is above 0.5, for feature 1.
TREE = {"features": [0, 1], "thresholds": [0.5, 2.0], "values": [4.0, -1.0, 0.25, -1.0]}


def test_trees_are_walked_to_their_leaves_and_added() -> None:
    forest = make_forest({"features": ["a", "b"], "trees": [TREE, TREE]})
    rows = np.array([[0.5, 9], [0.6, 2.0], [0.6, 2.1]], dtype=np.float32)
    np.testing.assert_allclose(forest.predict(rows), [-2.0, 0.5, 8.0])


def test_the_shipped_trees_fit_the_features() -> None:
    forest = load_forest()
    assert forest is not None
    assert len(forest.values) == len(json.loads(DATA.read_text(encoding="utf-8"))["trees"])
    assert forest.features.max() < len(FEATURES)
    opinions = forest.predict(np.zeros((1, len(FEATURES)), dtype=np.float32))
    assert np.isfinite(opinions).all()


@pytest.mark.parametrize("content", [None, {"features": ["another"], "trees": []}])
def test_without_trees_that_fit_there_are_none(tmp_path: Path, content: object) -> None:
    file = tmp_path / "ranker.json"
    if content is not None:
        file.write_text(json.dumps(content), encoding="utf-8")
    assert load_forest(file) is None


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in ("cookie", "header", "session"):
        (tmp_path / f"{name}.py").write_text(f"def parse_{name}(text):\n    return text.split('{name}')\n")
    (tmp_path / "notes.md").write_text("# Cookies\n\nHow a cookie is parsed.\n")
    workspace = Workspace.open(tmp_path)
    workspace.index()
    return workspace


def test_the_first_stage_stands_alone_without_trees(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    corrected = workspace.search("where is a cookie parsed", explain=True).code
    monkeypatch.setattr(learned, "load_forest", lambda: None)
    plain = workspace.search("where is a cookie parsed", explain=True).code
    assert corrected[0].path == plain[0].path == "cookie.py"
    assert "learned" in (corrected[0].explain or {})
    assert "learned" not in (plain[0].explain or {})


def test_an_explanation_still_adds_up(workspace: Workspace) -> None:
    for hit in workspace.search("parse the header of a session", explain=True).code:
        assert hit.explain is not None
        assert sum(hit.explain.values()) == pytest.approx(hit.score, abs=2e-3)


def test_no_file_gains_on_documentation(workspace: Workspace) -> None:
    hits = {hit.path: hit for hit in workspace.search("where is a cookie parsed", explain=True).code}
    opinions = {path: (hit.explain or {}).get("learned", 0.0) for path, hit in hits.items()}
    assert opinions["notes.md"] == max(opinions.values())
