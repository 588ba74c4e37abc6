"""Paths that a history is asked about are found by former names, by their ends, and from where somebody stands."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cairn.cli.main import main
from cairn.errors import NotFoundError
from cairn.workspace import Workspace
from conftest import Git


def commit(folder: Path, git: Git, message: str, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", message)


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    """A checkout in which `p/cart.py` was renamed, `p/gone.py` deleted, and the folder `old` moved."""
    (checkout / ".gitignore").write_text(".cairn\n")
    for folder in ("p", "old"):
        (checkout / folder).mkdir()
    commit(checkout / "p", git, "Count items", cart="def count():\n    return 1\n", gone="x = 1\n", kept="y = 1\n")
    commit(checkout / "old", git, "Draw lines", lines="def draw():\n    return 'a line'\n")
    git(checkout, "mv", "p/cart.py", "p/basket.py")
    git(checkout, "mv", "old", "new")
    git(checkout, "rm", "-q", "p/gone.py")
    commit(checkout, git, "Name things better")
    return checkout


def asked(query: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, list[str], list[str]]:
    main(["history", query, "-C", str(folder), "--no-daemon", "--json"])
    answer = json.loads(capsys.readouterr().out)
    return answer["subject"], [one["subject"] for one in answer["commits"]], answer["notes"]


def test_a_former_name_stands_for_what_the_file_is_called_now(project: Path) -> None:
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve("p/cart.py")
        assert (answer.subject, answer.notes) == ("file", ("p/cart.py is now p/basket.py.",))
        assert [one.subject for one in answer.commits] == ["Name things better", "Count items"]
        related = workspace.history.related("p/cart.py")
        assert (related.commits, related.notes) == (2, answer.notes)


def test_the_last_file_that_had_a_name_is_meant_by_it(project: Path, git: Git) -> None:
    (project / "p" / "cart.py").write_text("def another():\n    return 'quite another'\n")
    commit(project, git, "Add another cart")
    git(project, "mv", "p/cart.py", "p/trolley.py")
    commit(project, git, "Call it a trolley")
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve("p/cart.py")
    assert answer.notes == ("p/cart.py is now p/trolley.py.",)
    assert [one.subject for one in answer.commits] == ["Call it a trolley", "Add another cart"]


def test_a_commit_of_a_branch_that_a_rename_reached_later_is_one_of_the_renamed_file(
    project: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(project, "checkout", "-q", "-b", "side", "HEAD^")
    (project / "p" / "cart.py").write_text("def count():\n    return 1 + 1\n")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2037-01-01T00:00:00Z")
    commit(project, git, "Count twice")
    git(project, "checkout", "-q", "main")
    git(project, "merge", "-q", "-m", "Merge side", "side")
    assert (project / "p" / "basket.py").read_text().endswith("1 + 1\n")
    with Workspace.open(project) as workspace:
        for path in ("p/basket.py", "p/cart.py"):
            subjects = [one.subject for one in workspace.history.solve(path).commits]
            assert subjects == ["Count twice", "Name things better", "Count items"]


def test_a_former_name_of_a_deleted_file_is_not_said_to_be_another_file_now(project: Path, git: Git) -> None:
    git(project, "rm", "-q", "p/basket.py")
    commit(project, git, "Drop the basket")
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve("p/cart.py")
    assert answer.commits[0].subject == "Drop the basket"
    assert answer.notes == ("p/cart.py had another name before it was deleted.",)


def test_a_folder_that_is_gone_has_the_commits_of_what_was_in_it(project: Path, git: Git) -> None:
    git(project, "rm", "-rq", "new")
    commit(project, git, "Drop lines")
    with Workspace.open(project) as workspace:
        for query in ("old/", "./old", "new/"):
            answer = workspace.history.solve(query)
            assert (answer.subject, answer.commits[0].subject) == ("file", "Drop lines")


def test_a_folder_that_was_moved_says_where_its_files_are(project: Path) -> None:
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve("old/")
    assert [one.subject for one in answer.commits] == ["Name things better", "Draw lines"]
    assert answer.notes == ("Files of old have other names now, such as new/lines.py.",)


@pytest.mark.parametrize("query", [".", "./", "../p", "./../p/"])
def test_a_folder_is_meant_from_where_somebody_stands(
    query: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subject, found, _ = asked(query, project / "p", capsys)
    assert (subject, found) == ("file", ["Name things better", "Count items"])


def test_the_name_of_a_folder_here_and_the_whole_project_are_meant_as_such(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "new" / "inner").mkdir()
    (project / "p" / "new").mkdir()
    assert asked("new", project, capsys)[0] == "file"
    assert asked("new", project / "p", capsys)[0] == "query"
    assert asked(".", project, capsys)[1] == ["Name things better", "Draw lines", "Count items"]


@pytest.mark.parametrize("query", ["./gone.py", "gone.py", "p/gone.py", "{root}/p/gone.py"])
def test_a_deleted_file_is_found_however_its_path_is_written(
    query: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subject, found, _ = asked(query.format(root=project), project / "p", capsys)
    assert (subject, found) == ("file", ["Name things better", "Count items"])


def test_the_end_of_a_path_is_meant_only_where_one_file_has_it(project: Path, git: Git) -> None:
    with Workspace.open(project) as workspace:
        assert workspace.history.solve("kept.py").notes == ("This is about p/kept.py.",)
        commit(project / "new", git, "Keep more", kept="z = 1\n")
        assert workspace.history.solve("kept.py").subject == "query"


def test_the_name_of_several_deleted_files_says_which_it_may_mean(
    project: Path, git: Git, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("p", "new"):
        commit(project / folder, git, f"Help in {folder}", helpers=f"x = '{folder}'\n", **{"late.now": "y = 1\n"})
    git(project, "mv", "p/late.now.py", "p/now.py")
    git(project, "rm", "-q", "p/helpers.py", "new/helpers.py")
    commit(project, git, "Drop what nobody needs")
    words = "helpers.py may mean new/helpers.py or p/helpers.py; for one of them: cairn history new/helpers.py"
    assert asked("helpers.py", project, capsys) == ("query", [], [words])
    assert "late.now.py may mean new/late.now.py or p/late.now.py" in asked("late.now.py", project, capsys)[2][0]
    assert asked("p/helpers.py", project, capsys)[1] == ["Drop what nobody needs", "Help in p"]
    with Workspace.open(project) as workspace, pytest.raises(NotFoundError) as error:
        workspace.history.related("helpers.py")
    assert error.value.hint == words.partition("; ")[0] + "; for one of them: cairn related new/helpers.py"


def test_a_file_that_was_moved_is_one_file_for_the_end_of_both_paths(project: Path, git: Git) -> None:
    git(project, "mv", "p/basket.py", "new/basket.py")
    commit(project, git, "Put the basket elsewhere")
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve("basket.py")
    assert (answer.subject, answer.notes) == ("file", ("This is about new/basket.py.",))


def test_lines_of_a_file_are_answered_and_named_as_such(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for query in ("basket.py:2", "basket.py:1-2", "basket.py:2:5"):
        subject, found, _ = asked(query, project / "p", capsys)
        assert (subject, found[-1]) == ("lines", "Count items")


@pytest.mark.parametrize("place", ["p/cart.py:2", "p/cart.py:2:5", "cart.py:2"])
def test_a_line_of_a_former_name_leads_to_the_line_that_it_is_now(project: Path, git: Git, place: str) -> None:
    file = project / "p" / "basket.py"
    file.write_text(f"import os\n\n\n{file.read_text()}")
    commit(project, git, "Import the system")
    with Workspace.open(project) as workspace:
        for ask in (workspace.history.why, workspace.history.solve):
            with pytest.raises(NotFoundError) as error:
                ask(place)
            assert str(error.value) == f"{place.partition(':')[0]} is now p/basket.py"
            assert error.value.hint == "line 2, as it was last, is line 5 there: cairn why p/basket.py:5"
        assert [one.subject for one in workspace.history.why("p/basket.py:5").commits] == ["Count items"]


@pytest.mark.parametrize("is_staged", [True, False])
@pytest.mark.parametrize("place", ["p/kept.py:3", "kept.py:3"])
def test_a_line_of_a_file_that_was_just_renamed_leads_to_the_line_that_it_is_now(
    project: Path, git: Git, place: str, is_staged: bool
) -> None:
    text = "y = 1\n\n\ndef keep():\n    return y\n"
    commit(project / "p", git, "Keep more", kept=text.removeprefix("y = 1\n"))
    if is_staged:
        git(project, "mv", "p/kept.py", "new/held.py")
    else:
        (project / "p" / "kept.py").rename(project / "new" / "held.py")
    (project / "new" / "held.py").write_text(text)
    (project / "new" / "other.py").write_text("quite = 'another'\n")
    with Workspace.open(project) as workspace:
        with pytest.raises(NotFoundError) as error:
            workspace.history.why(place)
        assert str(error.value) == f"{place.partition(':')[0]} is now new/held.py"
        assert error.value.hint == "line 3, as it was last, is line 4 there: cairn why new/held.py:4"
        answer = workspace.history.why("new/held.py:4")
        assert answer.commits[0].subject == "Keep more"
        assert answer.notes == ("new/held.py was p/kept.py in the last commit.",)


def test_a_former_name_of_a_file_that_was_just_renamed_again_leads_to_it(project: Path, git: Git) -> None:
    git(project, "mv", "p/basket.py", "p/trolley.py")
    with Workspace.open(project) as workspace, pytest.raises(NotFoundError) as error:
        workspace.history.why("p/cart.py:2")
    assert (str(error.value), error.value.hint) == ("p/cart.py is now p/trolley.py", "cairn why p/trolley.py:2")


@pytest.mark.parametrize(
    ("place", "message", "hint"),
    [
        ("p/cart.py:1-2", "p/cart.py is now p/basket.py", "cairn why p/basket.py:1-2"),
        ("p/cart.py:9", "p/cart.py is now p/basket.py, where line 9 cannot be told", "cairn history p/basket.py"),
        ("basket.py:2", "there is no file basket.py", "cairn why p/basket.py:2"),
        ("gone.py:1", "gone.py is gone", "for its commits: cairn history p/gone.py"),
        ("never.py:1", "there is no file never.py", "for the commits that say this: cairn history never.py"),
    ],
)
def test_lines_of_what_is_not_there_lead_to_what_can_be_asked(
    project: Path, place: str, message: str, hint: str
) -> None:
    with Workspace.open(project) as workspace, pytest.raises(NotFoundError) as error:
        workspace.history.why(place)
    assert (str(error.value), error.value.hint) == (message, hint)


def test_lines_of_a_name_that_several_files_had_say_which_it_may_mean(project: Path, git: Git) -> None:
    for folder in ("p", "new"):
        commit(project / folder, git, f"Help in {folder}", helpers=f"x = '{folder}'\n")
    git(project, "rm", "-q", "p/helpers.py", "new/helpers.py")
    commit(project, git, "Drop what nobody needs")
    with Workspace.open(project) as workspace, pytest.raises(NotFoundError) as error:
        workspace.history.why("helpers.py:1")
    assert "helpers.py may mean new/helpers.py or p/helpers.py" in error.value.hint


def test_a_former_line_is_found_in_a_project_that_is_a_folder_of_its_repository(project: Path) -> None:
    with Workspace.open(project / "p") as workspace, pytest.raises(NotFoundError) as error:
        workspace.history.why("cart.py:2")
    assert (str(error.value), error.value.hint) == ("cart.py is now basket.py", "cairn why basket.py:2")


def test_a_file_that_is_not_committed_is_said_to_be_new(project: Path) -> None:
    (project / "p" / "fresh.py").write_text("x = 1\n")
    with Workspace.open(project) as workspace:
        assert workspace.history.solve("p/fresh.py").notes == ("p/fresh.py is not in the last commit.",)
        assert workspace.history.related("p/fresh.py").notes == ("p/fresh.py is not in the last commit.",)


def test_a_link_leads_to_the_lines_of_its_file(project: Path, tmp_path: Path) -> None:
    os.symlink("basket.py", project / "p" / "link.py")
    os.symlink("p", project / "q")
    (tmp_path / "outside.py").write_text("x = 1\n")
    os.symlink(tmp_path / "outside.py", project / "away.py")
    with Workspace.open(project) as workspace:
        for path in ("p/link.py", "q/basket.py"):
            answer = workspace.history.why(f"{path}:1")
            assert (answer.path, answer.commits[-1].subject) == ("p/basket.py", "Count items")
            assert answer.notes == (f"{path} is a link to p/basket.py.",)
        with pytest.raises(NotFoundError, match="leads out of the project"):
            workspace.history.why("away.py:1")


@pytest.mark.parametrize("place", ["p/basket.py", "count", "p:1"])
def test_what_is_no_line_leads_to_the_history_of_all_of_it(place: str, project: Path) -> None:
    with Workspace.open(project) as workspace, pytest.raises(NotFoundError) as caught:
        workspace.history.why(place)
    assert "cairn history" in str(caught.value.hint)
