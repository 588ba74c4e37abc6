"""What a project's commits say of its files beside their words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cairn.history.past import Extent, Past, load_past, save_past
from cairn.search.habits import last_changes, scope_changes, scope_of, words_of
from cairn.search.query import understand
from cairn.source.terms import term_hash, terms_of
from cairn.storage.history.commit_db import StoredCommit

PATHS = {1: "router/match.py", 2: "router/tree.py", 3: "cache/store.py", 4: "changes.md"}


def past_of(folder: Path, *commits: tuple[str, list[int]]) -> Past:
    """Return a history of these subjects and files, newest first."""
    stored = []
    for number, (subject, files) in enumerate(commits):
        words = [term for word in subject.lower().replace(":", " ").split() for term in terms_of(word, (word,))]
        hashes = np.array([term_hash(word) for word in words], np.uint64).tobytes()
        changes = np.array([pair for file in files for pair in (file, 0)], np.int32).tobytes()
        row = StoredCommit(bytes([number + 1]) * 20, -number, subject, 1.0, hashes, bytes([1] * len(words)), changes)
        stored.append(row)
    save_past(folder / "x.past", stored, PATHS, Extent("ab" * 20, len(stored), len(stored), 100))
    past = load_past(folder / "x.past")
    assert past is not None
    return past


def by_path(past: Past, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> dict[str, float]:
    return {past.path_of(number): round(float(value), 3) for number, value in enumerate(values)}


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("router: keep the query", "router"),
        ("fix(Router): keep the query", "router"),
        ("[router] keep the query", "router"),
        ("modules/http: keep it", "modules/http"),
        ("fix: keep the query", ""),
        ("keep the query", ""),
        ("std::vector grows", ""),
    ],
)
def test_a_scope_is_what_a_subject_names_in_front(text: str, scope: str) -> None:
    assert scope_of(text) == scope


def test_the_last_commits_count_most_and_speak_for_their_folders(tmp_path: Path) -> None:
    past = past_of(tmp_path, ("one", [1]), ("two", [3]), *(("older", [4]) for _ in range(60)))
    found = last_changes(past)
    last = by_path(past, found["last"])
    assert last["router/match.py"] == 1.0 > last["cache/store.py"] == 0.85
    assert by_path(past, found["last_folder"])["router/match.py"] > 0.1
    older = last_changes(past.behind(0))
    assert by_path(past, older["last"])["router/match.py"] == 0.0


def test_a_scope_speaks_for_the_folder_of_the_commits_that_named_it(tmp_path: Path) -> None:
    named = ("router: one", [1]), ("router: two", [1]), ("cache: three", [3])
    past = past_of(tmp_path, *named, ("router bug", [4]), ("all", [2]))
    found = by_path(past, scope_changes(past, understand("router: keep it", "hybrid")))
    assert found["router/tree.py"] == found["router/match.py"] > 0.5
    assert found["cache/store.py"] == found["changes.md"] == 0.0
    assert not scope_changes(past, understand("router keeps it", "hybrid")).any()


def test_of_a_long_text_only_the_words_that_say_most_are_looked_up(tmp_path: Path) -> None:
    few = [f"{letter}olm" for letter in "bcdfghjklmnpqrtvwxyz"] + [f"{letter}ulm" for letter in "bdgk"]
    past = past_of(tmp_path, *((word, [1]) for word in few), *(("common", [3]) for _ in range(9)))
    assert by_path(past, words_of(past, understand(" ".join([*few[:3], "common"]), "hybrid"))["words"])[
        "cache/store.py"
    ]
    found = by_path(past, words_of(past, understand(" ".join(["common", *few]), "hybrid"))["words"])
    assert found["router/match.py"] > found["cache/store.py"] == 0


def test_a_word_tells_most_of_files_that_change_seldom_without_it(tmp_path: Path) -> None:
    commits = [("upload retri", [3, 4]) if number % 10 == 0 else ("another thing", [1, 4]) for number in range(60)]
    past = past_of(tmp_path, *commits)
    found = by_path(past, words_of(past, understand("retri", "hybrid"))["telling"])
    assert found["cache/store.py"] > 3 * found["changes.md"]
    assert found["router/match.py"] == 0.0
