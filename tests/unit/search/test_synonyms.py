from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import synonyms as training
from cairn.search.query import understand
from cairn.search.synonyms import DATA, MAX_SYNONYMS, MAX_WORDS, synonyms_of
from cairn.source.terms import known_hash, stemmer
from cairn.workspace import Workspace


def hashes(question: str) -> set[int]:
    query = understand(question)
    return {synonym.hashed for synonym in synonyms_of(query, np.ones(len(query.terms)))}


def test_what_is_read_is_made_of_the_entries_that_people_edit() -> None:
    source = training.SOURCE.read_text("ascii")
    assert DATA.read_text("ascii") == training.stemmed(source)
    phrases = [line.split("\t")[0] for line in source.splitlines()]
    assert phrases == sorted(set(phrases))
    assert all(map(training.is_usable, phrases))


def test_no_entry_is_longer_than_a_question_is_asked_for() -> None:
    for line in DATA.read_text("ascii").splitlines():
        phrase, synonyms = line.split("\t")
        assert 0 < len(phrase.split()) <= MAX_WORDS
        assert 0 < len(synonyms.split()) <= MAX_SYNONYMS
        assert not set(phrase.split()) & set(synonyms.split())


def test_a_word_has_the_words_of_code_for_it_in_any_form() -> None:
    delete = known_hash(stemmer().stemWord("delete"))
    assert delete in hashes("where are users removed")
    assert delete in hashes("remove users")


def test_a_phrase_means_more_than_its_words() -> None:
    assert known_hash("wal") in hashes("what is a write ahead log for")
    assert known_hash("wal") not in hashes("what is written to the log")


def test_what_a_question_says_itself_is_no_synonym() -> None:
    assert known_hash(stemmer().stemWord("delete")) not in hashes("remove or delete users")


def test_a_phrase_stands_for_its_rarest_word() -> None:
    query = understand("write ahead log")
    rarity = np.array([3.0 if term.text == "ahead" else 1.0 for term in query.terms])
    of_phrase = [one for one in synonyms_of(query, rarity) if one.hashed == known_hash("wal")]
    assert [query.terms[one.term].text for one in of_phrase] == ["ahead"]


@pytest.mark.parametrize(
    "text",
    ["tests for removing users", "x", "größe", "标题"],
)
def test_texts_that_are_no_questions_for_code_have_none(text: str) -> None:
    assert hashes(text) == set()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Code that has other words for what is asked, beside code that says nothing of it."""
    root: Path = tmp_path_factory.mktemp("synonyms")
    for number, name in enumerate(("alpha", "beta", "gamma", "omega")):
        (root / f"{name}.py").write_text(f"def mix_{number}(red, green):\n    return red + green\n")
    (root / "delta.py").write_text("def delete_row(rows, row):\n    rows.discard(row)\n")
    (root / "backoff.py").write_text("def pause(count):\n    return 2**count\n")
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def test_code_that_says_it_in_other_words_is_found(workspace: Workspace) -> None:
    hit = workspace.search("how is a row removed", limit=3, explain=True).code[0]
    assert hit.path == "delta.py"
    assert hit.explain is not None
    assert hit.explain["synonym"] > 0


def test_a_file_that_is_called_in_other_words_is_found(workspace: Workspace) -> None:
    hit = workspace.search("pause, then count how often it is tried again", limit=3, explain=True).code[0]
    assert hit.path == "backoff.py"
    assert hit.explain is not None
    assert hit.explain["kin"] > 0


def test_a_long_text_has_none(workspace: Workspace) -> None:
    text = "Row cannot be removed\n\nI removed a row, and it is still in rows afterwards.\nIt should be gone.\n"
    hits = workspace.search(text, limit=3, explain=True).code
    assert hits
    assert all("synonym" not in (hit.explain or {}) for hit in hits)
