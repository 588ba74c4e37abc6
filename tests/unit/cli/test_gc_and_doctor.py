from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cairn.cli.main import main
from cairn.warning import listen
from cairn.workspace import Workspace
from conftest import Git
from installed import COMMAND
from terminal import run_on_terminal

CODE = 'def {name}(offset):\n    """Store the {name}."""\n    return store(offset)\n'
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An indexed project of two files."""
    folder = tmp_path / "root"
    folder.mkdir()
    for name in ("alpha", "beta"):
        (folder / f"{name}.py").write_text(CODE.format(name=name))
    index(folder)
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """A function that runs a command in this process and returns its exit code and what it printed."""

    def run(*arguments: str | Path) -> tuple[int, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, capsys.readouterr().out

    yield run
    listen(None)


def index(folder: Path) -> None:
    with Workspace.open(folder) as workspace:
        workspace.index()


def settings(root: Path, text: str) -> None:
    (root / ".cairn" / "config.yaml").write_text(text)


def harm(root: Path) -> Path:
    """Change the last byte of the file of chunks, and return the file."""
    (file,) = (root / ".cairn" / "derived").glob("*.seg")
    data = bytearray(file.read_bytes())
    data[-1] ^= 0xFF
    file.write_bytes(data)
    return file


# -- cairn gc ----------------------------------------------------------------------------------------------------------


def test_a_collection_says_what_it_would_drop_and_only_then_drops_it(root: Path, run: Run) -> None:
    settings(root, "garbage_days: 0\n")
    (root / "alpha.py").unlink()
    index(root)
    code, said = run("gc", "--dry-run", "-C", root)
    assert code == 0
    assert said.startswith("Would drop 0 views and 1 file content (1 chunk); about 0.")
    code, said = run("gc", "-C", root)
    assert code == 0
    assert said.startswith("Dropped 0 views and 1 file content (1 chunk); 0.")
    assert said.endswith(" MB freed.\n")
    assert run("gc", "-C", root)[1] == "Dropped 0 views and 0 file contents (0 chunks); 0.0 MB freed.\n"


@pytest.mark.parametrize(("days", "words"), [("1", "1 day"), ("2.5", "2.5 days"), ("14", "14 days")])
def test_a_collection_says_for_how_long_it_keeps_what_is_gone(root: Path, run: Run, days: str, words: str) -> None:
    settings(root, f"garbage_days: {days}\n")
    (root / "alpha.py").unlink()
    index(root)
    assert run("gc", "-C", root)[1].splitlines()[1:] == [f"1 more content is in no view, but not for {words} yet."]
    (root / "beta.py").unlink()
    index(root)
    assert run("gc", "-C", root)[1].splitlines()[1:] == [f"2 more contents are in no view, but not for {words} yet."]


def test_a_collection_names_each_view_that_it_drops(checkout: Path, git: Git, run: Run) -> None:
    (checkout / "alpha.py").write_text(CODE.format(name="alpha"))
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "x")
    git(checkout, "branch", "old")
    with Workspace.open(checkout) as workspace:
        workspace.index()
        workspace.index(branch="old")
    settings(checkout, "garbage_days: 0\n")
    git(checkout, "branch", "-q", "-D", "old")
    assert json.loads(run("gc", "--json", "--dry-run", "-C", checkout)[1])["views"] != []
    told = run("gc", "-C", checkout)[1].splitlines()
    assert told[0].startswith("Dropped 1 view and 0 file contents")
    assert len(told) == 2
    assert "old" in told[1]
    assert run("gc", "-C", checkout)[1].count("\n") == 1


def test_the_document_of_a_collection_counts_what_the_words_tell(root: Path, run: Run) -> None:
    settings(root, "garbage_days: 0\n")
    (root / "alpha.py").unlink()
    index(root)
    code, said = run("gc", "--dry-run", "--json", "-C", root)
    document = json.loads(said)
    assert code == 0
    assert (document["views"], document["blobs"], document["chunks"], document["waiting"]) == ([], 1, 1, 0)
    assert document["dry_run"] is True
    assert json.loads(run("gc", "--json", "-C", root)[1])["dry_run"] is False


# -- cairn doctor ------------------------------------------------------------------------------------------------------


def test_a_healthy_index_gets_a_line_for_each_check_and_nothing_to_try(root: Path, run: Run) -> None:
    code, said = run("doctor", "-C", root)
    assert code == 0
    assert "ok       database     whole; 1 view\n" in said
    assert "try:" not in said
    document = json.loads(run("doctor", "--json", "-C", root)[1])
    assert document["healthy"] is True
    assert {"database", "derived", "folder"} <= {finding["check"] for finding in document["findings"]}


def test_damage_is_told_with_its_repair_and_stays_until_that_is_asked_for(root: Path, run: Run) -> None:
    harm(root)
    for _ in range(2):
        code, said = run("doctor", "-C", root)
        assert code == 3
        (line,) = (number for number, line in enumerate(said.splitlines()) if line.startswith("error    derived "))
        assert said.splitlines()[line + 1] == "  try: cairn doctor --fix   (to index those files again)"
    code, said = run("doctor", "--json", "-C", root)
    assert (code, json.loads(said)["healthy"]) == (3, False)
    code, said = run("doctor", "--fix", "-C", root)
    assert code == 0
    assert "fixed    derived " in said
    assert "try: cairn doctor --fix" not in said
    assert "fixed" not in run("doctor", "-C", root)[1]


def test_a_repair_counts_as_health_in_the_document_too(root: Path, run: Run) -> None:
    harm(root)
    code, said = run("doctor", "--fix", "--json", "-C", root)
    document = json.loads(said)
    assert (code, document["healthy"]) == (0, True)
    assert [finding["check"] for finding in document["findings"] if finding["fixed"]] == ["derived"]


def test_what_recall_searches_is_made_anew_on_request(root: Path, run: Run) -> None:
    with Workspace.open(root) as workspace:
        id = workspace.memory.remember("Offsets are stored in bytes.").observation.id
        with workspace.memory.store.writing() as connection:
            connection.execute("DELETE FROM posting")
    with Workspace.open(root) as workspace:
        assert workspace.memory.recall.search("stored offsets") == []
    code, said = run("doctor", "--rebuild-memory", "-C", root)
    assert code == 0
    assert "ok       memory       what recall searches was rebuilt from 1 memory\n" in said
    with Workspace.open(root) as workspace:
        assert workspace.memory.recall.search("stored offsets")[0].observation.id == id
        with workspace.memory.store.writing() as connection:
            connection.execute("UPDATE observation SET importance = 9")
    said = run("doctor", "--rebuild-memory", "-C", root)[1]
    assert "fixed    memory       what recall searches was rebuilt from 1 memory; 1 of them was not" in said


def test_what_cairn_cannot_repair_is_told_with_what_to_do_and_is_no_failure(tmp_path: Path, run: Run) -> None:
    (tmp_path / "alpha.py").write_text(CODE.format(name="alpha"))
    code, said = run("doctor", "-C", tmp_path)
    assert code == 0
    assert "warning  database     this project is not indexed yet\n  try: cairn index\n" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_where_nothing_can_be_written_is_told_before_the_first_index(tmp_path: Path, run: Run) -> None:
    (tmp_path / "alpha.py").write_text(CODE.format(name="alpha"))
    tmp_path.chmod(0o555)
    try:
        said = run("doctor", "-C", tmp_path)[1]
    finally:
        tmp_path.chmod(0o755)
    assert f"error    folder       {tmp_path} cannot be written, so nothing can be indexed here\n  try: make it" in said


def test_a_git_that_is_not_installed_is_told_wherever_it_is_needed(
    checkout: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "alpha.py").write_text(CODE.format(name="alpha"))
    git(checkout, "add", "alpha.py")
    git(checkout, "commit", "-q", "-m", "Store alpha")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    for arguments, code in (
        (("doctor",), 0),
        (("index",), 0),
        (("search", "alpha", "--branch", "main"), 2),
        (("history", "alpha"), 1),
        (("why", "alpha.py:1"), 1),
        (("tests", "--diff"), 2),
    ):
        capsys.readouterr()
        assert main([*arguments, "-C", str(checkout), "--no-daemon"]) == code
        streams = capsys.readouterr()
        said = streams.out + streams.err
        assert "no git repository" not in said
        assert "not in a git repository" not in said
        assert "git is not installed" in said or arguments == ("index",)
    listen(None)


def on_terminal(root: Path, answer: str) -> tuple[int, str]:
    """Run the doctor on a terminal, where a person types an answer, and return the exit code and what is shown."""
    environment = os.environ | {"LC_ALL": "C"}
    return run_on_terminal([COMMAND, "doctor"], root, typed=answer, environment=environment)


@pytest.mark.parametrize("answer", ["y\n", "Yes \n"])
def test_on_a_terminal_damage_is_repaired_once_a_person_agrees(root: Path, answer: str) -> None:
    harm(root)
    code, shown = on_terminal(root, answer)
    assert code == 0
    assert shown.index("error    derived ") < shown.index("Repair this? [y/N]") < shown.index("fixed    derived ")


@pytest.mark.parametrize("answer", ["\n", "n\n", "yellow\n"])
def test_on_a_terminal_damage_stays_unless_a_person_agrees(root: Path, answer: str) -> None:
    file = harm(root)
    before = file.read_bytes()
    code, shown = on_terminal(root, answer)
    assert code == 3
    assert "Repair this? [y/N]" in shown
    assert "fixed" not in shown
    assert file.read_bytes() == before


def test_on_a_terminal_nobody_is_asked_where_nothing_is_to_be_repaired(root: Path) -> None:
    code, shown = on_terminal(root, "y\n")
    assert code == 0
    assert "Repair" not in shown
