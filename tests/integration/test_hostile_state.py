"""State folders that a repository, an archive or another user brought: nothing in them is followed, run or believed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from cairn.config import Settings
from cairn.errors import (
    CairnError,
    IndexDamagedError,
    IndexForeignError,
    IndexMissingError,
    IndexVersionError,
    PathError,
    StoreError,
    TrackedStateError,
    UnsafeStateError,
)
from cairn.index.aside import files_set_aside
from cairn.index.models import agree, places_agreed_to, recall_models
from cairn.index.project import project_root
from cairn.index.seal import is_kept, is_sealed_index, record_folders
from cairn.index.state_dir import StateDir
from cairn.index.tracked import ask_git, find_place, find_tracked, is_decisive
from cairn.model_settings import EmbeddingSettings
from cairn.registry import enclosing_root
from cairn.source.git import find_repository
from cairn.storage.connection import MAX_STEPS, store_errors
from cairn.storage.index.schema import INDEX, MIGRATIONS
from cairn.workspace import Workspace
from conftest import Git
from embedding_server import EmbeddingServer

CODE = 'def alpha():\n    """Load the table."""\n    return 1\n'
PLANTED_FILES = (
    "index.db", "index.db-wal", "index.db-shm", "index.db-journal", "index.lock", "seal", "seal.lock",
    "embedding.lock", "embedding.log", "neighbours.lock", "last-error.json", ".gitignore",
)  # fmt: skip


WORK: tuple[Callable[[Workspace], object], ...] = (
    lambda one: one.upkeep.status(),
    Workspace.refresh,
    lambda one: one.search("alpha"),
    Workspace.index,
    lambda one: one.index(full=True),
    lambda one: one.upkeep.embed(),
    lambda one: one.upkeep.collect(),
    lambda one: one.upkeep.doctor(),
    lambda one: one.upkeep.doctor(fix=True),
    Workspace.index,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project outside git."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "alpha.py").write_text(CODE)
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of the user with a file in it, both of the names that a state folder has."""
    folder = tmp_path / "home"
    (folder / "derived").mkdir(parents=True)
    for name in ("authorized_keys", "index.db", "index.lock", f"derived/{'a' * 32}.seg", "derived/view-1-1.arr"):
        (folder / name).write_text("precious")
    return folder


def look(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return all there is to see of a folder but when it was last read."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted([folder, *folder.rglob("*")]):
        facts = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (facts.st_mode, facts.st_uid, facts.st_mtime_ns, facts.st_ctime_ns, content)
    return found


def try_all(root: Path) -> list[str]:
    """Do all that reads, writes and mends an index, and return the codes of the errors."""
    codes = []
    for work in WORK:
        try:
            with Workspace.open(root) as workspace:
                work(workspace)
        except CairnError as error:
            codes.append(error.code)
    return codes


def answers(root: Path) -> bool:
    with Workspace.open(root) as workspace:
        workspace.refresh()
        return [hit.name for hit in workspace.search("alpha").code] == ["alpha"]


def built(root: Path) -> StateDir:
    with Workspace.open(root) as workspace:
        workspace.index()
        return workspace.state


def commit(folder: Path, git: Git, *more: str) -> None:
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "x", *more)


# -- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("name", PLANTED_FILES)
def test_no_file_behind_a_link_is_changed_and_the_doctor_removes_what_is_in_the_way(
    name: str, sealed: bool, root: Path, victim: Path
) -> None:
    if sealed:
        built(root)
    state = root / ".cairn"
    state.mkdir(exist_ok=True)
    (state / name).unlink(missing_ok=True)
    (state / name).symlink_to(victim / "authorized_keys")
    before = look(victim)
    try_all(root)
    assert look(victim) == before
    assert answers(root)


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("name", PLANTED_FILES)
def test_no_file_with_another_name_is_changed(name: str, sealed: bool, root: Path, victim: Path) -> None:
    if sealed:
        built(root)
    state = root / ".cairn"
    state.mkdir(exist_ok=True)
    (state / name).unlink(missing_ok=True)
    (state / name).hardlink_to(victim / "authorized_keys")
    kept = victim / "authorized_keys"
    try_all(root)
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == ("precious", 0o644)


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("name", [one for one in PLANTED_FILES if "-" not in one])
def test_a_folder_in_the_place_of_a_file_is_moved_aside_or_ignored(name: str, sealed: bool, root: Path) -> None:
    if sealed:
        built(root)
    state = root / ".cairn"
    state.mkdir(exist_ok=True)
    (state / name).unlink(missing_ok=True)
    (state / name / "deep").mkdir(parents=True)
    (state / name / "deep" / "file").write_text("x")
    try_all(root)
    assert answers(root)
    assert list(state.glob("**/deep/file"))


@pytest.mark.parametrize("name", [".git", ".git/index"])
def test_pipes_in_the_place_of_what_git_has_keep_nobody_waiting(name: str, root: Path) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    os.mkfifo(root / name)
    assert find_tracked(root / ".cairn") == ()


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("name", [".cairn", ".cairn/derived"])
def test_no_folder_behind_a_link_is_changed(name: str, sealed: bool, root: Path, victim: Path) -> None:
    if sealed:
        built(root)
        shutil.rmtree(root / name)
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(victim if name == ".cairn" else victim / "derived")
    before = look(victim)
    with Workspace.open(root) as workspace, suppress(StoreError):
        workspace.refresh()
    assert look(victim) == before
    try_all(root)
    assert look(victim) == before
    assert answers(root)


def test_a_state_folder_below_a_link_of_the_repository_is_refused(checkout: Path, git: Git, victim: Path) -> None:
    (checkout / "link").symlink_to(victim)
    (checkout / "alpha.py").write_text(CODE)
    commit(checkout, git)
    before = look(victim)
    with (
        Workspace.open(checkout, state_dir=checkout / "link" / "state") as workspace,
        pytest.raises(UnsafeStateError, match="link is a link"),
    ):
        workspace.index()
    assert look(victim) == before


def test_half_written_files_that_are_links_are_replaced(root: Path, victim: Path) -> None:
    state = built(root)
    (root / "beta.py").write_text(CODE.replace("alpha", "beta"))
    for name in ("view-1-2.arr", f"{'b' * 32}.seg"):
        (state.derived / f"{name}.{os.getpid()}.tmp").symlink_to(victim / "authorized_keys")
    before = look(victim)
    with Workspace.open(root) as workspace:
        assert workspace.index().added == 1
    assert look(victim) == before


@pytest.mark.parametrize("name", ["index.lock", "index.db", "seal", "last-error.json"])
def test_a_pipe_in_the_place_of_a_file_keeps_nobody_waiting(name: str, root: Path) -> None:
    state = built(root)
    (state.path / name).unlink(missing_ok=True)
    os.mkfifo(state.path / name)
    try_all(root)
    assert answers(root)


def test_files_of_others_in_the_folder_of_derived_files_are_left_alone(root: Path) -> None:
    state = built(root)
    (state.derived / "notes.txt").write_text("mine")
    (state.derived / "deep").mkdir()
    (state.derived / "link.seg").symlink_to(root / "alpha.py")
    killed = state.derived / f"{'a' * 32}.hnsw.123.graph"
    killed.write_bytes(b"half a graph")
    try_all(root)
    assert not killed.exists()
    assert (state.derived / "notes.txt").read_text() == "mine"
    assert (state.derived / "deep").is_dir()
    assert (state.derived / "link.seg").is_symlink()


def test_a_name_in_the_database_that_leads_elsewhere_is_damage(root: Path) -> None:
    state = built(root)
    with closing(sqlite3.connect(state.database)) as connection, connection:
        connection.execute("UPDATE segment SET name = '../../alpha'")
    with Workspace.open(root) as workspace:
        assert workspace.upkeep.doctor()[-1].level == "error" or any(
            one.repair == "rebuild" for one in workspace.upkeep.doctor()
        )
    assert answers(root)
    assert (root / "alpha.py").read_text() == CODE


# -- owners -----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("name", ["", "derived"])
def test_a_folder_of_another_user_is_refused(name: str, root: Path) -> None:
    state = built(root)
    os.chown(state.path / name, 12_345, 12_345)
    with Workspace.open(root) as workspace, pytest.raises(UnsafeStateError, match="another user") as caught:
        workspace.refresh()
    assert (caught.value.code, caught.value.exit_code) == ("state-unsafe", 3)
    assert "CAIRN_STATE_DIR" in caught.value.hint


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can be somebody else")
def test_a_first_search_where_the_state_is_of_another_user_says_so(root: Path) -> None:
    state = built(root)
    for file in (state.path, *state.path.rglob("*")):
        os.chown(file, 12_345, 12_345)
    as_any_user = ["setpriv", "--bounding-set=-dac_override"]
    command = [*as_any_user, sys.executable, "-m", "cairn", "search", "alpha", "-C", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith(f"error[state-unsafe]: {state.path} belongs to another user\n")
    assert "CAIRN_STATE_DIR" in done.stderr


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away")
def test_a_database_of_another_user_is_set_aside(root: Path) -> None:
    state = built(root)
    os.chown(state.database, 12_345, 12_345)
    assert answers(root)
    assert state.database.stat().st_uid == 0


def test_an_index_that_everybody_can_write_is_refused_with_what_to_do(root: Path) -> None:
    state = built(root)
    state.path.chmod(0o777)
    with Workspace.open(root) as workspace, pytest.raises(UnsafeStateError) as caught:
        workspace.refresh()
    assert caught.value.hint == f"chmod go-w {state.path}"


def test_a_folder_without_an_index_is_closed_to_others_and_a_group_may_stay(root: Path) -> None:
    (root / ".cairn").mkdir()
    (root / ".cairn").chmod(0o777)
    assert answers(root)
    assert (root / ".cairn").stat().st_mode & 0o777 == 0o775
    assert answers(root)


# -- what git tracks --------------------------------------------------------------------------------------------------


def cloned(checkout: Path, git: Git, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "-q", str(checkout), str(tmp_path / "clone"))
    return tmp_path / "clone"


@pytest.mark.parametrize("version", ["2", "4", "split", "sparse"])
@pytest.mark.parametrize("name", ["index.db", "derived/x", "seal", "notes"])
def test_state_that_git_tracks_is_refused_and_kept(
    name: str, version: str, checkout: Path, git: Git, tmp_path: Path
) -> None:
    for path, text in (("alpha.py", CODE), (f".cairn/{name}", "x"), (".cairn-more/a", "b"), (".bashrc", "c")):
        (checkout / path).parent.mkdir(exist_ok=True, parents=True)
        (checkout / path).write_text(text)
    commit(checkout, git)
    clone = cloned(checkout, git, tmp_path)
    if version == "split":
        git(clone, "update-index", "--split-index")
    elif version == "sparse":
        git(clone, "sparse-checkout", "set", "--cone", "--sparse-index", ".cairn")
    else:
        git(clone, "update-index", f"--index-version={version}")
    assert set(try_all(clone)) == {"state-tracked"}
    with Workspace.open(clone) as workspace, pytest.raises(TrackedStateError, match=name) as caught:
        workspace.refresh()
    assert caught.value.exit_code == 3
    assert f"git -C {clone} rm -r --cached .cairn" in caught.value.hint
    assert (clone / ".cairn" / name).read_text() == "x"
    assert sorted(os.listdir(clone / ".cairn")) == [name.partition("/")[0]]


@pytest.mark.parametrize("version", ["2", "4"])
def test_what_is_meant_to_be_shared_may_be_tracked(version: str, checkout: Path, git: Git, tmp_path: Path) -> None:
    for name, text in (("config.yaml", ""), ("core.yaml", ""), (".gitignore", "*\n"), ("shared/deep/a", "x")):
        (checkout / ".cairn" / name).parent.mkdir(exist_ok=True, parents=True)
        (checkout / ".cairn" / name).write_text(text)
    (checkout / "alpha.py").write_text(CODE)
    commit(checkout, git)
    clone = cloned(checkout, git, tmp_path)
    git(clone, "update-index", f"--index-version={version}")
    assert answers(clone)
    assert git(clone, "status", "--porcelain", "--", ".cairn/config.yaml", ".cairn/.gitignore") == ""


def test_a_database_that_a_pull_brings_is_refused_and_set_aside_once_git_tracks_it_no_more(
    checkout: Path, git: Git, tmp_path: Path
) -> None:
    (checkout / "alpha.py").write_text(CODE)
    commit(checkout, git)
    clone = cloned(checkout, git, tmp_path)
    built(clone)
    other = built(checkout)
    shutil.copy(clone / ".cairn" / "index.db", other.database)  # the worst case: it is the user's own, altered
    commit(checkout, git)
    with Workspace.open(clone) as workspace:
        assert workspace.search("alpha").code
        git(clone, "pull", "-q")
        with pytest.raises(TrackedStateError):
            workspace.refresh()
    git(clone, "rm", "-q", "-r", "--cached", ".cairn")
    with Workspace.open(clone) as workspace:
        assert "moved aside" in workspace.refresh() + "".join(workspace.search("alpha").notes)
        assert list((clone / ".cairn").glob("index.db.foreign-*"))


def test_state_in_a_folder_of_the_checkout_is_judged_by_the_checkout(checkout: Path, git: Git) -> None:
    for number in range(30):
        (checkout / "a" / str(number)).mkdir(parents=True)
        (checkout / "a" / str(number) / "x.py").write_text(CODE)
    (checkout / "sub" / ".cairn").mkdir(parents=True)
    (checkout / "sub" / ".cairn" / "index.db").write_text("x")
    commit(checkout, git)
    assert find_tracked(checkout / "sub" / ".cairn") == ("index.db",)
    assert find_tracked(checkout / ".cairn") == ()
    git(checkout, "rm", "-q", "-r", "--cached", "sub/.cairn")
    assert find_tracked(checkout / "sub" / ".cairn") == ()


def test_where_the_case_of_names_does_not_matter_other_spellings_count(checkout: Path, git: Git) -> None:
    (checkout / ".Cairn").mkdir()
    (checkout / ".Cairn" / "Index.db").write_text("x")
    commit(checkout, git)
    place = find_place(checkout / ".cairn")
    assert place is not None
    assert ask_git(place, any_case=True) == [b"Index.db"]
    assert ask_git(place, any_case=False) == []
    assert is_decisive("Index.db")


@pytest.mark.parametrize("version", ["2", "4"])
def test_where_the_case_of_names_matters_another_spelling_is_another_folder(
    version: str, checkout: Path, git: Git
) -> None:
    (checkout / ".Cairn").mkdir()
    (checkout / ".Cairn" / "index.db").write_text("x")
    if (checkout / ".CAIRN").exists():
        pytest.skip("this file system ignores the case of names")
    (checkout / ".cairn").mkdir()
    commit(checkout, git)
    git(checkout, "update-index", f"--index-version={version}")
    assert find_tracked(checkout / ".cairn") == ()


def test_a_submodule_in_the_place_of_the_state_folder_is_refused(checkout: Path, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "other")
    (tmp_path / "other" / "index.db").write_text("x")
    commit(tmp_path / "other", git)
    git(checkout, "submodule", "--quiet", "add", str(tmp_path / "other"), ".cairn")
    (checkout / "alpha.py").write_text(CODE)
    git(checkout, "commit", "-q", "-m", "x")
    assert find_tracked(checkout / ".cairn") == ("index.db",)
    git(tmp_path, "clone", "-q", str(checkout), "clone")  # without submodules
    assert find_tracked(tmp_path / "clone" / ".cairn") == (".",)
    assert "state-tracked" in try_all(tmp_path / "clone")


def test_an_index_of_git_that_is_damaged_is_told_in_gits_words(checkout: Path, git: Git) -> None:
    (checkout / "alpha.py").write_text(CODE)
    commit(checkout, git)
    (checkout / ".git" / "index").write_bytes(b"junk")
    with Workspace.open(checkout) as workspace, pytest.raises(PathError, match="index file smaller than expected"):
        workspace.index()


def test_a_state_folder_that_is_a_repository_itself_is_refused(checkout: Path, git: Git) -> None:
    (checkout / ".cairn").mkdir()
    git(checkout / ".cairn", "init", "-q")
    (checkout / ".cairn" / "index.db").write_text("x")
    commit(checkout / ".cairn", git)
    assert find_tracked(checkout / ".cairn") == ("index.db",)


def test_a_repository_with_other_hashes_is_understood(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "other")
    (tmp_path / "other" / ".cairn").mkdir()
    (tmp_path / "other" / ".cairn" / "index.db").write_text("x")
    commit(tmp_path / "other", git)
    assert find_tracked(tmp_path / "other" / ".cairn") == ("index.db",)


# -- the seal ---------------------------------------------------------------------------------------------------------


def test_an_index_from_elsewhere_is_set_aside_once_and_said(root: Path, state_home: Path) -> None:
    state = built(root)
    shutil.rmtree(state_home)  # as on the machine of another user
    with Workspace.open(root) as workspace, pytest.raises(IndexForeignError) as caught:
        workspace.upkeep.status()
    assert caught.value.hint == "cairn index"
    with Workspace.open(root) as workspace:
        assert [one.repair for one in workspace.upkeep.doctor() if one.check == "database"] == ["rebuild"]
        workspace.refresh()
        (note,) = workspace.search("alpha").notes
        assert "not made by you on this machine" in note
        assert workspace.search("alpha").notes == ()
        assert workspace.upkeep.status()["set_aside"]
        assert any(one.check == "set-aside" for one in workspace.upkeep.doctor())
    assert len(list(state.path.glob("derived.foreign-*"))) == 1


def test_the_doctor_counts_what_is_in_a_folder_that_was_set_aside(root: Path, state_home: Path) -> None:
    state = built(root)
    shutil.rmtree(state_home)
    with Workspace.open(root) as workspace:
        workspace.refresh()
        (folder,) = state.path.glob("derived.foreign-*")
        (folder / "large.seg").write_bytes(bytes(3_000_000))
        files = [*folder.iterdir(), *state.path.glob("index.db.foreign-*"), *state.path.glob("history.db.foreign-*")]
        size = sum(file.stat().st_size for file in files)
        (found,) = [one for one in workspace.upkeep.doctor() if one.check == "set-aside"]
    assert found.message.startswith(f"{len(files)} files of damaged or foreign indexes kept, {size / 1e6:.1f} MB, as ")
    assert folder.name in found.message


def test_the_folders_that_were_set_aside_stay_few(root: Path, state_home: Path) -> None:
    for _ in range(6):
        state = built(root)
        shutil.rmtree(state_home)
    assert len(list(state.path.glob("derived.foreign-*"))) == 3
    assert len(files_set_aside(state)) <= 3 * 4


def test_a_seal_with_another_secret_does_not_hold(root: Path, tmp_path: Path) -> None:
    state = built(root)
    text = (state.path / "seal").read_text()
    (state.path / "seal").write_text(text[:-10] + "0" * 9 + "\n")
    with Workspace.open(root) as workspace, pytest.raises(IndexForeignError):
        workspace.upkeep.status()
    assert answers(root)


def test_a_database_of_another_project_does_not_pass_in_a_folder_that_is_sealed(root: Path, tmp_path: Path) -> None:
    state = built(root)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "beta.py").write_text(CODE.replace("alpha", "beta"))
    other = built(tmp_path / "other")
    shutil.copy(other.database, state.database)
    with Workspace.open(root) as workspace, pytest.raises(IndexForeignError):
        workspace.upkeep.status()
    assert answers(root)
    assert list(state.path.glob("index.db.foreign-*"))


def test_a_project_that_was_moved_or_copied_keeps_its_index(root: Path, tmp_path: Path) -> None:
    built(root)
    shutil.copytree(root, tmp_path / "copy")
    root.rename(tmp_path / "moved")
    for folder in (tmp_path / "copy", tmp_path / "moved"):
        with Workspace.open(folder) as workspace:
            assert workspace.index().embedded_chunks == 0
            assert files_set_aside(workspace.state) == []


def test_worktrees_share_the_seal(checkout: Path, git: Git, tmp_path: Path) -> None:
    (checkout / "alpha.py").write_text(CODE)
    commit(checkout, git)
    git(checkout, "worktree", "add", "-q", str(tmp_path / "linked"))
    built(checkout)
    with Workspace.open(tmp_path / "linked") as workspace:
        assert workspace.index().embedded_chunks == 0
        assert files_set_aside(workspace.state) == []


def test_processes_that_make_the_same_index_at_once_agree_on_a_seal(root: Path) -> None:
    script = f"import cairn; w = cairn.Workspace.open({str(root)!r}); w.index(); print(w.search('alpha').code[0].name)"
    running = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [one.communicate(timeout=120)[0] for one in running] == ["alpha\n"] * 4
    assert files_set_aside(StateDir(root / ".cairn")) == []


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder for temporary files of a user whose own state folder cannot be written."""
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def test_without_a_writable_home_the_temporary_folder_vouches_for_the_index(root: Path, no_home: Path) -> None:
    built(root)
    with Workspace.open(root) as workspace:
        assert workspace.index().embedded_chunks == 0
        assert workspace.search("alpha").notes == ()
    (folder,) = no_home.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_where_nothing_of_the_user_can_be_written_each_process_makes_its_own_index(root: Path, no_home: Path) -> None:
    no_home.rmdir()
    no_home.touch()
    built(root)
    script = f"import cairn; w = cairn.Workspace.open({str(root)!r}); w.refresh(); print(*w.search('alpha').notes)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert "XDG_STATE_HOME" in done.stdout
    assert "not made by you" in done.stdout


def test_a_temporary_folder_of_another_user_vouches_for_nothing(root: Path, no_home: Path) -> None:
    folder = no_home / f"cairn-{os.geteuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    state = built(root)
    assert list(folder.iterdir()) == []
    seal = state.seal()
    assert seal is not None
    assert not is_kept(seal)


def test_a_dry_run_takes_an_index_from_elsewhere_for_none(root: Path, state_home: Path) -> None:
    state = built(root)
    shutil.rmtree(state_home)
    with Workspace.open(root) as workspace:
        assert workspace.index(dry_run=True).added == 1
    assert files_set_aside(state) == []


def test_records_that_came_with_a_repository_vouch_for_nothing(
    checkout: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a pipeline keeps all that belongs to a user below the checkout."""
    (checkout / "alpha.py").write_text(CODE)
    monkeypatch.setenv("XDG_STATE_HOME", str(checkout / "home"))
    state = built(checkout)
    assert state.seal() is not None
    git(checkout, "add", "-f", "home")
    assert state.seal() is None
    with Workspace.open(checkout) as workspace, pytest.raises(IndexForeignError):
        workspace.search("alpha")
    monkeypatch.chdir(checkout)
    (checkout / "home").rename(checkout / "cairn-home")
    monkeypatch.setenv("HOME", "cairn-home")
    monkeypatch.setenv("TMPDIR", "cairn-home")
    monkeypatch.delenv("XDG_STATE_HOME")
    assert all(folder.is_absolute() for folder in record_folders())


def test_records_that_others_can_write_vouch_for_nothing(root: Path, state_home: Path) -> None:
    built(root)
    (state_home / "cairn").chmod(0o777)
    with Workspace.open(root) as workspace, pytest.raises(UnsafeStateError) as caught:
        workspace.refresh()
    assert caught.value.hint == f"chmod go-w {state_home / 'cairn'}"


# -- which folder is a project ----------------------------------------------------------------------------------------


def test_a_planted_index_makes_no_folder_a_project(checkout: Path, git: Git, tmp_path: Path) -> None:
    inner, outside = checkout / "sub", tmp_path / "archive" / "sub"
    for folder in (inner, outside):
        (folder / ".cairn").mkdir(parents=True)
        (folder / ".cairn" / "index.db").write_bytes(b"SQLite format 3\0")
        (folder / "alpha.py").write_text(CODE)
    assert project_root(inner, find_repository(inner)) == checkout
    assert enclosing_root(str(inner)) == str(checkout)
    assert enclosing_root(str(outside)) is None
    built(inner)
    assert is_sealed_index(inner / ".cairn")
    assert project_root(inner, find_repository(inner)) == inner
    assert enclosing_root(str(inner)) == str(inner)


# -- databases --------------------------------------------------------------------------------------------------------

RECURSIVE = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


def statements(*texts: str) -> Callable[[Path], None]:
    def plant(file: Path) -> None:
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            for text in texts:
                connection.execute(text)

    return plant


def rewritten(old: str, new: str) -> Callable[[Path], None]:
    """Change what is written down of the schema, as with `PRAGMA writable_schema`."""

    def plant(file: Path) -> None:
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (old, new))
            connection.execute("PRAGMA writable_schema = RESET")

    return plant


def replaced(file: Path) -> None:
    for one in file.parent.glob("index.db*"):
        one.unlink()
    statements("CREATE TABLE meta (key, value)", f"CREATE VIEW blob AS {RECURSIVE}")(file)


def log_with_content(file: Path) -> None:
    """Leave a change in the log, as a process that was killed does."""
    script = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('CREATE VIEW other AS SELECT 1')\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(file)], check=True)
    assert Path(f"{file}-wal").stat().st_size


PLANTED: dict[str, Callable[[Path], None]] = {
    "view": statements(f"CREATE VIEW endless AS {RECURSIVE}"),
    "view in the place of a table": statements("DROP TABLE meta", f"CREATE VIEW meta AS {RECURSIVE}"),
    "view of the file table": statements(
        "DROP VIEW file", f"CREATE VIEW file AS SELECT i AS view_id, i AS path FROM ({RECURSIVE})"
    ),
    "trigger": statements(f"CREATE TRIGGER t AFTER INSERT ON meta BEGIN INSERT INTO chunk {RECURSIVE}; END"),
    "index": statements("CREATE INDEX more ON chunk (kind) WHERE id IS NOT NULL"),
    "expression index": statements("CREATE INDEX more ON blob (abs(id))"),
    "generated column": statements("ALTER TABLE blob ADD COLUMN g AS (zeroblob(1000000000))"),
    "virtual table": statements("CREATE VIRTUAL TABLE words USING fts5(text)"),
    "another table": statements("CREATE TABLE more (a)"),
    "a table less": statements("DROP TABLE origin"),
    "a check": rewritten("n_rows INTEGER NOT NULL", "n_rows INTEGER NOT NULL CHECK (n_rows < 9)"),
    "a default": rewritten("checksum INTEGER NOT NULL DEFAULT 0", "checksum INTEGER NOT NULL DEFAULT (random())"),
    "no version": statements("PRAGMA user_version = 0"),
    "an earlier version": statements("PRAGMA user_version = 3"),
    "a negative version": statements("PRAGMA user_version = -1"),
    "other tables": replaced,
    "log": log_with_content,
    "a huge cell": statements("INSERT INTO meta VALUES ('generation', zeroblob(250000000))"),
}


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_database_is_set_aside_and_nothing_of_it_runs(
    kind: str, sealed: bool, root: Path, state_home: Path
) -> None:
    state = built(root)
    with suppress(sqlite3.IntegrityError):  # the huge cell has the key of another
        PLANTED[kind](state.database)
    if not sealed:
        shutil.rmtree(state_home)
    assert answers(root)
    with Workspace.open(root) as workspace:
        assert not [one for one in workspace.upkeep.doctor() if one.level == "error"]


@pytest.mark.parametrize("version", [len(MIGRATIONS) + 1, 2**31 - 1])
def test_an_index_of_a_newer_version_is_kept_only_in_a_folder_that_is_sealed(
    version: int, root: Path, state_home: Path
) -> None:
    state = built(root)
    statements(f"PRAGMA user_version = {version}")(state.database)
    with Workspace.open(root) as workspace, pytest.raises(IndexVersionError):
        workspace.refresh()
    shutil.rmtree(state_home)
    assert answers(root)


def test_an_index_that_says_to_be_newer_and_is_not_ours_is_replaced(root: Path) -> None:
    state = built(root)
    statements("DELETE FROM meta WHERE key = 'seal'", "PRAGMA user_version = 99")(state.database)
    assert answers(root)


def test_a_connection_trusts_no_schema(root: Path) -> None:
    state = built(root)
    with closing(state.open_for_reading()) as connection:
        values = {
            name: connection.execute(f"PRAGMA {name}").fetchone()
            for name in ("trusted_schema", "cell_size_check", "mmap_size")
        }
        assert values == {"trusted_schema": (0,), "cell_size_check": (1,), "mmap_size": (0,)}


def test_a_statement_without_end_is_damage_and_one_that_somebody_stopped_is_not(root: Path) -> None:
    state = built(root)
    with closing(state.open_for_reading()) as connection:
        rows = connection.execute(RECURSIVE)
        connection.steps = MAX_STEPS  # type: ignore[attr-defined]  # as if it had run for long
        with pytest.raises(IndexDamagedError, match="interrupted"), store_errors(state.database, INDEX):
            for _ in rows:
                pass
        rows = connection.execute(RECURSIVE)
        rows.fetchone()
        connection.interrupt()
        with pytest.raises(StoreError, match="interrupted") as caught, store_errors(state.database, INDEX):
            rows.fetchone()
        assert caught.value.code == "store"


# -- models -----------------------------------------------------------------------------------------------------------


def test_a_planted_model_is_never_asked(root: Path, state_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOLEN_KEY", "secret")
    with EmbeddingServer(64) as server:
        planted = EmbeddingSettings(
            provider="openai", model="text-embedding-3-small", url=server.url, api_key_env="STOLEN_KEY"
        )
        with Workspace.open(root, settings=Settings(embedding=planted)) as workspace:
            workspace.index()
            workspace.upkeep.embed()
            assert recall_models(workspace.state)
            state = workspace.state
        server.asked.clear()
        own = EmbeddingSettings(provider="ollama", model="own", url="http://127.0.0.1:9")
        for record in (state_home / "cairn" / "indexes").glob("*.json"):
            rest, known, _ = record.read_text().partition(', "models"')
            if known:
                record.write_text(f"{rest}}}")  # the index knows the model, the user does not
        with Workspace.open(root, settings=Settings(embedding=own)) as workspace:
            assert "answered with the bundled model" in workspace.search("load the table").notes[0]
        assert server.asked == []
        with closing(sqlite3.connect(state.database)) as connection:
            assert "STOLEN_KEY" not in "".join(connection.iterdump())


def test_where_texts_were_sent_before_is_not_taken_from_the_index(root: Path, state_home: Path) -> None:
    state = built(root)
    agree(state, ["ollama http://elsewhere"])
    assert places_agreed_to(state) == {"ollama http://elsewhere"}
    with closing(sqlite3.connect(state.database)) as connection, connection:
        connection.execute("INSERT INTO meta VALUES ('embedding_agreed', 'openai http://stranger')")
    assert places_agreed_to(state) == {"ollama http://elsewhere"}
    shutil.rmtree(state_home)
    assert places_agreed_to(state) == set()


def test_a_project_without_an_index_is_missing_and_not_foreign(root: Path) -> None:
    with Workspace.open(root) as workspace, pytest.raises(IndexMissingError) as caught:
        workspace.upkeep.status()
    assert caught.value.code == "index-missing"
