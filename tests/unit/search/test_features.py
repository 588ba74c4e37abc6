"""What the trees of the second stage see of a file, worked out by hand on four files."""

from __future__ import annotations

import pytest

from cairn.protocol.requests import SearchRequest
from cairn.search import learned
from cairn.search.features import FEATURES, file_features
from cairn.search.library import Library
from cairn.search.query import understand
from cairn.search.rank import first_stage
from cairn.search.rank_files import WEIGHTS, query_vector
from cairn.workspace import Workspace

QUERY = "parse cookie"
FILES = {
    "web/cookie.py": 'def parse(text):\n    """Parse one cookie."""\n    return text.split("=")\n',
    "web/jar.py": "def keep(jar, cookie):\n    jar.append(cookie)\n",
    "cookie/names.py": "SEPARATOR = 1\n\n\ndef parse(text):\n    return text\n",
    "web/color.py": "def mix(red, green):\n    return red + green\n",
}
COVERS = ("cover", "cover_name", "cover_doc", "cover_stem", "cover_path")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """What is seen of each file that a question finds."""
    root = tmp_path_factory.mktemp("features")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)

    def look(library: Library) -> dict[str, dict[str, float]]:
        query, snapshot = understand(QUERY, "hybrid"), library.snapshot
        vector = query_vector(library.model, query)
        scores = first_stage(snapshot, library.connection, query, vector, SearchRequest(query=""), WEIGHTS).scores
        blobs = learned.candidates(snapshot, scores)
        paths = [snapshot.files.paths[file] for file in snapshot.file_of_blob[blobs].tolist()]
        rows = file_features(snapshot, vector, scores, blobs).tolist()
        return {path: dict(zip(FEATURES, row, strict=True)) for path, row in zip(paths, rows, strict=True)}

    with Workspace.open(root) as workspace:
        workspace.index()
        return workspace._index.answer(look)


def of_all(row: dict[str, float]) -> list[str]:
    """Which shares are those of the whole query."""
    return [name for name in COVERS if row[name] > 0.99]


def of_some(row: dict[str, float]) -> list[str]:
    return [name for name in COVERS if row[name] > 0]


def test_a_file_covers_the_terms_that_occur_in_it(seen: dict[str, dict[str, float]]) -> None:
    assert of_all(seen["web/cookie.py"]) == ["cover", "cover_doc"]
    assert 0 < seen["web/jar.py"]["cover"] < 1


def test_names_documentation_stem_and_path_each_cover_what_occurs_in_them(seen: dict[str, dict[str, float]]) -> None:
    assert of_some(seen["web/cookie.py"]) == ["cover", "cover_name", "cover_doc", "cover_stem", "cover_path"]
    assert not {"cover_doc", "cover_stem"} & set(of_some(seen["cookie/names.py"]))
    assert "cover_path" in of_some(seen["cookie/names.py"])
    assert not {"cover_doc", "cover_stem", "cover_path"} & set(of_some(seen["web/jar.py"]))


def test_a_file_without_any_term_covers_nothing(seen: dict[str, dict[str, float]]) -> None:
    assert of_some(seen["web/color.py"]) == []
    assert seen["web/color.py"]["frequency"] == seen["web/color.py"]["density"] == 0
