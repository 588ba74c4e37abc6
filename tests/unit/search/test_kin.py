from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.search.kin import kin_of_word
from cairn.source.terms import stemmer
from cairn.workspace import Workspace

PAIRS = (
    ("parsing", "parser"),
    ("routes", "router"),
    ("handling", "handler"),
    ("logging", "logger"),
    ("running", "runner"),
    ("formats", "formatter"),
    ("extraction", "extractor"),
    ("copy", "copier"),
    ("retried", "retrier"),
)


@pytest.mark.parametrize(("act", "agent"), PAIRS)
def test_an_act_and_who_does_it_are_kin(act: str, agent: str) -> None:
    stem = stemmer().stemWord
    assert stem(agent) in kin_of_word(act)
    assert stem(act) in kin_of_word(agent)


@pytest.mark.parametrize("word", ["", "a", "io", "er", "x86", "3", "größe", "заголовок", "标题", "s" * 500])
def test_any_word_has_few_kin_and_itself_is_none_of_them(word: str) -> None:
    kin = kin_of_word(word)
    assert len(kin) <= 8
    assert stemmer().stemWord(word) not in kin


def test_kin_are_always_in_the_same_order() -> None:
    kin_of_word.cache_clear()
    first = kin_of_word("formatted")
    kin_of_word.cache_clear()
    assert first == kin_of_word("formatted")
    assert len(set(first)) == len(first)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A file called after who does it, beside others whose code says the same."""
    root: Path = tmp_path_factory.mktemp("kin")
    (root / "lib").mkdir()
    for number, name in enumerate(("alpha", "runner", "omega")):
        (root / "lib" / f"{name}.py").write_text(
            f"def start_{number}(suite):\n    for one in suite:\n        one.begin()\n"
        )
    (root / "lib" / "other.py").write_text("def mix(red, green):\n    return red + green\n")
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def test_a_file_called_after_who_does_it_comes_first(workspace: Workspace) -> None:
    hits = workspace.search("running a suite", limit=3).code
    assert hits[0].path == "lib/runner.py"


def test_what_the_question_itself_says_is_nobodys_kin(workspace: Workspace) -> None:
    hit = workspace.search("start running the suite runner", limit=3, explain=True).code[0]
    assert hit.path == "lib/runner.py"
    assert hit.explain is not None
    assert "kin" not in hit.explain
    other = workspace.search("running a suite", limit=3, explain=True).code[0]
    assert other.explain is not None
    assert other.explain["kin"] > 0


def test_a_subject_of_a_change_has_no_kin(workspace: Workspace) -> None:
    hits = workspace.search("Fix running a suite", limit=3, explain=True).code
    assert all("kin" not in (hit.explain or {}) for hit in hits)


@pytest.mark.parametrize(("form", "word"), [("written", "write"), ("thrown", "throw"), ("indices", "index")])
def test_an_irregular_form_has_the_word_that_it_is_of(form: str, word: str) -> None:
    stem = stemmer().stemWord
    assert kin_of_word(form) == (stem(word), *kin_of_word(word))
