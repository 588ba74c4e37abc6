from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cairn.config import Settings
from cairn.errors import IndexMissingError, IndexVersionError, StoreError
from cairn.storage.index.schema import INDEX, MIGRATIONS
from cairn.storage.lock import write_lock
from cairn.types import IndexReport
from cairn.workspace import Workspace

Git = Callable[..., str]
LONG_AGO_NS = 1_600_000_000_000_000_000
QUERIES = ("how are things stored", "alpha_1", '"return offset"', "beta handler", "gamma|delta_2")


def write(root: Path, files: dict[str, str], *, mtime_ns: int | None = LONG_AGO_NS) -> None:
    """Write files as if long ago, so that their time vouches for their content."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        if mtime_ns is not None:
            os.utime(root / path, ns=(mtime_ns, mtime_ns))


def module(name: str, *, count: int = 2) -> str:
    body = "\n".join(f"    {name}_{step} = store(offset + {step})" for step in range(10))
    return "\n\n".join(
        f'def {name}_{number}(offset):\n    """The {name} handler stores things."""\n{body}\n    return offset'
        for number in range(count)
    )


def index(root: Path, **options: Any) -> IndexReport:  # noqa: ANN401 - passed on
    with Workspace.open(root) as workspace:
        return workspace.index(**options)


def chunks(workspace: Workspace) -> list[tuple[object, ...]]:
    """Return all the index holds of each path, without the ids that depend on history."""
    with closing(sqlite3.connect(workspace.state.database)) as connection:
        files = connection.execute(
            """SELECT path, blob_id, language, n_chunks FROM file JOIN blob ON blob.id = file.blob_id
               WHERE view_id = (SELECT id FROM view WHERE name = ?) ORDER BY path""",
            (str(workspace.root),),
        ).fetchall()
        result: list[tuple[object, ...]] = []
        for path, blob, language, n_chunks in files:
            bounds = (blob << 20, (blob + 1) << 20)
            rows = connection.execute(
                "SELECT id & 1048575, * FROM chunk WHERE id >= ? AND id < ? ORDER BY id", bounds
            ).fetchall()
            names = connection.execute(
                "SELECT chunk & 1048575, qualified_name, start_line FROM definition WHERE id >= ? AND id < ?", bounds
            ).fetchall()
            assert len(rows) == n_chunks
            result.append((os.fsdecode(path), language, [(row[0], *row[2:]) for row in rows], names))
    return result


Answers = list[tuple[list[tuple[str, int, str, str]], list[float]]]


def answers(workspace: Workspace) -> Answers:
    """Return the hits of some queries, and their scores."""
    result: Answers = []
    for query in QUERIES:
        hits = workspace.search(query, limit=50).code
        found = sorted((hit.path, hit.start_line, hit.id, hit.name) for hit in hits)
        result.append((found, sorted(hit.score for hit in hits)))
    return result


def check_same_answers(actual: Answers, wanted: Answers) -> None:
    """Compare answers; the order in which rows are added up may change the last digits of a score, and so ties."""
    for (hits, scores), (wanted_hits, wanted_scores) in zip(actual, wanted, strict=True):
        assert hits == wanted_hits
        assert scores == pytest.approx(wanted_scores, abs=0.005)


def check_equals_fresh_index(root: Path, state: Path) -> None:
    """Compare the incremental index of `root` with one that is built at once."""
    shutil.rmtree(state, ignore_errors=True)
    with Workspace.open(root) as incremental, Workspace.open(root, state_dir=state) as fresh:
        report = fresh.index()
        assert incremental.index().chunks == report.chunks
        assert chunks(incremental) == chunks(fresh)
        check_same_answers(answers(incremental), answers(fresh))


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    """A repository with three committed files, indexed."""
    write(checkout, {"alpha.py": module("alpha"), "lib/beta.py": module("beta"), "README.md": "# Title\n\nWords.\n"})
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "first")
    index(checkout)
    return checkout


# -- what a run does --------------------------------------------------------------------------------------------------


def test_what_an_interrupted_run_committed_is_shown_by_one_that_finds_nothing_more(project: Path) -> None:
    write(project, {f"old_{number}.py": module(f"old_{number}") for number in range(40)})
    index(project)
    write(project, {"a_1.py": module("a_1"), "a_2.py": module("a_2")})

    def stop_after_a_commit(_done: int, _total: int) -> None:
        with closing(sqlite3.connect(project / ".cairn" / "index.db")) as connection:
            if connection.execute("SELECT 1 FROM file WHERE path = ?", (b"a_1.py",)).fetchone():
                raise KeyboardInterrupt

    with Workspace.open(project, settings=Settings(batch_chunks=1)) as workspace, pytest.raises(KeyboardInterrupt):
        workspace.index(progress=stop_after_a_commit)
    (project / "a_2.py").unlink()
    (project / "a_1.py").touch()
    index(project)
    with Workspace.open(project) as workspace:
        assert workspace.search("a_1_0").code[0].path == "a_1.py"


def test_the_first_run_indexes_every_file(checkout: Path) -> None:
    write(checkout, {"alpha.py": module("alpha"), "lib/beta.py": module("beta"), "data.bin": "\0\0"})
    report = index(checkout)
    assert (report.files, report.added, report.changed, report.removed) == (2, 2, 0, 0)
    assert report.chunks == report.embedded_chunks > 0
    assert report.languages == {"python": 2}
    assert [skip.path for skip in report.skipped] == ["data.bin"]


def test_progress_counts_files_up_to_all_of_them(checkout: Path) -> None:
    write(checkout, {"alpha.py": module("alpha"), "beta.py": module("beta")})
    seen: list[tuple[int, int]] = []
    index(checkout, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2), (2, 2)]


def test_a_run_with_nothing_changed_does_nothing(project: Path) -> None:
    derived = {file: file.stat().st_mtime_ns for file in (project / ".cairn/derived").iterdir()}
    before = index(project)
    report = index(project)
    assert (report.added, report.changed, report.removed, report.embedded_chunks) == (0, 0, 0, 0)
    assert report.unchanged == report.files == 3
    assert report.generation == before.generation
    assert derived == {file: file.stat().st_mtime_ns for file in (project / ".cairn/derived").iterdir()}


def test_an_edited_file_is_indexed_anew_and_alone(project: Path) -> None:
    write(project, {"alpha.py": module("gamma")}, mtime_ns=None)
    report = index(project)
    assert (report.changed, report.added, report.unchanged) == (1, 0, 2)
    assert report.embedded_chunks == 2
    with Workspace.open(project) as workspace:
        assert workspace.search("gamma_1").code[0].name == "gamma_1"
        assert workspace.search('"alpha_1"', mode="literal").code == ()


def test_a_new_file_is_added(project: Path) -> None:
    write(project, {"new/gamma.py": module("gamma")})
    report = index(project)
    assert (report.added, report.files) == (1, 4)


def test_a_deleted_file_is_dropped(project: Path) -> None:
    (project / "alpha.py").unlink()
    report = index(project)
    assert (report.removed, report.files) == (1, 2)
    with Workspace.open(project) as workspace:
        assert "alpha.py" not in {hit.path for hit in workspace.search("alpha_1", limit=50).code}


def test_a_renamed_file_is_followed_without_embedding_again(project: Path, git: Git) -> None:
    git(project, "mv", "alpha.py", "moved.py")
    report = index(project)
    assert (report.renamed, report.added, report.removed, report.embedded_chunks) == (1, 0, 0, 0)
    with Workspace.open(project) as workspace:
        assert workspace.search("alpha_1").code[0].path == "moved.py"


def test_one_content_at_two_paths_is_embedded_once_and_found_under_both(checkout: Path) -> None:
    write(checkout, {"a/alpha.py": module("alpha"), "b/alpha.py": module("alpha")})
    report = index(checkout)
    assert (report.files, report.embedded_chunks, report.chunks) == (2, 2, 4)
    with Workspace.open(checkout) as workspace:
        for folder in "ab":
            (hit, *_) = workspace.search("alpha_1", globs=[folder]).code
            assert hit.path == f"{folder}/alpha.py"
            assert workspace.fetch([hit.id])[0].path == hit.path
        assert {hit.path for hit in workspace.search('"alpha_1"').code} == {"a/alpha.py", "b/alpha.py"}


def test_content_that_comes_back_is_not_embedded_again(project: Path) -> None:
    text = (project / "alpha.py").read_text()
    write(project, {"alpha.py": "x = 1\n"}, mtime_ns=None)
    index(project)
    write(project, {"alpha.py": text}, mtime_ns=None)
    report = index(project)
    assert (report.changed, report.embedded_chunks) == (1, 0)


def test_a_file_that_was_only_touched_is_no_change(project: Path) -> None:
    generation = index(project).generation
    os.utime(project / "alpha.py")
    report = index(project)
    assert (report.changed, report.unchanged, report.generation) == (0, 3, generation)


def test_an_edit_that_keeps_size_and_time_is_noticed_when_it_follows_the_run_closely(checkout: Path) -> None:
    write(checkout, {"alpha.py": "value = 'first'\n"}, mtime_ns=None)
    status = (checkout / "alpha.py").stat()
    index(checkout)
    write(checkout, {"alpha.py": "value = 'other'\n"}, mtime_ns=status.st_mtime_ns)
    assert index(checkout).changed == 1
    with Workspace.open(checkout) as workspace:
        assert workspace.search('"other"').code


def test_a_file_that_vanishes_between_walk_and_read_is_in_the_report(checkout: Path) -> None:
    write(checkout, {"alpha.py": module("alpha"), "beta.py": module("beta")})
    report = index(checkout, progress=lambda done, _: (checkout / "beta.py").unlink() if done == 0 else None)
    assert report.files == 1
    assert [(skip.path, skip.reason) for skip in report.skipped] == [("beta.py", "vanished while indexing")]


def test_a_file_that_grows_too_large_while_it_is_read_is_in_the_report(checkout: Path) -> None:
    write(checkout, {"alpha.py": module("alpha"), "beta.py": module("beta")})
    with Workspace.open(checkout, settings=Settings(max_file_bytes=10_000)) as workspace:
        report = workspace.index(
            progress=lambda done, _: write(checkout, {"beta.py": "x = 1\n" * 9_000}) if done == 0 else None
        )
    assert report.files == 1
    assert [skip.path for skip in report.skipped] == ["beta.py"]


def test_a_file_that_becomes_a_folder_while_it_is_read_is_in_the_report(checkout: Path) -> None:
    write(checkout, {"alpha.py": module("alpha"), "beta.py": module("beta")})

    def replace(done: int, _: int) -> None:
        if done == 0:
            (checkout / "beta.py").unlink()
            (checkout / "beta.py").mkdir()

    report = index(checkout, progress=replace)
    assert [skip.path for skip in report.skipped] == ["beta.py"]
    assert report.added == report.files == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_in_the_report(checkout: Path) -> None:
    write(checkout, {"alpha.py": module("alpha"), "beta.py": module("beta")})
    (checkout / "beta.py").chmod(0)
    assert [skip.path for skip in index(checkout).skipped] == ["beta.py"]


def test_full_builds_anew_to_the_same_result(project: Path, tmp_path: Path) -> None:
    before = index(project)
    report = index(project, full=True)
    assert (report.added, report.files, report.chunks) == (3, 3, before.chunks)
    assert report.embedded_chunks == before.chunks
    assert report.generation > before.generation
    check_equals_fresh_index(project, tmp_path / "fresh")


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(project: Path) -> None:
    write(project, {"alpha.py": "x = 1\n", "new.py": "y = 1\n"}, mtime_ns=None)
    (project / "README.md").unlink()
    before = {file: file.read_bytes() for file in (project / ".cairn").rglob("*") if file.is_file()}
    report = index(project, dry_run=True)
    assert (report.dry_run, report.added, report.changed, report.removed) == (True, 1, 1, 1)
    files = {file: file.read_bytes() for file in (project / ".cairn").rglob("*") if file.is_file()}
    assert {f: c for f, c in before.items() if "-shm" not in f.name} == {
        f: c for f, c in files.items() if "-wal" not in f.name and "-shm" not in f.name
    }


def test_a_dry_run_counts_a_file_with_other_times_and_the_same_content_as_it_is(project: Path) -> None:
    for file in project.rglob("*.py"):
        os.utime(file)
    report = index(project, dry_run=True)
    assert (report.added, report.changed, report.removed) == (0, 0, 0)
    changed = next(project.rglob("*.py"))
    changed.write_bytes(changed.read_bytes()[::-1])
    done = index(project, dry_run=True)
    assert (done.changed, done.unchanged) == (1, report.unchanged - 1)
    assert index(project).changed == 1


def test_files_that_are_skipped_for_what_they_hold_count_as_neither_up_to_date_nor_dropped(project: Path) -> None:
    write(project, {"pointer.json": "version https://git-lfs.github.com/spec/v1\n", "page.txt": "%PDF-1.7\n"})
    assert index(project).unchanged == 3
    assert (index(project).unchanged, index(project, dry_run=True).unchanged) == (3, 3)
    os.utime(project / "pointer.json")
    dry = index(project, dry_run=True)
    assert (dry.added, dry.changed, dry.unchanged) == (0, 0, 3)
    assert (index(project).changed, index(project).unchanged) == (0, 3)
    (project / "pointer.json").unlink()
    assert index(project, dry_run=True).removed == index(project).removed == 0
    write(project, {"page.txt": "readable by now\n"})
    assert (index(project, dry_run=True).added, index(project).added) == (1, 1)


def test_a_dry_run_of_a_project_without_index_leaves_no_trace(checkout: Path) -> None:
    write(checkout, {"alpha.py": "x = 1\n"})
    assert index(checkout, dry_run=True).added == 1
    assert not (checkout / ".cairn").exists()


def test_an_empty_folder_gives_an_index_that_answers_with_nothing(tmp_path: Path) -> None:
    with Workspace.open(tmp_path) as workspace:
        assert workspace.index().files == 0
        for query in QUERIES:
            assert workspace.search(query).code == ()


def test_searching_before_indexing_says_so(checkout: Path) -> None:
    with Workspace.open(checkout) as workspace, pytest.raises(IndexMissingError) as caught:
        workspace.search("anything")
    assert caught.value.hint == "cairn index"


# -- a run at a time equals all at once -------------------------------------------------------------------------------

NAMES = ("alpha", "beta", "gamma", "delta")
PATHS = ("a.py", "b.py", "lib/c.py", "lib/deep/d.py", "e.txt", "test_a.py")
EDITS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(NAMES), st.integers(0, 4)),
    st.tuples(st.just("delete"), st.sampled_from(PATHS)),
    st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.tuples(st.just("index")),
    st.tuples(st.just("lose"), st.integers(0, 9)),
)


def edit(root: Path, state: Path, step: tuple[Any, ...]) -> None:
    match step:
        case ("write", path, name, count):
            write(root, {path: module(name, count=count)}, mtime_ns=None)
        case ("delete", path):
            (root / path).unlink(missing_ok=True)
        case ("rename", old, new) if (root / old).exists():
            (root / new).parent.mkdir(parents=True, exist_ok=True)
            (root / old).rename(root / new)
        case ("index",):
            with Workspace.open(root, state_dir=state, settings=Settings(batch_chunks=3)) as workspace:
                workspace.index()
        case ("lose", number) if files := sorted(state.glob("derived/*")):
            files[number % len(files)].unlink()


@given(st.lists(EDITS, min_size=4, max_size=14))
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_any_sequence_of_edits_ends_in_the_index_a_fresh_run_gives(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[Any, ...]]
) -> None:
    base = tmp_path_factory.mktemp("edits")
    root = base / "root"
    root.mkdir()
    state = base / "state"
    for step in steps:
        edit(root, state, step)
    with Workspace.open(root, state_dir=state) as incremental, Workspace.open(root, state_dir=base / "fresh") as fresh:
        incremental.index()
        fresh.index()
        assert chunks(incremental) == chunks(fresh)
        check_same_answers(answers(incremental), answers(fresh))


def test_many_small_runs_are_merged_and_what_is_gone_is_collected(checkout: Path, tmp_path: Path) -> None:
    shuffled = random.Random(7)
    with Workspace.open(checkout, settings=Settings(batch_chunks=2)) as workspace:
        for number in range(24):
            write(checkout, {f"f{number % 5}.py": module(f"{shuffled.choice(NAMES)}_{number}")}, mtime_ns=None)
            workspace.index()
        assert len(list(workspace.state.derived.glob("*.seg"))) <= 7
        with closing(sqlite3.connect(workspace.state.database)) as connection:
            assert connection.execute("SELECT count(*) FROM blob").fetchone()[0] < 24
    check_equals_fresh_index(checkout, tmp_path / "fresh")


# -- side by side -----------------------------------------------------------------------------------------------------

INDEXER = "import sys, cairn\nwith cairn.Workspace.open(sys.argv[1]) as ws:\n    print(ws.index().files)"
SEARCHER = """
import sys, cairn
with cairn.Workspace.open(sys.argv[1]) as ws:
    for _ in range(40):
        answer = ws.search("alpha_1")
        assert answer.code and answer.code[0].name == "alpha_1", answer
        assert ws.fetch([answer.code[0].id])[0].text.startswith("def alpha_1")
print("ok")
"""


def spawn(script: str, root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_processes_that_index_at_once_all_succeed(checkout: Path, tmp_path: Path) -> None:
    write(checkout, {f"f{number}.py": module(f"alpha_{number}") for number in range(40)})
    processes = [spawn(INDEXER, checkout) for _ in range(3)]
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out.strip()) == (0, "40"), err
    check_equals_fresh_index(checkout, tmp_path / "fresh")


def test_a_search_is_right_while_another_process_indexes(project: Path) -> None:
    process = spawn(SEARCHER, project)
    with Workspace.open(project, settings=Settings(batch_chunks=2)) as workspace:
        number = 0
        while process.poll() is None:
            number += 1
            write(project, {f"more/f{number % 9}.py": module(f"gamma_{number}")}, mtime_ns=None)
            workspace.index()
    out, err = process.communicate()
    assert (process.returncode, out.strip()) == (0, "ok"), err


def test_the_first_part_of_an_index_that_another_process_builds_is_enough_to_answer(
    project: Path, tmp_path: Path
) -> None:
    with Workspace.open(project, state_dir=tmp_path / "done") as other:
        other.index()
    own = tmp_path / "own"
    own.mkdir()
    shutil.copy(other.state.path / "seal", own)
    with Workspace.open(project, state_dir=own) as workspace, Workspace.open(project, state_dir=own) as waiting:
        workspace.state.create()
        with write_lock(workspace.state.lock, 0.0, INDEX), ThreadPoolExecutor() as pool:  # as if it were building
            told, found = pool.submit(workspace.refresh), pool.submit(Workspace.search, waiting, "alpha_1")
            shutil.copytree(other.state.derived, workspace.state.derived, dirs_exist_ok=True)
            assert not told.done()
            assert not found.done()
            partial = workspace.state.database.with_suffix(".new")
            shutil.copyfile(other.state.database, partial)
            partial.replace(workspace.state.database)
            assert told.result(timeout=30) == "another process is updating the index: this is what it holds so far"
            assert found.result(timeout=30).code[0].name == "alpha_1"


def test_an_open_workspace_sees_what_another_one_indexed(project: Path) -> None:
    with Workspace.open(project) as reader:
        assert reader.search("zeta_1").code == () or reader.search("zeta_1").code[0].name != "zeta_1"
        write(project, {"zeta.py": module("zeta")})
        index(project)
        assert reader.search("zeta_1").code[0].name == "zeta_1"


def test_linked_worktrees_share_the_index_each_with_its_own_files(project: Path, git: Git, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(project, "worktree", "add", "-q", str(other), "-b", "side")
    write(other, {"zeta.py": module("zeta")})
    with Workspace.open(project) as main, Workspace.open(other) as side:
        assert side.state.path == main.state.path
        report = side.index()
        assert (report.files, report.embedded_chunks) == (4, 2)
        for _ in range(2):
            assert main.search("zeta_1", mode="literal").code == ()
            assert side.search("zeta_1", mode="literal").code
        assert (main.search("alpha_1").branch, side.search("alpha_1").branch) == ("main", "side")


def test_indexing_one_worktree_leaves_the_others_nothing_to_do(project: Path, git: Git, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(project, "worktree", "add", "-q", str(other), "-b", "side")
    index(project)
    generation = index(other).generation
    assert index(project).generation == generation
    assert index(other).generation == generation


def test_a_branch_whose_name_is_no_utf_8_is_no_obstacle(project: Path) -> None:
    (project / ".git/HEAD").write_bytes(b"ref: refs/heads/caf\xe9\n")
    assert index(project).files == 3
    with Workspace.open(project) as workspace:
        assert workspace.search("alpha_1").branch == "caf\\xe9"


# -- damage -----------------------------------------------------------------------------------------------------------


def derived_files(root: Path) -> list[Path]:
    return sorted((root / ".cairn/derived").iterdir())


def remove(file: Path) -> None:
    file.unlink()


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def alter(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)


@pytest.mark.parametrize("harm", [remove, truncate, empty, alter])
@pytest.mark.parametrize("suffix", [".seg", ".arr"])
def test_a_harmed_derived_file_is_mended_and_never_gives_a_wrong_answer(
    project: Path, tmp_path: Path, harm: Callable[[Path], None], suffix: str
) -> None:
    with Workspace.open(project) as workspace:
        right = answers(workspace)
    for file in derived_files(project):
        if file.suffix == suffix:
            harm(file)
    with Workspace.open(project) as workspace:
        check_same_answers(answers(workspace), right)
    check_equals_fresh_index(project, tmp_path / "fresh")


@pytest.mark.parametrize("harm", [remove, truncate, empty])
def test_a_run_notices_a_derived_file_of_the_wrong_size(project: Path, harm: Callable[[Path], None]) -> None:
    for file in derived_files(project):
        harm(file)
    report = index(project)
    assert report.embedded_chunks == report.chunks
    with Workspace.open(project) as workspace:
        assert workspace.search("alpha_1").code[0].name == "alpha_1"


def test_a_segment_altered_in_place_is_found_out_when_segments_are_merged(checkout: Path, tmp_path: Path) -> None:
    for number in range(6):
        write(checkout, {f"f{number}.py": module(f"alpha_{number}")})
        index(checkout)
    alter(next((checkout / ".cairn/derived").glob("*.seg")))
    write(checkout, {"last.py": module("beta")})
    assert index(checkout).files == 7
    assert not list((checkout / ".cairn").glob("*.damaged-*"))
    check_equals_fresh_index(checkout, tmp_path / "fresh")


def test_a_database_that_is_none_is_moved_aside_and_rebuilt(project: Path) -> None:
    database = project / ".cairn/index.db"
    database.write_bytes(b"this is no database at all, not even close " * 100)
    for suffix in ("-wal", "-shm"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)
    assert index(project).files == 3
    assert [file.read_bytes()[:7] for file in (project / ".cairn").glob("index.db.damaged-*")] == [b"this is"]


def test_a_database_cut_short_is_rebuilt(project: Path, tmp_path: Path) -> None:
    database = project / ".cairn/index.db"
    database.write_bytes(database.read_bytes()[:20_000])
    assert index(project).files == 3
    check_equals_fresh_index(project, tmp_path / "fresh")


def test_a_database_with_a_page_overwritten_is_rebuilt(project: Path, tmp_path: Path) -> None:
    database = project / ".cairn/index.db"
    data = bytearray(database.read_bytes())
    data[8192:] = os.urandom(len(data) - 8192)  # the schema stays readable
    database.write_bytes(data)
    assert index(project, full=True).files == 3
    check_equals_fresh_index(project, tmp_path / "fresh")


def make_newer(root: Path) -> None:
    with closing(sqlite3.connect(root / ".cairn/index.db")) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")


def test_an_index_of_a_newer_version_is_refused_and_left_alone(project: Path) -> None:
    make_newer(project)
    before = (project / ".cairn/index.db").read_bytes()
    with Workspace.open(project) as workspace:
        for act in (workspace.index, lambda: workspace.search("alpha"), workspace.upkeep.status):
            with pytest.raises(IndexVersionError, match="newer"):
                act()
    assert (project / ".cairn/index.db").read_bytes() == before


def test_full_replaces_an_index_of_a_newer_version_as_its_hint_promises(project: Path) -> None:
    make_newer(project)
    assert index(project, full=True).files == 3


def test_an_index_of_another_analysis_is_rebuilt(project: Path) -> None:
    with closing(sqlite3.connect(project / ".cairn/index.db", isolation_level=None)) as connection:
        connection.execute("UPDATE meta SET value = 'old' WHERE key = 'analysis'")
    report = index(project)
    assert report.embedded_chunks == report.chunks


# -- where nothing can be written -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["file/state", "/proc/cairn-state", "file"])
def test_a_state_folder_that_cannot_be_made_is_an_error_of_the_store(project: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with Workspace.open(project, state_dir=tmp_path / place) as workspace, pytest.raises(StoreError) as caught:
        workspace.index()
    assert "CAIRN_STATE_DIR" in caught.value.hint


FULL_DISK = textwrap.dedent("""
    import resource, signal, sys
    from cairn.errors import StoreError
    from cairn.workspace import Workspace
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    with Workspace.open(sys.argv[1]) as workspace:
        try:
            workspace.index()
        except StoreError as error:
            print(type(error).__name__, error.hint)
        else:
            print("done")
""")


@pytest.mark.parametrize("limit_bytes", [1_000, 20_000, 60_000, 110_000, 200_000])
def test_a_disk_that_fills_up_gives_a_clear_error_and_loses_nothing(
    checkout: Path, tmp_path: Path, limit_bytes: int
) -> None:
    """A limit on the size of files stands in for a full disk: both make writes fail anywhere."""
    write(checkout, {f"f{number}.py": module(f"alpha_{number}", count=8) for number in range(30)})
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(checkout), str(limit_bytes)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.strip() in (
        "StoreError free some space, then run: cairn index",
        "StoreError make it writable, or set CAIRN_STATE_DIR to a folder that is",
    ), done.stderr
    assert not list((checkout / ".cairn").rglob("*.tmp"))
    index(checkout)
    check_equals_fresh_index(checkout, tmp_path / "fresh")
