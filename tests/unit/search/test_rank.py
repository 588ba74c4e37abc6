from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from cairn.answers import Answer
from cairn.workspace import Workspace

PARSE = '''def parse_{name}(text):
    """Parse the {name} of a request into a header."""
    {padding}
    return parse_header(text, "{name}")
'''


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """One file with many chunks about parsing headers, some with one each, and some beside the point."""
    root = tmp_path_factory.mktemp("ranking")
    padding = "\n    ".join(f"step_{number} = text.strip()" for number in range(15))
    many = [
        PARSE.format(name=name, padding=padding) for name in ("host", "cookie", "accept", "origin", "range", "etag")
    ]
    (root / "many.py").write_text("\n\n".join(many))
    for name in ("query", "body"):
        (root / f"{name}.py").write_text(PARSE.format(name=name, padding="pass"))
    (root / "tests").mkdir()
    (root / "tests" / "test_query.py").write_text(
        'def test_parse_query():\n    """Parse the query of a request into a header."""\n    assert parse_query("x")\n'
    )
    (root / "color.py").write_text("def mix(red, green):\n    return (red + green) / 2\n")
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit in answer.code]


def test_one_file_does_not_fill_the_list(workspace: Workspace) -> None:
    answer = workspace.search("parse header of a request", limit=4)
    assert len(set(paths(answer))) >= 3


def test_scores_fall_from_first_to_last(workspace: Workspace) -> None:
    scores = [hit.score for hit in workspace.search("parse header of a request", limit=20).code]
    assert scores == sorted(scores, reverse=True)


def test_no_chunk_is_listed_twice(workspace: Workspace) -> None:
    answer = workspace.search("parse header of a request", limit=50)
    assert Counter((hit.path, hit.start_line) for hit in answer.code).most_common(1)[0][1] == 1


def test_a_shorter_list_is_the_beginning_of_a_longer_one(workspace: Workspace) -> None:
    longer = workspace.search("parse header of a request", limit=20).code
    for limit in (1, 2, 3, 5):
        shorter = workspace.search("parse header of a request", limit=limit).code
        assert [hit.id for hit in shorter] == [hit.id for hit in longer[:limit]]


def test_tests_come_behind_what_they_test_unless_asked_for(workspace: Workspace) -> None:
    plain = paths(workspace.search("parse the query of a request", limit=20))
    assert plain.index("query.py") < plain.index("tests/test_query.py")
    asked = paths(workspace.search("test that parses the query of a request", limit=20))
    assert asked[0] == "tests/test_query.py"


def test_an_explained_score_names_its_parts(workspace: Workspace) -> None:
    (best,) = workspace.search("parse_cookie", limit=1, explain=True).code
    assert best.name == "parse_cookie"
    assert best.explain is not None
    assert {"symbol", "lexical", "dense"} <= set(best.explain)
