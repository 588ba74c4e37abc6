from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from cairn.protocol.requests import SearchRequest
from cairn.search import learned
from cairn.search.any_length import understand_text
from cairn.search.features import FEATURES, WORK_ITEM_FEATURES
from cairn.search.learned import DATA, WORK_ITEM_DATA, correct, load_forest, make_forest
from cairn.search.library import Library
from cairn.search.rank import first_stage
from cairn.search.rank_files import WEIGHTS, query_vector
from cairn.workspace import Workspace

# A tree that asks for feature 0, and, where that is above 0.5, for feature 1.
TREE = {"features": [0, 1], "thresholds": [0.5, 2.0], "values": [4.0, -1.0, 0.25, -1.0]}


def test_trees_are_walked_to_their_leaves_and_added() -> None:
    forest = make_forest({"features": ["a", "b"], "trees": [TREE, TREE]})
    rows = np.array([[0.5, 9], [0.6, 2.0], [0.6, 2.1]], dtype=np.float32)
    np.testing.assert_allclose(forest.predict(rows), [-2.0, 0.5, 8.0])


@pytest.mark.parametrize(("file", "features"), [(DATA, FEATURES), (WORK_ITEM_DATA, WORK_ITEM_FEATURES)])
def test_the_shipped_trees_fit_the_features(file: Path, features: tuple[str, ...]) -> None:
    forest = load_forest(file)
    assert forest is not None
    assert len(forest.values) == len(json.loads(file.read_text(encoding="utf-8"))["trees"])
    assert forest.features.max() < len(features)
    opinions = forest.predict(np.zeros((1, len(features)), dtype=np.float32))
    assert np.isfinite(opinions).all()


@pytest.mark.parametrize("name", ["lexical", "joint", "cover", "cover_name", "stem", "density"])
def test_more_of_what_a_question_asks_for_never_lowers_a_file(name: str) -> None:
    forest = load_forest(DATA)
    assert forest is not None
    rows = np.random.default_rng(0).random((500, len(FEATURES)), dtype=np.float32)
    better = rows.copy()
    better[:, FEATURES.index(name)] += 0.2
    assert (forest.predict(better) >= forest.predict(rows) - 1e-4).all()


@pytest.mark.parametrize("content", [None, {"features": ["another"], "trees": []}])
def test_without_trees_that_fit_there_are_none(tmp_path: Path, content: object) -> None:
    file = tmp_path / "ranker.json"
    if content is not None:
        file.write_text(json.dumps(content), encoding="utf-8")
    assert load_forest(file) is None


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    for name in ("cookie", "header", "session"):
        (tmp_path / f"{name}.py").write_text(f"def parse_{name}(text):\n    return text.split('{name}')\n")
    (tmp_path / "notes.md").write_text("# Cookies\n\nHow a cookie is parsed.\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index()
        yield workspace


def test_the_first_stage_stands_alone_without_trees(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    corrected = workspace.search("where is a cookie parsed", explain=True).code
    monkeypatch.setattr(learned, "load_forest", lambda _: None)
    plain = workspace.search("where is a cookie parsed", explain=True).code
    assert corrected[0].path == plain[0].path == "cookie.py"
    assert "learned" in (corrected[0].explain or {})
    assert "learned" not in (plain[0].explain or {})


def test_an_explanation_still_adds_up(workspace: Workspace) -> None:
    for hit in workspace.search("parse the header of a session", explain=True).code:
        assert hit.explain is not None
        assert sum(hit.explain.values()) == pytest.approx(hit.score, abs=2e-3)


def opinions_of(workspace: Workspace, query: str) -> dict[str, float]:
    return {hit.path: (hit.explain or {}).get("learned", 0.0) for hit in workspace.search(query, explain=True).code}


@pytest.mark.parametrize("query", ["documentation of how a cookie is parsed", "Fix how a cookie is parsed"])
def test_no_file_gains_on_documentation_that_may_be_meant(workspace: Workspace, query: str) -> None:
    opinions = opinions_of(workspace, query)
    assert opinions["notes.md"] == max(opinions.values())


def test_documentation_that_nobody_asks_for_is_corrected_as_code_is_on_average(workspace: Workspace) -> None:
    opinions = opinions_of(workspace, "where is a cookie parsed")
    code = [value for path, value in opinions.items() if path != "notes.md"]
    assert opinions["notes.md"] == pytest.approx(sum(code) / len(code), abs=2e-4)


@pytest.mark.parametrize(("text", "is_own"), [("Fix the cookie of a session", True), ("cookie of sessions", False)])
def test_work_items_are_ranked_by_trees_of_their_own(workspace: Workspace, text: str, *, is_own: bool) -> None:
    def opinions(library: Library, *, kind: bool) -> list[float]:
        query = understand_text(text, "hybrid")
        snapshot, vector = library.snapshot, query_vector(library.model, query)
        scores = first_stage(snapshot, library.connection, query, vector, SearchRequest(query=""), WEIGHTS).scores
        correct(snapshot, vector, scores, WEIGHTS, for_work_item=kind)
        return [round(float(value), 5) for value in scores.of_blobs["learned"]]

    hits = {hit.path: (hit.explain or {}).get("learned", 0.0) for hit in workspace.search(text, explain=True).code}
    index = workspace._index
    own, others = (index.answer(partial(opinions, kind=kind)) for kind in (is_own, not is_own))
    assert own != others
    assert sorted(hits.values()) == pytest.approx(sorted(WEIGHTS.learned * value for value in own), abs=2e-4)
