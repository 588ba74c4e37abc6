"""What commands print, how they end, and what they refuse."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.workspace import Workspace
from in_process import cairn, check_error, document

Git = Callable[..., str]

CODE = 'def load_config(path):\n    """Read the settings file."""\n    return parse(path)\n'


@pytest.fixture
def project(checkout: Path) -> Path:
    """A repository with one file, not indexed yet."""
    (checkout / "config.py").write_text(CODE)
    return checkout


@pytest.fixture
def indexed(project: Path) -> Path:
    """A repository with one file, indexed."""
    with Workspace.open(project) as workspace:
        workspace.index()
    return project


# -- what the command does --------------------------------------------------------------------------------------------


def test_index_says_what_it_did_and_then_that_nothing_changed(project: Path) -> None:
    assert cairn("index", cwd=project).stdout.startswith("Indexed 1 file, 1 chunk in ")
    assert "(nothing changed)" in cairn("index", cwd=project).stdout


@pytest.mark.parametrize(
    "arguments", [("index",), ("search", "load_config"), ("callers", "load_config"), ("map",), ("context", "load")]
)
def test_a_state_folder_that_cannot_be_written_is_one_warning_of_any_command(
    arguments: tuple[str, ...], project: Path
) -> None:
    nowhere = str(project / "config.py")
    for number, (option, variables) in enumerate(
        (((), {"XDG_STATE_HOME": nowhere, "TMPDIR": nowhere}), (("--json",), {"XDG_STATE_HOME": nowhere}))
    ):
        done = cairn(*arguments, *option, cwd=project, environment={**variables, "CAIRN_STATE_DIR": f"../s{number}"})
        assert done.returncode in (0, 1), done.stderr
        assert "XDG_STATE_HOME" not in done.stdout
        told = [line for line in done.stderr.splitlines() if "XDG_STATE_HOME" in line]
        allows = arguments[0] in ("index", "search")  # these list the project for the daemon
        assert len(told) == (1 if variables.keys() > {"XDG_STATE_HOME"} or allows else 0)


def test_a_search_updates_the_index_first_unless_told_not_to(indexed: Path) -> None:
    (indexed / "new.py").write_text("def brand_new():\n    return 1\n")
    assert "new.py" not in cairn("search", "brand_new", "--no-update", cwd=indexed).stdout
    assert "new.py:1" in cairn("search", "brand_new", cwd=indexed).stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", "load_config"], 0),
        (["search", "--mode", "literal", "no such text"], 1),
        (["fetch", "c_00000000000"], 1),
        (["status"], 0),
        (["index", "--dry-run"], 0),
        (["index", "--skipped"], 0),
        (["--version"], 0),
        (["--help"], 0),
        (["search", "--help"], 0),
        ([], 2),
        (["nonsense"], 2),
        (["search"], 2),
        (["search", "x", "--nonsense"], 2),
        (["search", "x", "-n", "-1"], 2),
        (["search", "x", "-n", "many"], 2),
        (["search", "x", "--mode", "magic"], 2),
    ],
)
def test_exit_codes_are_a_contract(indexed: Path, arguments: list[str], code: int) -> None:
    done = cairn(*arguments, cwd=indexed)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["index"],
        ["index", "--full"],
        ["index", "--dry-run"],
        ["status"],
        ["search", "load_config"],
        ["search", "load_config", "--explain"],
        ["search", "--mode", "literal", "no such text"],
    ],
    ids=" ".join,
)
def test_json_is_one_document_and_nothing_else_on_stdout(indexed: Path, arguments: list[str]) -> None:
    done = cairn(*arguments, "--json", cwd=indexed)
    assert isinstance(document(done), dict)


def test_the_json_of_a_search_has_the_documented_fields(indexed: Path) -> None:
    answer = document(cairn("search", "load_config", "--json", cwd=indexed))
    assert {"query", "mode", "branch", "generation", "code", "memory", "total_tokens_available", "coverage"} <= set(
        answer
    )
    (hit,) = answer["code"]
    assert {"id", "kind", "name", "filepath", "start_line", "end_line", "language", "signature", "tokens"} <= set(hit)
    assert (hit["name"], hit["filepath"], hit["start_line"], hit["confidence"]) == (
        "load_config",
        "config.py",
        1,
        "high",
    )
    fetched = document(cairn("fetch", hit["id"], "--json", cwd=indexed))
    assert [result["text"] for result in fetched] == [CODE.rstrip("\n")]


def test_the_json_of_an_error_holds_its_code_and_the_next_command(indexed: Path) -> None:
    done = cairn("search", "", "--json", cwd=indexed)
    assert done.returncode == 2
    error = document(done)["error"]
    assert error["code"] == "query"
    assert error["hint"].startswith("cairn search")


def test_the_project_is_found_from_a_subfolder_and_by_option(indexed: Path, tmp_path: Path) -> None:
    (indexed / "deep/er").mkdir(parents=True)
    for done in (
        cairn("search", "load_config", cwd=indexed / "deep/er"),
        cairn("search", "load_config", "-C", str(indexed), cwd=tmp_path),
        cairn("search", "load_config", "-C", str(indexed / "deep"), cwd=tmp_path),
    ):
        assert done.stdout.startswith("config.py:1")
    assert not (indexed / "deep/.cairn").exists()


def test_the_index_can_be_kept_elsewhere(project: Path, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    assert cairn("index", "--state-dir", state, cwd=project).returncode == 0
    assert cairn("search", "load_config", "--state-dir", state, cwd=project).returncode == 0
    assert not (project / ".cairn").exists()


def test_the_state_folder_is_ignored_by_git(indexed: Path, git: Git) -> None:
    assert git(indexed, "status", "--porcelain") == "?? .cairn/\n?? config.py" or git(
        indexed, "status", "--porcelain"
    ).endswith("?? config.py")
    assert "index.db" not in git(indexed, "status", "--porcelain", "-uall")


# -- how it looks -----------------------------------------------------------------------------------------------------


def test_bytes_that_could_steer_a_terminal_are_escaped(project: Path) -> None:
    (project / "evil.py").write_text("def evil():\n    return '\x1b[31mred\x07'\n")
    done = cairn("search", "evil", cwd=project)
    assert "\x1b" not in done.stdout
    assert "\\x1b[31mred\\x07" in done.stdout


def test_lines_that_end_in_a_carriage_return_look_plain(project: Path) -> None:
    (project / "windows.py").write_bytes(b"def on_windows():\r\n    return 1\r\n")
    (hit,) = document(cairn("search", "on_windows", "-n", "1", "--json", cwd=project))["code"]
    assert "\\x0d" not in cairn("fetch", hit["id"], cwd=project).stdout


# -- bad paths --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["index"], ["search", "x"], ["status"], ["fetch", "c_00000000000"]], ids=" ".join)
def test_a_path_that_is_no_folder_is_refused(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "file").write_text("x")
    check_error(cairn(*command, "-C", "nowhere", cwd=tmp_path), 2, "does not exist")
    check_error(cairn(*command, "-C", "file", cwd=tmp_path), 2, "is not a directory")


@pytest.mark.parametrize("path", ["file/below", "loop", "~no-such-user-here/x", "x" * 5_000])
def test_a_path_that_cannot_be_followed_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    check_error(cairn("index", "-C", path, cwd=tmp_path), 2)


def test_an_empty_folder_is_indexed_and_holds_nothing(tmp_path: Path) -> None:
    assert cairn("index", cwd=tmp_path).stdout.startswith("Indexed 0 files")
    done = cairn("search", "anything", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Nothing relevant" in done.stderr


def test_a_repository_without_commits_is_indexed(project: Path) -> None:
    assert document(cairn("index", "--json", cwd=project))["files"] == 1


def test_a_bare_repository_is_refused_with_the_way_out(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    check_error(cairn("index", cwd=tmp_path / "bare.git"), 2, "bare repository", "git worktree add")


def test_a_shallow_clone_is_indexed(project: Path, git: Git, tmp_path: Path) -> None:
    for number in range(2):
        (project / "more.py").write_text(f"x = {number}\n")
        git(project, "add", ".")
        git(project, "commit", "-qm", "more")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", "shallow")
    assert document(cairn("index", "--json", cwd=tmp_path / "shallow"))["files"] == 2


def test_a_submodule_is_indexed_with_its_project_and_by_itself(project: Path, git: Git, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "part.py").write_text("def part():\n    return 1\n")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "part")
    git(project, "submodule", "--quiet", "add", str(inner), "lib")
    assert "lib/part.py:1" in cairn("search", "part", cwd=project).stdout
    shutil.rmtree(project / ".cairn")
    assert cairn("search", "part", cwd=project / "lib").stdout.startswith("part.py:1")


# -- bad files --------------------------------------------------------------------------------------------------------


def test_files_that_cannot_be_indexed_are_reported_each_with_its_reason(project: Path) -> None:
    (project / "long.js").write_text("x=1;" * 2_500_000)
    (project / "nul.py").write_bytes(b"x = 1\n\0\0\n")
    (project / "link.py").symlink_to("/etc/passwd")
    done = cairn("index", "--skipped", cwd=project)
    assert done.returncode == 0
    assert "Indexed 1 file" in done.stdout
    for reason in ("long.js: larger than 1,000,000 bytes", "nul.py: binary", "link.py: symlink out of the root"):
        assert f"  {reason}\n" in done.stdout


def test_that_no_file_was_skipped_is_said_where_that_was_asked(project: Path) -> None:
    assert "Skipped no file." in cairn("index", "--skipped", cwd=project).stdout
    assert "kipped" not in cairn("index", cwd=project).stdout
    assert "skipped     0 files\n" in cairn("status", cwd=project).stdout


def test_odd_names_are_printed_on_one_line_and_kept_in_json(project: Path) -> None:
    names = ["with space.py", "line\nbreak.py", os.fsdecode(b"caf\xe9.py"), "tab\there.py", "\x1b[31m.py"]
    for number, name in enumerate(names):
        (project / name).write_text(f"def odd_{number}():\n    return 1\n")
    arguments = ["search", "def odd_", "--mode", "literal"]
    done = cairn(*arguments, cwd=project)
    assert "\x1b" not in done.stdout
    shown = [line.split("  ")[1] for line in done.stdout.splitlines() if ".py:1  " in line]
    assert sorted(shown) == [f"function odd_{number}" for number in range(len(names))]
    hits = document(cairn(*arguments, "--json", cwd=project))["code"]
    assert sorted(hit["filepath"] for hit in hits) == sorted(names)


# -- bad state --------------------------------------------------------------------------------------------------------


def test_an_index_of_a_newer_version_is_refused_until_it_is_built_anew(indexed: Path) -> None:
    with closing(sqlite3.connect(indexed / ".cairn/index.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    for command in (["index"], ["search", "x"], ["status"]):
        check_error(cairn(*command, cwd=indexed), 3, "newer Cairn", "cairn index --full")
    assert cairn("index", "--full", cwd=indexed).returncode == 0
    assert cairn("search", "load_config", cwd=indexed).returncode == 0


def test_a_corrupted_index_is_rebuilt_by_the_next_search(indexed: Path) -> None:
    (indexed / ".cairn/index.db").write_bytes(b"garbage" * 1_000)
    check_error(cairn("status", cwd=indexed), 3, "damaged", "cairn index")
    assert cairn("search", "load_config", cwd=indexed).stdout.startswith("config.py:1")
    assert len(list((indexed / ".cairn").glob("index.db.damaged-*"))) >= 1


def test_searching_without_update_before_the_first_run_says_what_to_do(project: Path) -> None:
    check_error(cairn("search", "x", "--no-update", cwd=project), 3, "not indexed", "cairn index")
    check_error(cairn("status", cwd=project), 3, "not indexed", "cairn index")


def commit_on_a_branch(root: Path, git: Git) -> None:
    """Commit what is there, and on `feature`, which is not checked out then, one file more."""
    git(root, "add", "config.py")
    git(root, "commit", "-qm", "first")
    git(root, "switch", "-qc", "feature")
    (root / "extra.py").write_text(CODE.replace("load_config", "load_extra"))
    git(root, "add", "extra.py")
    git(root, "commit", "-qm", "second")
    git(root, "switch", "-q", "main")


def test_a_run_that_does_not_name_every_language_says_how_many_it_leaves_out(tmp_path: Path) -> None:
    for ending in ("c", "css", "go", "java", "js", "md", "py", "rb", "rs", "sh"):
        (tmp_path / f"file.{ending}").write_text("\n")
    shown = cairn("index", cwd=tmp_path).stdout
    assert shown.count(" 1 file\n") == 8
    assert "  2 more languages; all of them: cairn status\n" in shown
    assert cairn("status", cwd=tmp_path).stdout.count(" 1 file\n") == 10


def test_a_branch_is_searched_and_fetched_without_checking_it_out(project: Path, git: Git) -> None:
    commit_on_a_branch(project, git)
    done = cairn("search", "load_extra", "--branch", "feature", "--json", cwd=project)
    answer = document(done)
    assert (answer["view"], answer["branch"]) == ("refs/heads/feature", "feature")
    assert answer["revision"] == git(project, "rev-parse", "feature")
    (hit,) = [row for row in answer["code"] if row["name"] == "load_extra"]
    assert hit["filepath"] == "extra.py"
    fetched = cairn("fetch", hit["id"], cwd=project)
    assert "def load_extra(path):" in fetched.stdout
    assert f"of commit {answer['revision'][:12]}, not of the files on disk" in fetched.stdout
    assert document(cairn("search", "load_extra", "--json", cwd=project))["view"] == str(project)
    text = cairn("search", "load_extra", "--branch", "feature", cwd=project)
    assert f"From feature, commit {answer['revision'][:12]}; the files on disk are not searched." in text.stderr


def test_a_branch_is_indexed_without_checking_it_out(project: Path, git: Git) -> None:
    commit_on_a_branch(project, git)
    assert "Indexed 2 files" in cairn("index", "--branch", "feature", cwd=project).stdout
    assert cairn("search", "load_extra", "--branch", "feature", "--no-update", cwd=project).stdout.startswith(
        "extra.py"
    )
    done = cairn("search", "x", "--branch", "main", "--no-update", cwd=project)
    check_error(done, 3, "this project is not indexed yet", "cairn index")
    check_error(cairn("index", "--branch", "nonsense", cwd=project), 2, "error[revision]", "git branch --all")


def test_an_answer_from_an_index_that_is_not_complete_says_how_much_there_is(project: Path) -> None:
    for number in range(6):
        (project / f"file_{number}.py").write_text(CODE.replace("load_config", f"load_{number}"))

    def stop(done: int, _total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with Workspace.open(project, settings=Settings(batch_chunks=1)) as workspace, pytest.raises(KeyboardInterrupt):
        workspace.index(progress=stop)
    done = cairn("search", "load_config", "--no-update", cwd=project)
    assert "3 of 7 files are indexed; continue with: cairn index" in done.stderr
    assert document(cairn("search", "load_config", "--no-update", "--json", cwd=project))["coverage"]["pending"] == 4


def test_a_state_folder_that_cannot_be_written_is_an_error_of_the_store(project: Path) -> None:
    check_error(cairn("index", "--state-dir", "config.py/state", cwd=project), 3, "cannot write", "CAIRN_STATE_DIR")


def test_a_setting_that_cannot_be_used_is_an_error_of_configuration(project: Path) -> None:
    check_error(cairn("index", cwd=project, environment={"CAIRN_MAX_FILE_BYTES": "many"}), 2, "max_file_bytes")
    (project / ".cairn").mkdir()
    (project / ".cairn/config.yaml").write_text("max_fil_bytes: 1\n")
    check_error(cairn("index", cwd=project), 2, "max_fil_bytes")
    (project / ".cairn/config.yaml").write_text("[unbalanced")
    check_error(cairn("index", cwd=project), 2, "config.yaml")


# -- bad queries ------------------------------------------------------------------------------------------------------


def test_queries_that_cannot_be_run_are_refused(indexed: Path) -> None:
    check_error(cairn("search", "", cwd=indexed), 2, "empty")
    check_error(cairn("search", " \n", cwd=indexed), 2, "empty")
    check_error(cairn("search", "--mode", "literal", "word " * 20_000, cwd=indexed), 2, "characters")
    check_error(cairn("search", "--mode", "regex", "(unbalanced", cwd=indexed), 2, "invalid regular expression")


def test_a_filter_for_paths_of_any_bytes_finds_nothing(indexed: Path) -> None:
    done = cairn("search", "load_config", "--in", b"\xff", cwd=indexed)
    assert done.returncode == 1, done.stderr


def test_a_language_that_nobody_knows_is_a_usage_error_that_names_the_known_ones(indexed: Path) -> None:
    for language in (b"\xff", b"cobol"):
        done = cairn("search", "load_config", "--lang", language, cwd=indexed)
        assert done.returncode == 2
        assert "python" in done.stderr


def test_a_kind_that_nobody_knows_is_a_usage_error_that_names_the_known_ones(indexed: Path) -> None:
    for kind in (b"\xff", b"klass"):
        for command in (("search", "load_config"), ("similar", "config.py:1")):
            done = cairn(*command, "--kind", kind, cwd=indexed)
            assert done.returncode == 2
            assert "class, " in done.stderr


def test_a_query_that_begins_with_a_dash_can_be_given_behind_two_dashes(indexed: Path) -> None:
    assert cairn("search", "--mode", "literal", "--", "-x", cwd=indexed).returncode == 1


def test_a_context_indexes_first_and_prints_each_text_below_its_place(project: Path) -> None:
    done = cairn("context", "read the settings file", cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith("config.py:1  function load_config  1-3  ~")
    head, *text = done.stdout.splitlines()
    assert "\n".join(text[1:]).startswith(f"function load_config 1-3:\n{CODE}")
    assert cairn("fetch", head.split()[-1], cwd=project).stdout.endswith(f"{CODE}\n")
    (item,) = document(cairn("context", "--id", head.split()[-1], "--json", cwd=project))["items"]
    assert item["name"] == "load_config"


def test_a_context_may_begin_with_a_file_and_says_what_has_no_room(project: Path) -> None:
    found = document(cairn("context", "read the settings file", "--file", "config.py", "--json", cwd=project))
    assert [item["kind"] for item in found["items"]] == ["file", "function"]
    done = cairn("context", "read the settings file", "--max-tokens", "1", cwd=project)
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 more; raise --max-tokens or -n" in done.stderr


def test_a_context_of_nothing_is_exit_code_one_and_one_without_a_task_is_a_usage_error(indexed: Path) -> None:
    done = cairn("context", "zzqx", cwd=indexed)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Nothing relevant for 'zzqx'" in done.stderr
    assert document(cairn("context", "zzqx", "--json", cwd=indexed))["items"] == []
    check_error(cairn("context", cwd=indexed), 2, "error[request]", "cairn context TASK")
    beyond = cairn("context", "x", "-n", "51", cwd=indexed)
    assert (beyond.returncode, "must be at most 50" in beyond.stderr) == (2, True)
    check_error(cairn("context", "--file", "gone.py", cwd=indexed), 1, "there is no file gone.py")


def test_an_outline_needs_no_index_and_its_names_can_be_fetched(project: Path) -> None:
    done = cairn("outline", "config.py", cwd=project)
    assert done.returncode == 0
    assert "1-3 load_config(path)  Read the settings file." in done.stdout
    assert cairn("fetch", "config.py#load_config", cwd=project).stdout.endswith(f"{CODE}\n")
    assert not (project / ".cairn").exists()


def test_ids_that_name_nothing_do_not_keep_others_from_being_fetched(project: Path) -> None:
    done = cairn("fetch", "config.py#load_config", "config.py#nope", cwd=project)
    assert CODE in done.stdout
    assert "error[not-found]" in done.stderr
    assert "nope" in done.stderr
    assert done.returncode == 1
    found, missing = document(cairn("fetch", "config.py#load_config", "config.py#nope", "--json", cwd=project))
    assert found["text"] == CODE.rstrip()
    assert "error" not in found
    assert (missing["id"], missing["text"], missing["error"]["code"]) == ("config.py#nope", "", "not-found")


def test_an_error_names_every_id_of_a_fetch_that_finds_nothing(project: Path) -> None:
    done = cairn("fetch", "config.py#nope", "config.py#neither", cwd=project)
    check_error(done, 1, "error[not-found]", "nope", "neither")


def test_a_file_is_named_from_where_the_command_runs(project: Path) -> None:
    (project / "inner").mkdir()
    (project / "inner" / "deep.py").write_text("def deep(): ...\n")
    assert document(cairn("outline", "deep.py", "--json", cwd=project / "inner"))["filepath"] == "inner/deep.py"
    assert document(cairn("outline", "config.py", "--json", cwd=project / "inner"))["filepath"] == "config.py"


def test_an_outline_whose_lists_have_no_room_is_found_all_the_same(project: Path) -> None:
    done = cairn("outline", "config.py", "--json", "--max-tokens", "90", cwd=project)
    shown = document(done)
    assert "load_config" in shown["text"]
    assert (shown["symbols"], shown["omitted"], shown["unlisted"] > 0) == ([], 0, True)
    assert done.returncode == 0


def test_the_summary_of_a_core_file_is_kept_without_secrets(project: Path) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert cairn("core", "add", "config.py", "--summary", f"reads {secret}", cwd=project).returncode == 0
    assert "reads [redacted: github-token]" in (project / ".cairn" / "core.yaml").read_text()


def test_core_files_without_room_are_found_all_the_same(project: Path) -> None:
    assert cairn("core", "add", "config.py", cwd=project).returncode == 0
    done = cairn("core", "list", "--max-tokens", "1", cwd=project)
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 more; raise --max-tokens" in done.stderr


def test_an_outline_of_nothing_is_exit_code_one(project: Path) -> None:
    (project / "empty.py").write_text("")
    assert cairn("outline", "empty.py", cwd=project).returncode == 1


def test_wrong_names_get_an_error_with_the_next_command(project: Path) -> None:
    check_error(cairn("outline", "config.py", "--symbol", "lod_config", cwd=project), 1, "nearest are load_config")
    check_error(cairn("outline", "gone.py", cwd=project), 1, "there is no file gone.py")
    check_error(cairn("flow", "config.py", cwd=project), 2, "does not name a function")
    check_error(cairn("slice", "config.py:x", cwd=project), 2, "does not name a line")
    (project / "twice.py").write_text("def f(): ...\ndef f(a): ...\n")
    check_error(cairn("outline", "twice.py", "--symbol", "f", cwd=project), 2, "error[ambiguous]", "f~1 (line 1)")


def test_flow_and_slices_are_printed_as_text_charts_and_json(project: Path) -> None:
    (project / "sum.py").write_text("def f(a, b):\n    x = a\n    y = b\n    return x\n")
    assert "x written 2, read 4" in cairn("flow", "sum.py:f", cwd=project).stdout
    assert "x written" not in cairn("flow", "sum.py#f", "--cfg", cwd=project).stdout
    assert cairn("flow", "sum.py:f", "--mermaid", cwd=project).stdout.startswith("flowchart TD\n")
    assert document(cairn("flow", "sum.py:f", "--json", cwd=project))["complexity"] == 1
    assert "y = b" not in cairn("slice", "sum.py:4", cwd=project).stdout
    cut = document(cairn("slice", "sum.py:2:x", "--forward", "--json", cwd=project))
    assert [line["line"] for line in cut["lines"]] == [1, 2, 4]
    assert cut["direction"] == "forward"


# -- similar and structural search ------------------------------------------------------------------------------------


def test_similar_prints_copies_and_finds_them_for_code_on_stdin(project: Path) -> None:
    (project / "copy.py").write_text(f"# copied\n{CODE}")
    done = cairn("similar", "config.py:2", "--json", cwd=project)
    (hit,) = document(done)["code"]
    assert (hit["filepath"], hit["match"], hit["similarity"]) == ("copy.py", "exact", 1.0)
    assert done.returncode == 0
    assert "exact 1.00" in cairn("similar", "config.py:2", cwd=project).stdout
    piped = cairn("similar", "-", cwd=project, stdin=CODE)
    assert piped.returncode == 0
    assert "config.py" in piped.stdout
    assert "copy.py" in piped.stdout
    assert "Taken for python" in piped.stderr


def test_similar_exits_with_1_when_nothing_is(project: Path) -> None:
    done = cairn("similar", "config.py:1", cwd=project)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Nothing similar" in done.stderr


def test_similar_refuses_what_is_no_place_and_what_is_no_code(project: Path) -> None:
    check_error(cairn("similar", "config.py", cwd=project), 2, "does not name a line")
    check_error(cairn("similar", "config.py:99", cwd=project), 1, "it has 3")
    check_error(cairn("similar", "none.py:1", cwd=project), 1, "no file none.py")
    for text, message in (("", "no code"), ("x = 1\n" * 200_000, "more than")):
        check_error(cairn("similar", "-", cwd=project, stdin=text), 2, message)


def test_a_structural_search_explains_what_its_metavariables_stand_for(project: Path) -> None:
    done = cairn("search", "--mode", "structural", "def $F($ARG)", "--explain", cwd=project)
    assert "$F = load_config  $ARG = path" in done.stdout
    shown = document(cairn("search", "def $F($$$)", "--json", cwd=project))
    assert shown["mode"] == "structural"
    assert shown["code"][0]["captures"] == [{"F": "load_config"}]
    check_error(cairn("search", "--mode", "structural", "load(", cwd=project), 2, "unbalanced")
    assert cairn("search", "--mode", "structural", "absent($$$)", cwd=project).returncode == 1


def test_a_project_without_memories_says_how_to_keep_one(tmp_path: Path) -> None:
    listed, chosen = cairn("memories", cwd=tmp_path), cairn("memories", "--type", "gotcha", cwd=tmp_path)
    assert (listed.returncode, listed.stderr) == (
        1,
        "There are no memories yet; keep one with: cairn remember TEXT\n",
    )
    assert (chosen.returncode, chosen.stderr) == (1, "There are no such memories.\n")
