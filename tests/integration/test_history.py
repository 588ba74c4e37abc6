"""Commits are read in the background, shared by branches, and answer questions."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from cairn.cli.main import main
from cairn.config import Settings
from cairn.daemon.watching import Watch, open_workspace
from cairn.errors import NotFoundError
from cairn.workspace import Workspace
from conftest import Git


def commit(folder: Path, git: Git, message: str, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    (checkout / ".gitignore").write_text(".cairn\n")
    commit(checkout, git, "Start", loader="def load(): ...\n", parser="def parse(): ...\n", view="def show(): ...\n")
    commit(checkout, git, "Retry uploads that time out", loader="def load(): return 1\n", view="def show(): return 1\n")
    commit(checkout, git, "Parse empty documents", parser="def parse(): return 1\n")
    commit(checkout, git, "Wait longer between uploads", loader="def load(): return 2\n", view="def show(): return 2\n")
    return checkout


def subjects(workspace: Workspace, query: str) -> list[str]:
    return [found.subject for found in workspace.history.solve(query).commits]


def database(workspace: Workspace) -> Path:
    return workspace.state.path / "history.db"


def test_a_query_finds_the_commits_and_files_that_solved_something_like_it(project: Path) -> None:
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve("uploads time out")
    assert answer.commits[0].subject == "Retry uploads that time out"
    assert {file.path for file in answer.files} == {"loader.py", "view.py"}
    assert (answer.subject, answer.read, answer.listed, answer.notes) == ("query", 4, 4, ())


def test_a_file_shows_its_commits_newest_first_and_what_changed_with_it(project: Path) -> None:
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve("loader.py")
    assert [found.subject for found in answer.commits] == [
        "Wait longer between uploads",
        "Retry uploads that time out",
        "Start",
    ]
    assert answer.subject == "file"
    assert answer.files[0].path == "view.py"


def test_files_that_change_together_are_counted(project: Path) -> None:
    with Workspace.open(project) as workspace:
        answer = workspace.history.related("loader.py")
    assert answer.commits == 3
    first = answer.files[0]
    assert (first.path, first.together, first.commits) == ("view.py", 3, 3)
    assert {file.path for file in answer.files} == {"view.py", "parser.py", ".gitignore"}


def test_a_search_prefers_the_file_that_such_commits_changed(project: Path, git: Git) -> None:
    text = "def follow_redirects():\n    return 'redirects are followed here'\n"
    commit(project, git, "Split it", one=text, two=text + "# two\n")
    with Workspace.open(project) as workspace:
        workspace.index()
        before = [hit.path for hit in workspace.search("follow redirects of mirrors").code]
        assert set(before[:2]) == {"one.py", "two.py"}
        commit(project, git, "Follow redirects of mirrors", **{before[1].removesuffix(".py"): text + "# mirror\n"})
        workspace.index()
        after = workspace.search("follow redirects of mirrors", explain=True).code
    assert after[0].path == before[1]
    assert after[0].explain is not None
    assert after[0].explain["history"] > 0


def test_words_of_a_report_speak_for_the_files_that_changed_with_each_of_them(project: Path, git: Git) -> None:
    text = "def follow_redirects():\n    return 'redirects are followed here'\n"
    commit(project, git, "Split it", one=text, two=text + "# two\n")
    report = "Redirects are not followed\n\nSince I use mirrors I get an empty page.\nThe mirrors of Debian redirect.\n"
    with Workspace.open(project) as workspace:
        workspace.index()
        before = [hit.path for hit in workspace.search(report).code]
        later = next(path for path in before[1:] if path in ("one.py", "two.py"))
        commit(project, git, "Ask mirrors in turn", **{later.removesuffix(".py"): text + "# mirror\n"})
        commit(project, git, "Take mirrors in", **{later.removesuffix(".py"): text + "# mirrors\n"})
        workspace.index()
        first = workspace.search(report, explain=True).code[0]
        question = workspace.search("where are redirects of mirrors followed", explain=True).code[0]
    assert first.path == later
    assert first.explain is not None
    assert first.explain["telling"] > 0 < first.explain["words"]
    assert question.explain is not None
    assert not {"telling", "words"} & set(question.explain)


def test_only_new_commits_are_read_and_a_branch_knows_its_own(project: Path, git: Git) -> None:
    with Workspace.open(project) as workspace:
        workspace.index()
        git(project, "checkout", "-q", "-b", "topic", "HEAD~1")
        commit(project, git, "Draw tables", view="def show(): return 9\n")
        assert subjects(workspace, "draw tables") == ["Draw tables"]
        assert "Wait longer between uploads" not in subjects(workspace, "uploads")
        with closing(sqlite3.connect(database(workspace))) as connection:
            assert connection.execute("SELECT count(*) FROM past").fetchone() == (5,)
        git(project, "checkout", "-q", "main")
        assert subjects(workspace, "wait longer") == ["Wait longer between uploads"]
        assert subjects(workspace, "draw tables") == []


def test_a_revision_that_is_not_checked_out_has_its_own_history(project: Path, git: Git) -> None:
    with Workspace.open(project) as workspace:
        before = git(project, "rev-parse", "HEAD~1")
        workspace.index(branch=before)
        extent = workspace.history.update(branch=before)
        assert extent is not None
        assert (extent.tip, extent.read) == (before, 3)


def test_a_rewritten_branch_is_answered_by_what_is_on_it_now(project: Path, git: Git) -> None:
    with Workspace.open(project) as workspace:
        workspace.index()
        git(project, "commit", "-q", "--amend", "-m", "Pause between uploads")
        assert subjects(workspace, "pause uploads")[0] == "Pause between uploads"
        assert "Wait longer between uploads" not in subjects(workspace, "uploads")


def test_names_and_mails_of_authors_are_not_stored_and_secrets_are_redacted(project: Path, git: Git) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"[:36]
    git(project, "config", "user.name", "Zebulon")
    (project / "a.py").write_text("a = 1\n")
    git(project, "add", "--all")
    author = "Zebulon Quince <quince@example.org>"
    git(project, "commit", "-q", "--author", author, "-m", f"Use {secret} for uploads\n\nSigned-off-by: {author}")
    with Workspace.open(project) as workspace:
        workspace.index()
        assert subjects(workspace, "use for uploads")[0] == "Use [redacted: github-token] for uploads"
        stored = b"".join(file.read_bytes() for file in workspace.state.path.rglob("*") if file.is_file())
    for text in (secret, "Zebulon", "Quince", "quince@"):
        assert text.encode() not in stored


def test_a_damaged_store_is_built_again(project: Path) -> None:
    with Workspace.open(project) as workspace:
        workspace.index()
        file = database(workspace)
        for path in workspace.state.derived.glob("*.past"):
            path.write_bytes(b"nonsense")
        file.write_bytes(b"nonsense" * 1_000)
        for suffix in ("-wal", "-shm"):
            Path(f"{file}{suffix}").unlink(missing_ok=True)
        assert subjects(workspace, "parse empty documents") == ["Parse empty documents"]


def test_history_that_is_deleted_comes_back(project: Path) -> None:
    with Workspace.open(project) as workspace:
        workspace.index()
        database(workspace).unlink()
        for path in workspace.state.derived.glob("*.past"):
            path.unlink()
        assert workspace.search("parse documents").code
        assert subjects(workspace, "parse empty documents") == ["Parse empty documents"]


def test_without_the_setting_no_commit_is_read(project: Path) -> None:
    with Workspace.open(project, settings=Settings(history=False)) as workspace:
        workspace.index()
        answer = workspace.history.solve("uploads")
        assert answer.commits == ()
        assert "history is false" in answer.notes[0]
        assert not database(workspace).exists()


def test_a_shallow_clone_and_a_folder_outside_git_say_what_they_lack(project: Path, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", project.as_uri(), "shallow")
    with Workspace.open(tmp_path / "shallow") as workspace:
        answer = workspace.history.solve("uploads")
    assert answer.commits == ()
    assert "shallow" in answer.notes[0]
    (tmp_path / "plain").mkdir()
    with Workspace.open(tmp_path / "plain") as workspace:
        assert "no git repository" in workspace.history.solve("uploads").notes[0]


def test_a_clone_without_the_folders_of_its_commits_says_so(project: Path, git: Git, tmp_path: Path) -> None:
    git(project, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--filter=tree:0", project.as_uri(), str(clone))
    git(project, "config", "uploadpack.allowFilter", "false")
    with Workspace.open(clone) as workspace:
        workspace.index()
        answer = workspace.history.solve("uploads")
    assert (answer.commits, answer.read, answer.listed) == ((), 4, 4)
    assert "lacks the folders of its commits" in answer.notes[0]


def test_a_clone_that_is_deepened_gets_the_rest(project: Path, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", project.as_uri(), "shallow")
    with Workspace.open(tmp_path / "shallow") as workspace:
        assert subjects(workspace, "parse empty documents") == []
        git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
        assert subjects(workspace, "parse empty documents") == ["Parse empty documents"]


def test_the_project_may_be_a_folder_of_its_repository(checkout: Path, git: Git) -> None:
    inner = checkout / "inner"
    inner.mkdir()
    commit(inner, git, "Start", loader="def load(): ...\n", view="def show(): ...\n")
    (checkout / "outer.py").write_text("x = 1\n")
    commit(inner, git, "Retry uploads", loader="def load(): return 1\n")
    with Workspace.open(inner, state_dir=checkout / "state") as workspace:
        workspace.index()
        [found] = workspace.history.solve("retry uploads").commits
        assert (found.files, found.omitted_files) == (("loader.py",), 1)
        assert [file.path for file in workspace.history.related("loader.py").files] == ["view.py"]


def test_the_commands_print_commits_and_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "retry", "uploads", "-C", str(project), "--no-daemon"]) == 0
    shown = capsys.readouterr().out
    assert "Retry uploads that time out" in shown
    assert "loader.py" in shown
    assert main(["related", "loader.py", "-C", str(project), "--no-daemon", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["files"][0]["filepath"] == "view.py"
    assert main(["history", "zebra crossing", "-C", str(project), "--no-daemon"]) == 1


def test_an_index_run_reads_the_commits_after_its_report(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", str(project)]) == 0
    capsys.readouterr()
    assert main(["history", "parse", "-C", str(project), "--no-daemon", "--no-update"]) == 0
    assert "Parse empty documents" in capsys.readouterr().out


def test_a_run_that_finds_no_edit_still_reads_a_new_commit(project: Path, git: Git) -> None:
    (project / "loader.py").write_text("def load(): return 3\n")
    assert main(["index", str(project)]) == 0
    with Workspace.open(project) as workspace:
        assert workspace.upkeep.knows_history()
        git(project, "commit", "-qam", "Fold zebras at crossings")
        assert not workspace.upkeep.knows_history()
        assert main(["index", str(project)]) == 0
        assert workspace.upkeep.knows_history()
        assert workspace.history.solve("zebras", update=False).commits[0].subject == "Fold zebras at crossings"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("#51", ["Draw circles (#51)", "Draw squares"]),
        ("51", ["Draw circles (#51)", "Draw squares"]),
        ("Closes #51", ["Draw circles (#51)", "Draw squares"]),
        ("GH-51", ["Draw circles (#51)", "Draw squares"]),
        ("#5", []),
        ("#512", ["Draw lines (#512)"]),
    ],
)
def test_a_number_finds_the_commits_whose_message_gives_it(
    query: str, expected: list[str], project: Path, git: Git
) -> None:
    commit(project, git, "Draw squares\n\nCloses: https://example.org/a/b/issues/51", view="def show(): return 7\n")
    commit(project, git, "Draw lines (#512)", view="def show(): return 8\n")
    commit(project, git, "Draw circles (#51)", view="def show(): return 9\n", loader="def load(): return 9\n")
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve(query)
        assert [one.subject for one in answer.commits] == expected
        assert bool(answer.files) == bool(expected)
        if len(expected) == 2:
            assert workspace.history.solve(query, limit=1).omitted == 1


def test_a_hash_finds_its_commit_and_a_word_of_its_digits_does_not(project: Path, git: Git) -> None:
    whole = git(project, "rev-parse", "HEAD~1").strip()
    with Workspace.open(project) as workspace:
        for query in (whole, whole[:7], whole[:12].upper()):
            assert subjects(workspace, query) == [git(project, "log", "-1", "--format=%s", whole).strip()]
        git(project, "branch", "fedecad")
        assert subjects(workspace, "fedecad") == []


def test_a_text_of_a_file_is_read_and_a_long_one_is_not_repeated(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "issue.md").write_text("Uploads should be tried again: retry them.\n")
    assert main(["history", f"@{tmp_path / 'issue.md'}", "-C", str(project), "--no-daemon"]) == 0
    assert "Retry uploads that time out" in capsys.readouterr().out
    assert main(["history", "zebra " * 100, "-C", str(project), "--no-daemon"]) == 1
    assert capsys.readouterr().err.count("zebra") < 20


def test_that_several_definitions_have_a_name_is_said(project: Path, git: Git) -> None:
    commit(project, git, "Parse twice", second="def parse():\n    return 'another'\n")
    with Workspace.open(project) as workspace:
        workspace.index()
        answer = workspace.history.solve("parse")
    assert answer.subject == "symbol"
    assert "2 definitions have this name" in answer.notes[-1]
    assert "cairn why" in answer.notes[-1]


def test_definitions_elsewhere_are_not_counted_where_the_query_says_the_file_or_the_type(
    project: Path, git: Git
) -> None:
    a_class = "class {0}:\n    def close(self):\n        return '{0}'\n"
    commit(project, git, "Close both", doors=a_class.format("Door"), pipes=a_class.format("Pipe"))
    with Workspace.open(project) as workspace:
        workspace.index()
        notes = {
            query: workspace.history.solve(query).notes[-1]
            for query in ("close", "doors.py#close", "Door.close", "doors.py#Door.close")
        }
    assert notes.pop("close").startswith("2 definitions have this name")
    assert set(notes.values()) == {"These commits shaped doors.py:2."}


def test_a_commit_whose_files_are_all_gone_says_so(project: Path, git: Git, capsys: pytest.CaptureFixture[str]) -> None:
    commit(project, git, "Count the zebras of the northern herd", herd="ZEBRAS = 3\n")
    git(project, "rm", "-q", "herd.py")
    git(project, "commit", "-qm", "Let them go")
    assert main(["history", "zebras northern herd", "-C", str(project), "--no-daemon"]) == 0
    assert "\n    1 file that is gone\n" in capsys.readouterr().out


# -- lines -------------------------------------------------------------------------------------------------------------


def test_the_commits_that_shaped_a_line_are_shown_with_what_else_they_changed(project: Path) -> None:
    with Workspace.open(project) as workspace:
        answer = workspace.history.why("loader.py:1")
        found = [(one.subject, one.files) for one in answer.commits]
        assert [subject for subject, _ in found[:2]] == ["Wait longer between uploads", "Retry uploads that time out"]
        assert found[0][1] == ("view.py",)
        assert workspace.history.why("loader.py:1", limit=1).omitted == 2


def test_lines_are_followed_from_where_they_are_now(project: Path) -> None:
    (project / "loader.py").write_text("# a new first line\n\ndef load(): return 2\n")
    with Workspace.open(project) as workspace:
        assert len(workspace.history.why("loader.py:3").commits) == 3
        fresh = workspace.history.why("loader.py:1")
        assert fresh.commits == ()
        assert "not committed yet" in fresh.notes[-1]
        assert len(workspace.history.why("loader.py:1-3").commits) == 3


def test_lines_are_followed_through_a_rename(project: Path, git: Git) -> None:
    git(project, "mv", "parser.py", "reader.py")
    git(project, "commit", "-q", "-m", "Call it a reader")
    with Workspace.open(project) as workspace:
        subjects_of_line = [one.subject for one in workspace.history.why("reader.py:1").commits]
    assert "Parse empty documents" in subjects_of_line


@pytest.mark.parametrize("place", ["loader.py", "loader.py:99", "none.py:1", "loader.py:0", "../x.py:1"])
def test_what_is_no_line_of_a_file_is_an_error(place: str, project: Path) -> None:
    with Workspace.open(project) as workspace, pytest.raises(NotFoundError):
        workspace.history.why(place)


def test_the_name_of_a_definition_shows_what_shaped_it(project: Path) -> None:
    with Workspace.open(project) as workspace:
        workspace.index()
        answer = workspace.history.solve("parse")
    assert answer.subject == "symbol"
    assert [one.subject for one in answer.commits] == ["Parse empty documents", "Start"]


def test_programs_that_a_repository_names_are_not_run_for_lines(project: Path, git: Git, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat $1\n")
    program.chmod(0o700)
    (project / ".gitattributes").write_text("* diff=evil filter=evil\n")
    for name in ("diff.evil.command", "diff.evil.textconv", "diff.external", "filter.evil.clean", "core.pager"):
        git(project, "config", name, str(program))
    for name in ("gpg.program", "gpg.ssh.program", "gpg.x509.program"):
        git(project, "config", name, str(program))
    git(project, "config", "log.showSignature", "true")
    git(project, "config", "blame.ignoreRevsFile", str(tmp_path / "none"))
    with Workspace.open(project) as workspace:
        assert len(workspace.history.why("loader.py:1").commits) == 3
    assert not mark.exists()


def test_a_file_of_many_commits_shows_the_newest_that_shaped_its_line(project: Path, git: Git) -> None:
    for number in range(6):
        commit(project, git, f"Count to {number}", loader=f"def load(): return {number + 10}\n")
    with Workspace.open(project) as workspace:
        answer = workspace.history.why("loader.py:1", limit=2)
    assert [one.subject for one in answer.commits] == ["Count to 5", "Count to 4"]
    assert answer.omitted == 7


# -- what a repository may bring ---------------------------------------------------------------------------------------


def test_a_graft_that_leads_in_a_circle_ends(project: Path, git: Git) -> None:
    newest, oldest = git(project, "rev-parse", "HEAD"), git(project, "rev-list", "--max-parents=0", "HEAD")
    (project / ".git" / "info").mkdir(exist_ok=True)
    (project / ".git" / "info" / "grafts").write_text(f"{oldest} {newest}\n")
    with Workspace.open(project) as workspace:
        assert "Parse empty documents" in subjects(workspace, "parse empty documents")
        assert workspace.history.related("loader.py").files


def test_a_damaged_history_is_read_as_far_as_it_goes_and_says_so(project: Path, git: Git) -> None:
    middle = git(project, "rev-parse", "HEAD~2")
    broken = project / ".git" / "objects" / middle[:2] / middle[2:]
    broken.chmod(0o600)
    broken.write_bytes(b"nonsense")
    with Workspace.open(project) as workspace:
        answer = workspace.history.solve("wait longer between uploads")
    assert [one.subject for one in answer.commits] == ["Wait longer between uploads"]
    assert "git fsck" in answer.notes[-1]


def test_messages_and_paths_of_any_bytes_are_answered(project: Path, git: Git) -> None:
    (project / os.fsdecode(b"odd\xff.py")).write_text("x = 1\n")
    (project / "line\nbreak.py").write_text("x = 1\n")
    (project / "message").write_bytes(b"Sort \x1b[31mreds\x1b[0m \xff\xfe first\n\n" + b"pasted output " * 100_000)
    git(project, "add", "--all", "--", ".", ":!message")
    (project / "loader.py").write_text("def load(): return 5\n")
    git(project, "add", "loader.py")
    git(project, "commit", "-q", "-F", "message")
    with Workspace.open(project) as workspace:
        [found] = workspace.history.solve("sort reds").commits
    assert found.subject.isprintable()
    assert found.files == ("loader.py",)


def test_a_repository_without_commits_says_so(checkout: Path) -> None:
    with Workspace.open(checkout) as workspace:
        workspace.index()
        answer = workspace.history.solve("uploads")
    assert (answer.commits, answer.notes) == ((), ("Nothing is committed yet.",))


def test_no_more_commits_are_read_than_the_setting_says(project: Path) -> None:
    with Workspace.open(project, settings=Settings(history_commits=2)) as workspace:
        workspace.index()
        answer = workspace.history.solve("uploads")
    assert (answer.read, answer.listed) == (2, 2)


def test_a_run_without_time_reads_the_newest_commits_and_the_next_one_the_rest(project: Path) -> None:
    lines = []
    for number in range(150):  # on top of the others, in a moment
        text = f"def load(): return {number}\n"
        lines.append(
            f"commit refs/heads/many\ncommitter A <a@example.org> {2_000_000_000 + number} +0000\n"
            f"data {len(f'Count {number}')}\nCount {number}\n{'' if number else 'from refs/heads/main^0'}\n"
            f"M 100644 inline loader.py\ndata {len(text)}\n{text}"
        )
    stream = "".join(lines).replace("\n\nM", "\nM")
    subprocess.run(["git", "fast-import", "--quiet"], cwd=project, input=stream, text=True, check=True)
    with Workspace.open(project) as workspace:
        first = workspace.history.update(0, branch="many")
        rest = workspace.history.update(branch="many")
    assert first is not None
    assert rest is not None
    assert (first.read, first.listed) == (50, 154)
    assert rest.read == 154


def test_a_raised_number_of_commits_is_noticed_by_the_next_run(project: Path) -> None:
    with Workspace.open(project, settings=Settings(history_commits=2)) as workspace:
        workspace.index()
        assert workspace.upkeep.knows_history()
    with Workspace.open(project) as workspace:
        assert not workspace.upkeep.knows_history()
    assert main(["index", str(project)]) == 0
    with Workspace.open(project) as workspace:
        assert workspace.upkeep.knows_history()
        assert workspace.history.solve("uploads", update=False).read == 4


def test_a_watch_in_the_foreground_reads_commits_too(project: Path, git: Git) -> None:
    command = [sys.executable, "-m", "cairn", "index", str(project), "--watch"]
    with (
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as watch,
        Workspace.open(project) as workspace,
    ):
        try:
            assert _appears(workspace, "Parse empty documents")
            commit(project, git, "Draw tables", view="def show(): return 9\n")
            assert _appears(workspace, "Draw tables")
            watch.send_signal(signal.SIGINT)
            assert watch.wait(60) == 0
        finally:
            watch.kill()


def test_the_watch_of_the_daemon_reads_commits_while_nobody_waits(project: Path, git: Git) -> None:
    watch = Watch("project", open_workspace(project))
    try:
        with Workspace.open(project) as workspace:
            assert _appears(workspace, "Parse empty documents")
            commit(project, git, "Draw tables", view="def show(): return 9\n")
            assert _appears(workspace, "Draw tables")
    finally:
        assert watch.stop(30.0)


def _appears(workspace: Workspace, subject: str) -> bool:
    for _ in range(600):
        found = workspace.history.solve(subject, update=False).commits
        if found and found[0].subject == subject:
            return True
        time.sleep(0.05)
    return False
