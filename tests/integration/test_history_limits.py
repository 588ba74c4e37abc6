"""What the history does not know, or does not count, is said; what could not be read is read when it can be."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cairn.cli.main import main
from cairn.config import Settings
from cairn.errors import NotFoundError
from cairn.facets import known_past
from cairn.index.past_files import history_lock
from cairn.storage.history.schema import HISTORY
from cairn.storage.lock import write_lock
from cairn.workspace import Workspace
from conftest import Git


def commit(folder: Path, git: Git, message: str, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    (checkout / ".gitignore").write_text(".cairn\n")
    for number in range(1, 6):
        lines = "".join(f"step_{one} = {one}\n" for one in range(1, number + 1))
        commit(checkout, git, f"Extend f by number {number}", f=lines, **{f"g{number}": f"x = {number}\n"})
    return checkout


def subjects(workspace: Workspace, query: str) -> list[str]:
    return [one.subject for one in workspace.history.solve(query, limit=0).commits]


@contextmanager
def read_by_another(workspace: Workspace, seconds: float | None = None) -> Iterator[None]:
    """Hold the lock of whoever reads the history, in a thread, until the block ends or for some seconds."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with write_lock(history_lock(workspace.state), 0.0, HISTORY):
            held.set()
            done.wait(seconds)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()


# -- who else reads ----------------------------------------------------------------------------------------------------


def test_a_question_waits_for_whoever_reads_the_history(project: Path, git: Git) -> None:
    with Workspace.open(project) as workspace:
        workspace.history.update()
        newest = commit(project, git, "Write a sixth", f="other = 1\n")
        with read_by_another(workspace, 0.3):
            answer = workspace.history.solve("f.py", limit=1)
    assert answer.commits[0].hash == newest[:12]


def test_an_answer_from_before_the_last_commit_says_so(
    project: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_past, "ANSWER_SECONDS", 0.05)
    with Workspace.open(project) as workspace:
        workspace.history.update()
        newest = commit(project, git, "Write a sixth", f="other = 1\n")
        with read_by_another(workspace):
            answer = workspace.history.solve("f.py", limit=1)
        assert answer.commits[0].subject == "Extend f by number 5"
        assert f"{newest[:12]} is checked out" in answer.notes[0]
        assert workspace.history.solve("f.py", update=False).notes == answer.notes
        assert workspace.history.solve("f.py").notes == ()


# -- what does not count -----------------------------------------------------------------------------------------------


def test_a_file_that_no_commit_counts_for_is_not_said_to_be_untouched(
    checkout: Path, git: Git, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(checkout, git, "Initial commit", a="x = 1\n", b="x = 1\n")
    commit(checkout, git, "Change the other", b="x = 2\n")
    for command in ("history", "related"):
        assert main([command, "a.py", "-C", str(checkout), "--no-daemon"]) == 1
        printed = capsys.readouterr().err
        assert "No commit that Cairn counts changed a.py." in printed
        assert "Not counted: merges, reverts, releases, first commits" in printed


def test_the_limit_of_commits_is_said_wherever_it_was_reached(project: Path) -> None:
    with Workspace.open(project, settings=Settings(history_commits=2)) as workspace:
        history = workspace.history
        for answer in (history.solve("f1 of no commit"), history.solve("g1.py"), history.solve("g5.py")):
            assert "Only the newest 2 commits are read" in answer.notes[0]
        assert "Only the newest 2 commits are read" in history.related("g5.py").notes[0]
        assert (history.solve("g1.py").subject, history.solve("g1.py").commits) == ("file", ())
    with Workspace.open(project, settings=Settings(history_commits=6)) as workspace:
        assert workspace.history.solve("g5.py").notes == ()


def test_a_file_that_is_gone_still_has_its_commits(project: Path, git: Git) -> None:
    git(project, "rm", "-q", "g3.py")
    commit(project, git, "Drop what nobody uses")
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve("g3.py")
    assert answer.subject == "file"
    assert [one.subject for one in answer.commits] == ["Drop what nobody uses", "Extend f by number 3"]


def test_only_a_file_has_files_that_change_with_it(project: Path) -> None:
    (project / "inner").mkdir()
    with Workspace.open(project) as workspace, pytest.raises(NotFoundError, match="is a folder"):
        workspace.history.related("inner")


def test_a_file_of_another_repository_is_said_to_be_there(project: Path, git: Git) -> None:
    inner = project / "libs" / "sub"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    commit(inner, git, "Start inside", s="x = 1\n")
    with Workspace.open(project) as workspace:
        said = "libs/sub/s.py is in a repository of its own, libs/sub."
        assert workspace.history.related("libs/sub/s.py").notes == (said,)
        assert workspace.history.solve("libs/sub/s.py").notes == (said,)
        assert workspace.history.why("libs/sub/s.py:1").notes == (said,)


def test_numbers_and_single_letters_do_not_hide_a_subject(project: Path) -> None:
    with Workspace.open(project) as workspace:
        assert "Extend f by number 2" in subjects(workspace, "Extend f by number 2")


def test_a_definition_that_is_newer_than_the_index_is_known(project: Path, git: Git) -> None:
    with Workspace.open(project) as workspace:
        workspace.index()
        commit(project, git, "Write helpers", helpers="def zeta(): ...\n")
        answer = workspace.history.solve("zeta")
    assert (answer.subject, [one.subject for one in answer.commits]) == ("symbol", ["Write helpers"])


# -- what cannot be read -----------------------------------------------------------------------------------------------


def test_the_commits_at_which_a_clone_ended_come_with_the_rest(project: Path, git: Git, tmp_path: Path) -> None:
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=3", project.as_uri(), str(clone))
    with Workspace.open(clone) as workspace:
        assert subjects(workspace, "f.py") == ["Extend f by number 5", "Extend f by number 4"]
        git(clone, "fetch", "-q", "--unshallow")
        assert subjects(workspace, "f.py") == [f"Extend f by number {number}" for number in (5, 4, 3, 2, 1)]
        assert workspace.history.related("g3.py").commits == 1


def test_the_commit_at_which_a_clone_ends_is_not_said_to_change_all_files(
    project: Path, git: Git, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", project.as_uri(), "shallow")
    with Workspace.open(tmp_path / "shallow") as workspace:
        answer = workspace.history.why("f.py:1")
    assert [(one.subject, one.files) for one in answer.commits] == [("Extend f by number 5", ())]
    assert "shallow" in answer.notes[0]


@contextmanager
def missing(project: Path, git: Git, name: str) -> Iterator[None]:
    """Take an object out of a repository."""
    whole = git(project, "rev-parse", name)
    file = project / ".git" / "objects" / whole[:2] / whole[2:]
    aside = file.with_suffix(".aside")
    file.rename(aside)
    yield
    aside.rename(file)


def test_a_commit_that_git_could_not_read_is_read_once_it_can_be(project: Path, git: Git) -> None:
    with Workspace.open(project) as workspace:
        with missing(project, git, "HEAD~2^{tree}"):
            answer = workspace.history.solve("f.py", limit=0)
            assert [one.subject[-1] for one in answer.commits] == ["5", "2", "1"]
            assert answer.notes == ("git cannot read all commits; to see why: git fsck",)
        answer = workspace.history.solve("f.py", limit=0)
    assert [one.subject[-1] for one in answer.commits] == ["5", "4", "3", "2", "1"]
    assert answer.notes == ()


def test_lines_whose_commits_git_cannot_follow_are_not_said_to_have_none(project: Path, git: Git) -> None:
    with Workspace.open(project) as workspace:
        with missing(project, git, "HEAD~2^{tree}"):
            answer = workspace.history.why("f.py:1-5")
        assert answer.commits
        assert "git ended with an error, so there may be other commits" in answer.notes[-1]
        with missing(project, git, "HEAD:f.py"):
            answer = workspace.history.why("f.py:1")
        assert answer.commits == ()
        assert "git cannot read f.py in the commit" in answer.notes[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("diff.orderFile", "/nonexistent/order"), ("i18n.logOutputEncoding", "UTF-16"), ("diff.renames", "false")],
)
def test_settings_of_a_repository_do_not_change_what_shaped_a_line(
    name: str, value: str, project: Path, git: Git
) -> None:
    git(project, "mv", "f.py", "h.py")
    commit(project, git, "Call it h")
    git(project, "config", name, value)
    with Workspace.open(project) as workspace:
        found = [one.subject for one in workspace.history.why("h.py:1-5", limit=0).commits]
    assert [subject for subject in found if subject != "Call it h"] == [
        f"Extend f by number {n}" for n in (5, 4, 3, 2, 1)
    ]


def test_a_setting_that_git_refuses_is_not_taken_for_no_commit(project: Path, git: Git) -> None:
    git(project, "config", "diff.context", "many")
    with Workspace.open(project) as workspace:
        answer = workspace.history.why("f.py:1")
    assert "to see why: git log -L1,1:f.py" in answer.notes[-1]


# -- lines -------------------------------------------------------------------------------------------------------------


def test_a_line_that_a_merge_alone_wrote_shows_the_merge(project: Path, git: Git) -> None:
    git(project, "checkout", "-q", "-b", "side")
    commit(project, git, "Write on the side", side="x = 1\n")
    git(project, "checkout", "-q", "main")
    commit(project, git, "Write on main", main="x = 1\n")
    git(project, "merge", "-q", "--no-commit", "side")
    (project / "f.py").write_text((project / "f.py").read_text().replace("step_3 = 3", "step_3 = 33"))
    commit(project, git, "Join both")
    with Workspace.open(project) as workspace:
        assert workspace.history.why("f.py:3").commits[0].subject == "Join both"
        assert "Join both" not in [one.subject for one in workspace.history.why("f.py:2").commits]


def test_how_many_lines_are_not_committed_is_said(project: Path) -> None:
    (project / "f.py").write_text("new = 1\n" + (project / "f.py").read_text())
    with Workspace.open(project) as workspace:
        assert "1 of these 2 lines are not committed yet." in workspace.history.why("f.py:1-2").notes
        assert workspace.history.why("f.py:3-2").line == 2


def test_a_file_that_was_moved_and_not_committed_yet_keeps_its_history(project: Path, git: Git) -> None:
    git(project, "mv", "f.py", "h.py")
    (project / "new.py").write_text("x = 9\n")
    git(project, "add", "new.py")
    with Workspace.open(project) as workspace:
        history = workspace.history
        assert [one.subject for one in history.why("h.py:3").commits] == ["Extend f by number 3"]
        assert len(history.solve("h.py", limit=0).commits) == 5
        assert history.related("h.py").files
        for notes in (history.why("h.py:3").notes, history.solve("h.py").notes, history.related("h.py").notes):
            assert "h.py was f.py in the last commit." in notes
        assert history.why("new.py:1").notes[-1] == "new.py is not in the last commit."


def test_a_path_that_never_was_is_not_taken_for_words_in_silence(project: Path) -> None:
    with Workspace.open(project) as workspace:
        found = workspace.history.solve("extend/number")
        said = "There is no file extend/number here, and no commit that counts changed one; these have its words."
        assert found.notes[0] == said
        with pytest.raises(NotFoundError, match=r"there is no file gone\.py"):
            workspace.history.why("gone.py:1")


def test_a_commit_at_which_a_clone_ends_is_said_to_prove_nothing(project: Path, git: Git, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", str(clone))
    with Workspace.open(clone) as workspace:
        shaped = workspace.history.why("f.py:1")
    assert (
        shaped.notes[-1]
        == f"This clone ends at {shaped.commits[0].hash[:12]}, which need not have changed these lines."
    )


def test_a_history_that_cannot_be_marked_as_complete_is_read_all_the_same(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace.open(project) as workspace:
        assert workspace.history.solve("number").commits

        def refuse(*_: object, **__: object) -> None:
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr(os, "utime", refuse)
        assert workspace.history.solve("number").commits


def test_an_empty_answer_says_that_no_commits_were_read(project: Path) -> None:
    with Workspace.open(project) as workspace:
        workspace.refresh()
        unread = [str(note) for note in workspace.search("payment gateway timeouts of customers").notes]
        assert any(note.startswith("No commits were read yet") for note in unread)
        workspace.history.update()
        read = [str(note) for note in workspace.search("payment gateway timeouts of customers").notes]
        assert not any(note.startswith("No commits were read yet") for note in read)


def test_a_new_blank_line_and_a_file_without_lines_are_told_from_others(project: Path) -> None:
    (project / "f.py").write_text((project / "f.py").read_text() + "\nlast = 1\n")
    (project / "empty.py").write_text("")
    with Workspace.open(project) as workspace:
        assert "not committed yet" in workspace.history.why("f.py:6").notes[-1]
        with pytest.raises(NotFoundError, match="has 0 lines"):
            workspace.history.why("empty.py:1")


def test_files_of_a_commit_that_have_another_name_by_now_are_counted_only(project: Path, git: Git) -> None:
    many = {f"n{number}": f"x = {number}\n" for number in range(70)}
    commit(project, git, "Import all", **many)
    (project / "e").mkdir()
    git(project, "mv", *(f"{name}.py" for name in many), "e")
    commit(project, git, "Move all")
    with Workspace.open(project) as workspace:
        imported = workspace.history.why("e/n1.py:1").commits[-1]
    assert (imported.subject, imported.files, imported.omitted_files) == ("Import all", (), 70)


def test_a_path_may_have_any_characters(project: Path, git: Git) -> None:
    (project / "new\nline.py").write_text("x = 1\n")
    commit(project, git, "Add an odd name")
    with Workspace.open(project) as workspace:
        [found] = workspace.history.why("new\nline.py:1").commits
        assert found.subject == "Add an odd name"
        assert "cannot be printed" in workspace.history.related("new\nline.py").notes[-1]
    assert os.path.exists(project / "new\nline.py")
