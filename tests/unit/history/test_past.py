from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cairn.history import score
from cairn.history.answers import PastAnswers
from cairn.history.past import Extent, Past, load_past, save_past
from cairn.history.score import Weighted, score_commits, score_files
from cairn.source.terms import term_hash
from cairn.storage.history.commit_db import StoredCommit

PATHS = {1: "old.py", 2: "new.py", 3: "other.py", 4: "newest.py"}
YEAR = 31_557_600


def stored(number: int, words: str, *changes: tuple[int, int], weight: float = 1.0, seconds: int = 0) -> StoredCommit:
    hashes = np.array([term_hash(word) for word in words.split()], np.uint64)
    paths = np.array([number for change in changes for number in change], np.int32)
    return StoredCommit(
        bytes([number]) * 20, seconds, words, weight, hashes.tobytes(), bytes([1] * len(hashes)), paths.tobytes()
    )


def saved(folder: Path, *commits: StoredCommit, parents: dict[int, list[int]] | None = None) -> Past:
    lines = {bytes([one]) * 20: [bytes([parent]) * 20 for parent in of] for one, of in (parents or {}).items()}
    save_past(folder / "x.past", commits, PATHS, Extent("ab" * 20, len(commits), len(commits), 100), lines)
    past = load_past(folder / "x.past")
    assert past is not None
    return past


def scores(past: Past, words: str) -> dict[str, float]:
    found = score_files(past, [Weighted(term_hash(word), 1.0) for word in words.split()])
    return {past.path_of(int(path)): float(value) for path, value in zip(found.paths, found.scores, strict=True)}


def test_commits_come_back_with_their_files_and_words(tmp_path: Path) -> None:
    past = saved(tmp_path, stored(1, "retri upload", (3, 0)), stored(2, "parser", (3, 0), (4, 0)))
    assert [past.subject_of(number) for number in range(2)] == ["retri upload", "parser"]
    assert past.hash_of(0) == "01" * 20
    assert [past.path_of(path) for path in past.paths_of(1).tolist()] == ["other.py", "newest.py"]
    assert past.extent == Extent("ab" * 20, 2, 2, 100)
    assert set(scores(past, "retri")) == {"other.py"}


def test_a_renamed_file_keeps_its_history(tmp_path: Path) -> None:
    past = saved(
        tmp_path, stored(1, "move", (4, 2)), stored(2, "rename", (2, 1)), stored(3, "retri upload", (1, 0), (3, 0))
    )
    assert set(scores(past, "retri")) == {"newest.py", "other.py"}


def test_a_branch_that_did_not_have_a_rename_yet_changed_the_renamed_file(tmp_path: Path) -> None:
    commits = (stored(1, "retri upload", (1, 0), (3, 0)), stored(2, "rename", (2, 1)), stored(3, "begin", (1, 0)))
    beside = saved(tmp_path, *commits, parents={9: [1, 2], 1: [3], 2: [3], 3: []})
    assert set(scores(beside, "retri")) == {"new.py", "other.py"}
    assert beside.renamed == {"old.py": beside.numbers["new.py"]}
    behind = saved(tmp_path, *commits, parents={1: [2], 2: [3], 3: []})
    assert set(scores(behind, "retri")) == {"old.py", "other.py"}
    assert set(scores(saved(tmp_path, *commits), "retri")) == {"old.py", "other.py"}


def test_a_rename_on_a_branch_is_followed_through_one_that_came_later(tmp_path: Path) -> None:
    commits = (stored(1, "move", (4, 2)), stored(2, "retri", (1, 0)), stored(3, "rename", (2, 1)))
    past = saved(tmp_path, *commits, parents={1: [9], 9: [3, 2], 2: [8], 3: [8], 8: []})
    assert set(scores(past, "retri")) == {"newest.py"}


def test_commits_without_weight_only_say_where_files_went(tmp_path: Path) -> None:
    past = saved(tmp_path, stored(1, "move", (2, 1), weight=0), stored(2, "retri", (1, 0)))
    assert len(past) == 1
    assert set(scores(past, "retri move")) == {"new.py"}


def test_terms_of_many_commits_count_as_those_of_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past = saved(tmp_path, stored(1, "retri upload", (3, 0)), stored(2, "retri parser", (4, 0)))
    expected = scores(past, "retri upload missing")
    monkeypatch.setattr(score, "_COMMON", 1)
    assert expected["other.py"] > expected["newest.py"] > 0
    assert scores(past, "retri upload missing") == pytest.approx(expected)


def test_a_term_of_many_commits_may_be_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past = saved(tmp_path, stored(1, "retri", (3, 0)), stored(2, "retri", (4, 0)), stored(3, "x", (4, 0)))
    monkeypatch.setattr(score, "_COMMON", 1)
    assert set(scores(past, "retri")) == {"other.py", "newest.py"}


def test_recent_and_small_commits_count_more(tmp_path: Path) -> None:
    past = saved(
        tmp_path,
        stored(1, "retri", (1, 0), seconds=20 * YEAR),
        stored(2, "retri", (3, 0), (4, 0), seconds=20 * YEAR),
        stored(3, "retri", (2, 0), seconds=0),
        stored(4, "parser", (4, 0)),
    )
    found = scores(past, "retri")
    assert found["old.py"] > found["other.py"]
    assert found["old.py"] > found["new.py"]
    assert all(0 < score < 1 for score in found.values())


def test_the_commit_that_says_most_comes_first(tmp_path: Path) -> None:
    past = saved(tmp_path, stored(1, "retri", (1, 0)), stored(2, "retri upload", (3, 0)), stored(3, "x", (3, 0)))
    found = score_commits(past, [Weighted(term_hash(word), 1.0) for word in ("retri", "upload")])
    assert found.commits.tolist() == [1, 0]
    assert found.shares[0] == 1


def test_words_that_no_commit_knows_speak_for_no_file(tmp_path: Path) -> None:
    assert scores(saved(tmp_path, stored(1, "retri", (1, 0))), "zebra") == {}
    assert scores(saved(tmp_path), "retri") == {}


def test_a_missing_damaged_or_exchanged_file_is_no_history(tmp_path: Path) -> None:
    assert load_past(tmp_path / "none.past") is None
    saved(tmp_path, stored(1, "retri", (1, 0)))
    content = (tmp_path / "x.past").read_bytes()
    (tmp_path / "y.past").write_bytes(content)
    assert load_past(tmp_path / "y.past") is None
    (tmp_path / "x.past").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert load_past(tmp_path / "x.past") is None
    (tmp_path / "x.past").write_bytes(b"")
    assert load_past(tmp_path / "x.past") is None


def test_files_of_many_common_commits_come_before_those_of_one_and_those_of_all(tmp_path: Path) -> None:
    for name in PATHS.values():
        (tmp_path / name).touch()
    both = [stored(1 + number, "both", (1, 0), (2, 0), (4, 0)) for number in range(6)]
    once = [stored(20, "once", (1, 0), (3, 0))]
    rest = [stored(30 + number, "rest", (2, 0)) for number in range(20)]
    all_of_them = [stored(60 + number, "all", (4, 0)) for number in range(150)]
    past = saved(tmp_path, *both, *once, *rest, *all_of_them)
    found, commits, omitted = PastAnswers(past, tmp_path, "").related(past.numbers["old.py"], 0)
    assert (commits, omitted) == (7, 0)
    assert (found[0].path, found[0].together, found[0].commits) == ("new.py", 6, 26)
    assert {file.path for file in found[1:]} == {"newest.py", "other.py"}
