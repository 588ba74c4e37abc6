from __future__ import annotations

from pathlib import Path

import pytest

from cairn.source import shaping
from cairn.source.plumbing import ForbiddenCommandError, start_git
from cairn.source.shaping import CommittedLines, Shapings, lines_in_commit, lines_of, shaped_by
from conftest import Git

SECONDS = 120.0  # so long that it never matters


@pytest.fixture
def busy(checkout: Path, git: Git) -> Path:
    """A checkout with a file of six commits, whose last line is from the first and whose first is from each."""
    for number in range(6):
        (checkout / "a.py").write_text(f"x = {number}\n" + "#\n" * 20 + "y = 1\n")
        git(checkout, "add", ".")
        git(checkout, "commit", "-qm", f"count {number}")
    return checkout


def ask(root: Path, git: Git, line: int, *, limit: int = 3, seconds: float = SECONDS) -> tuple[list[str], Shapings]:
    found = shaped_by(root, git(root, "rev-parse", "HEAD").strip(), "a.py", [(line, line)], limit, seconds)
    return [git(root, "log", "-1", "--format=%s", one.hash).strip() for one in found.commits], found


def test_the_commit_of_an_old_line_of_a_busy_file_is_found(busy: Path, git: Git) -> None:
    subjects, found = ask(busy, git, 22)
    assert subjects == ["count 0"]
    assert not found.is_cut


def test_no_more_than_the_newest_are_named_and_the_time_was_not_up(busy: Path, git: Git) -> None:
    subjects, found = ask(busy, git, 1)
    assert subjects == ["count 5", "count 4", "count 3"]
    assert not found.is_cut


def test_who_wrote_a_line_last_is_known_when_the_time_to_follow_it_is_up(
    busy: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shaping, "_follow", lambda *_: Shapings([], is_cut=True))
    for line, last in ((22, "count 0"), (1, "count 5")):
        subjects, found = ask(busy, git, line)
        assert subjects == [last]
        assert found.is_cut


def test_a_line_that_a_merge_wrote_is_of_the_merge(busy: Path, git: Git) -> None:
    git(busy, "switch", "-qc", "topic")
    git(busy, "commit", "-q", "--allow-empty", "-m", "empty")
    git(busy, "switch", "-q", "-")
    git(busy, "merge", "-q", "--no-ff", "--no-commit", "topic")
    (busy / "a.py").write_text((busy / "a.py").read_text() + "z = 1\n")
    git(busy, "add", ".")
    git(busy, "commit", "-qm", "both")
    subjects, found = ask(busy, git, 23)
    assert subjects == ["both"]
    assert not found.is_cut


def test_blame_is_asked_for_in_its_safe_form_alone(busy: Path) -> None:
    with pytest.raises(ForbiddenCommandError):
        start_git(busy, ["blame", "--incremental", "HEAD", "--", "a.py"])


def test_lines_between_which_some_were_deleted_are_ranges_of_their_own() -> None:
    before = b"a\nb\nc\nd\ne\n"
    assert lines_in_commit(before, b"a\nd\nnew\ne\n", 1, 4) == CommittedLines([(1, 1), (4, 5)], 1)
    assert lines_in_commit(before, b"new\n", 1, 1) is None


def test_lines_of_a_file_that_git_stores_in_another_encoding_are_found() -> None:
    text = "class Größe:\n    width = 1\n    Ċ = 2\n"
    now = text.replace("\n", "\r\n").encode("utf-16")
    found = lines_in_commit(text.encode(), now, 2, 3)
    assert found is not None
    assert (found.ranges, found.n_new) == ([(2, 3)], 0)
    assert len(lines_of(now)) == 3


def test_very_many_ranges_are_asked_for_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shaping, "_MOST_RANGES", 2)
    assert lines_in_commit(b"a\nb\nc\nd\ne\n", b"a\nc\ne\n", 1, 3) == CommittedLines([(1, 5)], 0)


def test_commits_that_shaped_only_what_was_deleted_between_lines_are_not_named(checkout: Path, git: Git) -> None:
    for message, content in (("ends", "a\nz\n"), ("middle", "a\nm\nz\n")):
        (checkout / "a.py").write_text(content)
        git(checkout, "add", ".")
        git(checkout, "commit", "-qm", message)
    head = git(checkout, "rev-parse", "HEAD").strip()
    of_log = shaped_by(checkout, head, "a.py", [(1, 1), (3, 3)], 9, SECONDS).commits
    of_blame = shaping._blame(checkout, head, "a.py", [(1, 1), (3, 3)], SECONDS)
    for found in (of_log, of_blame):
        assert [git(checkout, "log", "-1", "--format=%s", one.hash).strip() for one in found] == ["ends"]
