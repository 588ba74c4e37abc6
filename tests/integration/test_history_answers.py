"""Answers from the history say what a question was taken for, what they count, and where they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cairn.cli.main import main
from cairn.config import Settings
from cairn.errors import NotFoundError
from cairn.facets import past_solver, shaped_lines
from cairn.workspace import Workspace
from conftest import Git


def commit(folder: Path, git: Git, message: str, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD").strip()


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    (checkout / ".gitignore").write_text(".cairn\n")
    for number in range(1, 6):
        text = f"def grow():\n    return {number}\n"
        commit(checkout, git, f"Count to {number}", steps=text, **{f"n{number}": f"width = {number}\n"})
    return checkout


def subjects(workspace: Workspace, query: str) -> list[str]:
    return [one.subject for one in workspace.history.solve(query, limit=0).commits]


# -- words and names ---------------------------------------------------------------------------------------------------


def test_a_plain_word_is_not_taken_for_a_value_of_that_name(project: Path, git: Git) -> None:
    commit(project, git, "Limit the width of tables", table="def table():\n    width = 3\n    return width\n")
    with Workspace.open(project) as workspace:
        workspace.index()
        answer = workspace.history.solve("width")
    assert (answer.subject, [one.subject for one in answer.commits]) == ("query", ["Limit the width of tables"])


def test_a_plain_word_that_many_commits_say_is_meant_as_one(project: Path, git: Git) -> None:
    for number in range(6):
        commit(project, git, f"Let trees grow {number}", trees=f"n = {number}\n")
    with Workspace.open(project) as workspace:
        workspace.index()
        answer = workspace.history.solve("grow", limit=0)
    assert (answer.subject, len(answer.commits)) == ("query", 6)
    assert "grow is also defined at steps.py:1." in answer.notes[0]
    assert "cairn why steps.py:1-2" in answer.notes[0]


def test_the_definition_that_a_plain_word_was_taken_for_is_named_with_how_to_ask_for_the_word(project: Path) -> None:
    with Workspace.open(project) as workspace:
        workspace.index()
        answer = workspace.history.solve("grow", limit=0)
        assert (answer.subject, len(answer.commits)) == ("symbol", 5)
        assert answer.notes == (
            "For the commits that say grow: cairn history 'about grow'",
            "These commits shaped steps.py:1.",
        )
        assert workspace.history.solve("about grow").subject == "query"
        assert (answer.read, answer.listed) == (5, 5)


def test_a_definition_that_is_not_committed_says_so(project: Path) -> None:
    (project / "fresh.py").write_text("def zeta_of_it(): ...\n")
    with Workspace.open(project) as workspace:
        workspace.index()
        notes = workspace.history.solve("zeta_of_it").notes
        assert "zeta_of_it is defined at fresh.py:1." in notes
        assert "fresh.py is not in the last commit." in notes


def test_a_name_without_an_index_says_what_would_know_it(project: Path) -> None:
    with Workspace.open(project) as workspace:
        for name in ("growTallerTrees", "countTo", "trees"):
            assert any("cairn index" in note for note in workspace.history.solve(name).notes)
        assert workspace.history.solve("count").notes == ()
        workspace.index()
        assert not any("cairn index" in note for note in workspace.history.solve("growTallerTrees").notes)


# -- counts and limits -------------------------------------------------------------------------------------------------


def test_more_commits_than_are_looked_for_are_said_to_be_there(
    project: Path, git: Git, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (shaped_lines, past_solver):
        monkeypatch.setattr(module, "MOST_COMMITS", 3)
    for number in range(4):
        commit(project, git, f"Do more (#{number}, #77)", more=f"x = {number}\n")
    with Workspace.open(project) as workspace:
        shaped = workspace.history.why("steps.py:2", limit=1)
        assert (len(shaped.commits), shaped.omitted, shaped.is_cut) == (1, 2, True)
        assert "Only the newest 3 commits that shaped these lines were looked for" in shaped.notes[-1]
        numbered = workspace.history.solve("#77", limit=0)
        assert (len(numbered.commits), numbered.is_cut) == (3, True)
        assert "Only the newest 3 commits that give this number" in numbered.notes[-1]
        assert not workspace.history.why("n1.py:1").is_cut
    assert main(["why", "steps.py:2", "-n", "1", "-C", str(project), "--no-daemon"]) == 0
    assert "At least 2 more commits; raise -n to see them." in capsys.readouterr().err


def test_the_files_of_an_answer_are_those_of_all_commits_found(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["history", "count to", "-n", "1", "-C", str(project), "--no-daemon"]
    assert main(asked) == 0
    assert "The 5 commits found changed:\n  steps.py  (5 commits)\n" in capsys.readouterr().out
    assert main([*asked, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (len(answer["commits"]), answer["omitted"], answer["files"][0]["commits"]) == (1, 4, 5)


def test_the_file_itself_is_not_counted_among_what_else_a_commit_changed(project: Path, git: Git) -> None:
    commit(project, git, "Write letters", **{f"letter_{one}": f"{one} = 1\n" for one in "abcdefghijkl"})
    git(project, "mv", "letter_l.py", "last.py")
    commit(project, git, "Name the last one")
    with Workspace.open(project) as workspace:
        for path in ("letter_k.py", "last.py"):
            found = workspace.history.why(f"{path}:1", limit=0).commits[-1]
            assert (found.subject, len(found.files), found.omitted_files) == ("Write letters", 8, 3)


# -- commits by number and hash ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["[Fix #12] Count what grows", "Count what grows (#12)", "Fixes GH-12: count"])
def test_the_commit_that_the_number_of_a_subject_identifies_comes_first(query: str, project: Path, git: Git) -> None:
    commit(project, git, "[Fix #12] Do quite another thing", n1="width = 7\n")
    commit(project, git, "Count on", n2="width = 7\n")
    with Workspace.open(project) as workspace:
        assert subjects(workspace, query)[0] == "[Fix #12] Do quite another thing"


def test_a_commit_that_is_not_behind_what_is_checked_out_is_said_to_be_aside(project: Path, git: Git) -> None:
    git(project, "switch", "-qc", "side")
    aside = commit(project, git, "Go aside", side="x = 1\n")
    git(project, "switch", "-q", "-")
    with Workspace.open(project) as workspace:
        assert "This commit is not behind what is checked out." in workspace.history.solve(aside).notes
        head = git(project, "rev-parse", "HEAD").strip()
        assert workspace.history.solve(head).notes == ()


# -- what is missing ---------------------------------------------------------------------------------------------------


def test_a_merge_shows_the_files_that_it_has_like_none_of_its_parents(project: Path, git: Git) -> None:
    git(project, "checkout", "-q", "-b", "side")
    commit(project, git, "Count on the side", steps="def grow():\n    return 6\n", aside="x = 1\n")
    git(project, "checkout", "-q", "main")
    commit(project, git, "Count otherwise", steps="def grow():\n    return 7\n")
    git(project, "merge", "-q", "--no-commit", "-s", "ours", "side")
    git(project, "checkout", "side", "--", "aside.py")
    merge = commit(project, git, "Merge side", steps="def grow():\n    return 6 + 7\n", own="y = 1\n")
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve(merge)
    assert [(one.subject, one.files) for one in answer.commits] == [("Merge side", ("own.py", "steps.py"))]
    assert answer.notes == ()


def test_a_merge_that_changed_nothing_itself_comes_with_the_commits_that_it_merged(project: Path, git: Git) -> None:
    git(project, "checkout", "-q", "-b", "side")
    for number in (6, 7):
        commit(project, git, f"Count to {number} aside", **{f"n{number}": "width = 1\n"})
    git(project, "checkout", "-q", "main")
    git(project, "merge", "-q", "--no-ff", "-m", "Merge pull request #5096 from us/side", "side")
    merge = git(project, "rev-parse", "HEAD").strip()
    with Workspace.open(project) as workspace:
        for query in (merge, "#5096"):
            answer = workspace.history.solve(query)
            found = [(one.subject, one.files) for one in answer.commits]
            assert found[0] == ("Merge pull request #5096 from us/side", ())
            assert sorted(found[1:]) == [("Count to 6 aside", ("n6.py",)), ("Count to 7 aside", ("n7.py",))]
            note = f"The merge {merge[:12]} changed no file itself; the other commits are those that it merged."
            assert answer.notes == (note,)
        git(project, "commit", "-q", "--allow-empty", "-m", "Change nothing")
        assert len(workspace.history.solve(git(project, "rev-parse", "HEAD").strip()).commits) == 1


def test_lines_in_a_partial_clone_say_what_it_lacks(project: Path, git: Git, tmp_path: Path) -> None:
    git(project, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", project.as_uri(), "partial")
    with Workspace.open(tmp_path / "partial") as workspace:
        answer = workspace.history.why("steps.py:2")
        assert "This clone is partial and lacks older contents" in answer.notes[-1]
        assert "git log -L2,2:steps.py" in answer.notes[-1]


def test_only_of_a_file_that_may_have_been_renamed_a_partial_clone_says_that_it_cannot_tell(
    project: Path, git: Git, tmp_path: Path
) -> None:
    git(project, "mv", "n1.py", "first.py")
    commit(project, git, "Name the first", first="width = 1\n\nheight = 2\n")
    commit(project, git, "Count to 6", steps="def grow():\n    return 6\n", fresh="x = 1\n")
    git(project, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", project.as_uri(), "partial")
    with Workspace.open(tmp_path / "partial") as workspace:
        note = "This clone lacks older contents: a file that was renamed and edited at once may have other commits from"
        assert workspace.history.solve("first.py").notes == (f"{note} before.",)
        assert f"{note} before." in workspace.history.related("first.py").notes
        for query in ("Count to", "steps.py", "fresh.py", git(project, "rev-parse", "HEAD").strip()):
            answer = workspace.history.solve(query)
            assert (bool(answer.commits), answer.notes) == (True, ())
        assert workspace.history.related("steps.py").notes == ()
    with Workspace.open(project) as workspace:
        assert workspace.history.solve("first.py").notes == ()


def test_a_file_over_the_limit_names_the_setting(project: Path) -> None:
    with (
        Workspace.open(project, settings=Settings(max_file_bytes=10)) as workspace,
        pytest.raises(NotFoundError, match=r"larger than 10 bytes.*max_file_bytes"),
    ):
        workspace.history.why("steps.py:1")
