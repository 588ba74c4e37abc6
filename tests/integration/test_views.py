from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.errors import IndexMissingError, NotFoundError, RevisionError
from cairn.index.views import MANY_FILES
from cairn.storage.index import view_db
from cairn.types import IndexReport
from cairn.workspace import Workspace
from histories import STEPS, answers, contents, differences
from small_projects import write_files

Git = Callable[..., str]
QUERIES = ("how are things stored", "alpha_1", '"return offset"', "beta handler")
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


def module(name: str, count: int = 2) -> str:
    body = "\n".join(f"    {name}_{step} = store(offset + {step})" for step in range(6))
    return "\n\n".join(
        f'def {name}_{number}(offset):\n    """The {name} handler stores things."""\n{body}\n    return offset\n'
        for number in range(count)
    )


def commit(git: Git, root: Path, files: dict[str, str]) -> str:
    write_files(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "more")
    return git(root, "rev-parse", "HEAD")


def found(workspace: Workspace, text: str, branch: str | None = None) -> set[str]:
    """Return the files with a line that holds a text."""
    return {hit.path for hit in workspace.search(text, mode="literal", branch=branch, limit=0).code}


def index(root: Path, branch: str | None = None) -> IndexReport:
    with Workspace.open(root) as workspace:
        return workspace.index(branch=branch)


@pytest.fixture
def project(checkout: Path, git: Git) -> Path:
    """A repository with a branch `feature` that changes, adds, renames and deletes, and is not checked out."""
    commit(
        git,
        checkout,
        {
            "alpha.py": module("alpha"),
            "lib/beta.py": module("beta"),
            "lib/gone.py": module("gone"),
            "old.py": module("moved"),
            "README.md": "# Title\n\nWords.\n",
        },
    )
    git(checkout, "switch", "-qc", "feature")
    git(checkout, "mv", "old.py", "new.py")
    git(checkout, "rm", "-q", "lib/gone.py")
    commit(git, checkout, {"alpha.py": module("alpha", 3), "lib/gamma.py": module("gamma")})
    git(checkout, "switch", "-q", "main")
    return checkout


@pytest.fixture
def workspace(project: Path) -> Iterator[Workspace]:
    with Workspace.open(project) as opened:
        opened.index()
        yield opened


def check_equals_fresh(workspace: Workspace, state: Path) -> None:
    with Workspace.open(workspace.root, state_dir=state) as fresh:
        fresh.index()
        assert contents(workspace, str(workspace.root)) == contents(fresh, str(workspace.root))
        assert answers(workspace, QUERIES) == answers(fresh, QUERIES)


# -- switching --------------------------------------------------------------------------------------------------------


def test_after_a_switch_answers_are_about_the_code_that_is_there(workspace: Workspace, git: Git) -> None:
    assert found(workspace, "gamma_1") == set()
    git(workspace.root, "switch", "-q", "feature")
    workspace.index()
    answer = workspace.search("gamma_1")
    assert answer.branch == "feature"
    assert answer.view == str(workspace.root)
    assert answer.code[0].path == "lib/gamma.py"
    assert found(workspace, "def moved_1") == {"new.py"}
    assert found(workspace, "gone_1") == set()
    assert all(hit.path != "lib/gone.py" for query in QUERIES for hit in workspace.search(query, limit=50).code)


def test_switching_back_and_forth_embeds_nothing_again(workspace: Workspace, git: Git, tmp_path: Path) -> None:
    git(workspace.root, "switch", "-q", "feature")
    first = workspace.index()
    assert (first.changed, first.added, first.renamed, first.removed) == (1, 1, 1, 1)
    assert 0 < first.embedded_chunks < first.chunks
    for branch in ("main", "feature", "main"):
        git(workspace.root, "switch", "-q", branch)
        assert workspace.index().embedded_chunks == 0
    check_equals_fresh(workspace, tmp_path / "fresh")


def test_namesakes_on_another_branch_crowd_nothing_out(checkout: Path, git: Git, tmp_path: Path) -> None:
    commit(git, checkout, {"a.py": module("a")})
    git(checkout, "switch", "-q", "-c", "crowd")
    many = {
        f"c{number}.py": f"class C{number}:\n    def init(self):\n        return {number}\n" for number in range(250)
    }
    commit(git, checkout, many)
    index(checkout)
    git(checkout, "switch", "-q", "main")
    few = {f"z{number}.py": many[f"c{number}.py"].replace("return", "return -") for number in range(3)}
    commit(git, checkout, few | {"mine.py": "class Mine:\n    def init(self):\n        return 0\n"})
    index(checkout)
    with Workspace.open(checkout) as workspace, Workspace.open(checkout, state_dir=tmp_path / "fresh") as fresh:
        fresh.index()
        for query in ("Mine.init", "init"):
            ours, theirs = workspace.search(query).code, fresh.search(query).code
            assert ours == theirs
            assert {hit.path for hit in ours[:4]} == {"mine.py", *few}
        assert workspace.search("Mine.init").code[0].path == "mine.py"


@pytest.mark.parametrize("count", [1, 20])
def test_a_name_that_only_another_branch_has_is_found_here_in_another_style(
    checkout: Path, git: Git, tmp_path: Path, count: int
) -> None:
    commit(git, checkout, {"users.py": "def get_user_name():\n    return 'ann'\n", "b.py": module("user")})
    git(checkout, "switch", "-q", "-c", "other")
    commit(git, checkout, {f"users{n}.py": f"def getUserName():\n    return {n}\n" for n in range(count)})
    index(checkout)
    git(checkout, "switch", "-q", "main")
    index(checkout)
    with Workspace.open(checkout) as workspace, Workspace.open(checkout, state_dir=tmp_path / "fresh") as fresh:
        fresh.index()
        query = "how does getUserName work here"
        ours, theirs = workspace.search(query).code, fresh.search(query).code
    assert ours == theirs
    assert (ours[0].path, ours[0].name) == ("users.py", "get_user_name")


def test_files_that_git_vouches_for_are_not_looked_at_again(checkout: Path, git: Git) -> None:
    write_files(checkout, {f"m{number}.py": module(f"m{number}") for number in range(MANY_FILES + 1)})
    commit(git, checkout, {})
    with Workspace.open(checkout) as workspace:
        workspace.index()
        for file in checkout.glob("*.py"):
            os.utime(file, (1_700_000_000, 1_700_000_000))
        git(checkout, "update-index", "--refresh", "-q")
        assert workspace.upkeep.status()["pending"] == MANY_FILES + 1
        workspace.index()
        assert workspace.upkeep.status()["pending"] == 0


def test_an_index_that_is_not_of_the_branch_checked_out_says_so(workspace: Workspace, git: Git) -> None:
    assert workspace.search("alpha_1").notes == ()
    git(workspace.root, "switch", "-q", "feature")
    assert workspace.search("alpha_1").notes == (
        "The index is of main, but feature is checked out; update it: cairn index",
    )
    workspace.index()
    assert workspace.search("alpha_1").notes == ()


def test_a_detached_head_is_called_by_its_revision(workspace: Workspace, git: Git) -> None:
    git(workspace.root, "switch", "-q", "--detach", "feature")
    workspace.index()
    answer = workspace.search("gamma_1")
    assert answer.branch == git(workspace.root, "rev-parse", "HEAD")[:12]
    assert answer.code[0].path == "lib/gamma.py"


def test_a_rebase_is_followed(workspace: Workspace, git: Git, tmp_path: Path) -> None:
    commit(git, workspace.root, {"delta.py": module("delta")})
    git(workspace.root, "switch", "-q", "feature")
    workspace.index()
    git(workspace.root, "rebase", "-q", "main")
    workspace.index()
    assert found(workspace, "def delta_1") == {"delta.py"}
    assert found(workspace, "def gamma_1") == {"lib/gamma.py"}
    check_equals_fresh(workspace, tmp_path / "fresh")


def test_a_rebase_that_stops_in_a_conflict_is_no_obstacle(workspace: Workspace, git: Git) -> None:
    commit(git, workspace.root, {"alpha.py": module("alpha", 5)})
    git(workspace.root, "switch", "-q", "feature")
    with pytest.raises(subprocess.CalledProcessError):
        git(workspace.root, "rebase", "-q", "main")
    workspace.index()
    assert found(workspace, "<<<<<<<") == {"alpha.py"}
    git(workspace.root, "rebase", "--abort")
    workspace.index()
    assert found(workspace, "<<<<<<<") == set()


def test_a_stash_takes_changes_away_and_brings_them_back(workspace: Workspace, git: Git) -> None:
    write_files(workspace.root, {"alpha.py": module("omega"), "untracked.py": module("extra")})
    workspace.index()
    assert found(workspace, "def omega_1") == {"alpha.py"}
    git(workspace.root, "stash", "-qu")
    workspace.index()
    assert found(workspace, "def omega_1") == found(workspace, "def extra_1") == set()
    git(workspace.root, "stash", "pop", "-q")
    assert workspace.index().embedded_chunks == 0
    assert found(workspace, "def extra_1") == {"untracked.py"}


def test_a_file_checked_out_again_is_the_committed_one(workspace: Workspace, git: Git) -> None:
    write_files(workspace.root, {"alpha.py": module("omega")})
    workspace.index()
    git(workspace.root, "checkout", "--", "alpha.py")
    assert workspace.index().embedded_chunks == 0
    assert found(workspace, "def omega_1") == set()
    assert found(workspace, "def alpha_1") == {"alpha.py"}


def test_a_sparse_checkout_shows_what_is_on_disk(workspace: Workspace, git: Git) -> None:
    git(workspace.root, "sparse-checkout", "set", "--no-cone", "/lib/")
    workspace.index()
    assert found(workspace, "def alpha_1") == set()
    assert found(workspace, "def beta_1") == {"lib/beta.py"}
    workspace.index(branch="main")
    assert found(workspace, "def alpha_1", "main") == {"alpha.py"}
    git(workspace.root, "sparse-checkout", "disable")
    assert workspace.index().embedded_chunks == 0
    assert found(workspace, "def alpha_1") == {"alpha.py"}


def test_a_submodule_follows_its_own_checkout(project: Path, git: Git, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    commit(git, inner, {"part.py": module("part")})
    git(project, "submodule", "add", "-q", str(inner), "sub")
    git(project, "commit", "-qm", "submodule")
    with Workspace.open(project) as workspace:
        workspace.index()
        assert found(workspace, "def part_1") == {"sub/part.py"}
        commit(git, project / "sub", {"part.py": module("piece")})
        workspace.index()
        assert found(workspace, "def part_1") == set()
        assert found(workspace, "def piece_1") == {"sub/part.py"}
        # The commit of the branch names the submodule as it was.
        workspace.index(branch="main")
        assert found(workspace, "def part_1", "main") == {"sub/part.py"}


def test_collecting_garbage_in_git_changes_nothing(workspace: Workspace, git: Git, tmp_path: Path) -> None:
    workspace.index(branch="feature")
    before = answers(workspace, QUERIES, "feature")
    git(workspace.root, "pack-refs", "--all")
    git(workspace.root, "gc", "-q", "--prune=now")
    with Workspace.open(workspace.root) as again:
        assert again.index().embedded_chunks == 0
        assert answers(again, QUERIES, "feature") == before
    check_equals_fresh(workspace, tmp_path / "fresh")


@given(st.randoms(use_true_random=False), st.lists(st.sampled_from(STEPS), min_size=4, max_size=12))
@settings(max_examples=25)
def test_after_any_history_the_index_is_what_a_fresh_one_would_be(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, steps: list[str]
) -> None:
    assert differences(tmp_path_factory.mktemp("history"), dice, steps) == []


# -- folders ----------------------------------------------------------------------------------------------------------


def test_a_moved_repository_is_taken_up_where_it_was_left(workspace: Workspace, tmp_path: Path) -> None:
    before = answers(workspace, QUERIES)
    workspace.close()
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    workspace.root.rename(moved)
    with Workspace.open(moved) as again:
        report = again.index()
        assert (report.added, report.changed, report.embedded_chunks) == (0, 0, 0)
        assert answers(again, QUERIES) == before
        with closing(again.state.open_for_reading()) as connection:
            assert [view.name for view in view_db.read_views(connection)] == [str(moved)]


def test_a_folder_that_is_still_there_keeps_its_view(project: Path, git: Git, tmp_path: Path) -> None:
    index(project)
    git(project, "worktree", "add", "-q", str(tmp_path / "tree"), "feature")
    index(tmp_path / "tree")
    with closing(Workspace.open(project).state.open_for_reading()) as connection:
        names = {view.name for view in view_db.read_views(connection)}
    assert names == {str(project), str(tmp_path / "tree")}


def test_two_clones_have_an_index_each(project: Path, git: Git, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(project), str(clone))
    index(project)
    index(clone)
    write_files(clone, {"alpha.py": module("omega")})
    index(clone)
    with Workspace.open(project) as one, Workspace.open(clone) as other:
        assert one.state.path != other.state.path
        assert found(one, "def omega_1") == set()
        assert found(other, "def omega_1") == {"alpha.py"}


def test_two_clones_can_share_an_index(project: Path, git: Git, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(project), str(clone))
    with Workspace.open(project, state_dir=tmp_path / "state") as one:
        one.index()
        with Workspace.open(clone, state_dir=tmp_path / "state") as other:
            assert other.index().embedded_chunks == 0
            write_files(clone, {"alpha.py": module("omega")})
            other.index()
            assert found(one, "def omega_1") == set()
            assert found(other, "def omega_1") == {"alpha.py"}


def test_a_second_worktree_reads_no_file_that_git_knows(project: Path, git: Git, tmp_path: Path) -> None:
    write_files(project, {f"many/file_{number}.py": module(f"name_{number}", 1) for number in range(100)})
    git(project, "add", "-A")
    git(project, "commit", "-qm", "many")
    index(project)
    tree = tmp_path / "tree"
    git(project, "worktree", "add", "-q", "--detach", str(tree))
    time.sleep(0.05)
    (tree / "alpha.py").write_text(module("omega"))
    (tree / "many" / "file_1.py").write_text(module("name_2", 1))
    with Workspace.open(tree) as workspace:
        report = workspace.index()
        assert report.added == report.files
        assert report.embedded_chunks == 1
        assert found(workspace, "def omega_1") == {"alpha.py"}
        assert found(workspace, "def name_2_0") == {"many/file_1.py", "many/file_2.py"}
        assert found(workspace, "def name_1_0") == set()
        check_equals_fresh(workspace, tmp_path / "fresh")


def test_a_file_that_git_was_told_to_take_for_unchanged_is_read(project: Path, git: Git, tmp_path: Path) -> None:
    commit(git, project, {f"many/file_{number}.py": module(f"name_{number}", 1) for number in range(100)})
    index(project)
    tree = tmp_path / "tree"
    git(project, "worktree", "add", "-q", "--detach", str(tree))
    git(tree, "update-index", "--assume-unchanged", "alpha.py")
    (tree / "alpha.py").write_text((tree / "alpha.py").read_text().replace("alpha", "omega"))
    with Workspace.open(tree) as workspace:
        workspace.index()
        assert found(workspace, "def omega_1") == {"alpha.py"}


def test_worktrees_with_the_same_files_add_kilobytes(project: Path, git: Git, tmp_path: Path) -> None:
    commit(git, project, {f"many/file_{number}.py": module(f"name_{number}", 8) for number in range(100)})
    index(project)
    with Workspace.open(project) as workspace:
        alone = workspace.state.disk_bytes()
    for number in range(4):
        git(project, "worktree", "add", "-q", "--detach", str(tmp_path / f"tree-{number}"))
        index(tmp_path / f"tree-{number}")
    assert workspace.state.disk_bytes() - alone < 4 * 16_000
    assert len(list(workspace.state.derived.glob("*.paths"))) == 1


def test_worktrees_of_a_bare_repository_share_an_index(project: Path, git: Git, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(project), str(bare))
    for name in ("main", "feature"):
        git(bare, "worktree", "add", "-q", str(tmp_path / name), name)
    index(tmp_path / "main")
    with Workspace.open(tmp_path / "feature") as workspace:
        assert workspace.state.path == bare / ".cairn"
        report = workspace.index()
        assert report.embedded_chunks < report.chunks
        assert found(workspace, "def gamma_1") == {"lib/gamma.py"}


# -- revisions --------------------------------------------------------------------------------------------------------


def test_a_branch_is_searched_without_checking_it_out(workspace: Workspace, git: Git) -> None:
    report = workspace.index(branch="feature")
    assert report.embedded_chunks < report.chunks
    answer = workspace.search("gamma_1", branch="feature")
    assert (answer.view, answer.branch) == ("refs/heads/feature", "feature")
    assert answer.revision == git(workspace.root, "rev-parse", "feature")
    hit = answer.code[0]
    assert (hit.path, hit.name, hit.stale) == ("lib/gamma.py", "gamma_1", False)
    assert hit.preview.startswith("def gamma_1(offset):")
    (fetched,) = workspace.fetch([hit.id])
    assert fetched.text.startswith("def gamma_1(offset):")
    assert fetched.revision == answer.revision
    assert not (workspace.root / "lib/gamma.py").exists()
    assert found(workspace, "gone_1", "feature") == set()
    assert found(workspace, "gone_1") == {"lib/gone.py"}


def test_answers_about_a_branch_are_those_of_its_checkout(workspace: Workspace, git: Git, tmp_path: Path) -> None:
    workspace.index(branch="feature")
    git(workspace.root, "worktree", "add", "-q", str(tmp_path / "tree"), "feature")
    with Workspace.open(tmp_path / "tree", state_dir=tmp_path / "state") as fresh:
        fresh.index()
        assert contents(workspace, "refs/heads/feature") == contents(fresh, str(tmp_path / "tree"))
        assert answers(workspace, QUERIES, "feature") == answers(fresh, QUERIES)


def test_uncommitted_edits_are_not_in_the_branch(workspace: Workspace) -> None:
    write_files(workspace.root, {"alpha.py": module("omega")})
    workspace.index()
    workspace.index(branch="main")
    assert found(workspace, "def omega_1") == {"alpha.py"}
    assert found(workspace, "def omega_1", "main") == set()


def test_a_branch_that_moved_is_told_and_updated_by_its_diff(workspace: Workspace, git: Git) -> None:
    workspace.index(branch="feature")
    git(workspace.root, "switch", "-q", "feature")
    commit(git, workspace.root, {"delta.py": module("delta", 1)})
    git(workspace.root, "switch", "-q", "main")
    (note,) = workspace.search("gamma_1", branch="feature").notes
    assert note == "feature has moved since it was indexed; update it: cairn index --branch feature"
    report = workspace.index(branch="feature")
    assert (report.added, report.changed, report.embedded_chunks) == (1, 0, 1)
    assert workspace.search("delta_0", branch="feature").notes == ()
    assert found(workspace, "def delta_0", "feature") == {"delta.py"}


def test_a_tag_a_hash_and_a_relative_revision_are_searched(workspace: Workspace, git: Git) -> None:
    git(workspace.root, "tag", "-a", "v1", "-m", "one", "feature~1")
    commit(git, workspace.root, {"delta.py": module("delta")})
    full = git(workspace.root, "rev-parse", "HEAD~1")
    for name, view in (("v1", "refs/tags/v1"), ("HEAD~1", full), (full[:9], full), ("HEAD", "refs/heads/main")):
        workspace.index(branch=name)
        assert workspace.search("alpha_1", branch=name).view == view
    assert found(workspace, "def delta_1", "HEAD") == {"delta.py"}
    assert found(workspace, "def delta_1", "v1") == found(workspace, "def delta_1", full) == set()


def test_a_branch_wins_over_a_tag_of_the_same_name(workspace: Workspace, git: Git) -> None:
    git(workspace.root, "tag", "feature", "main")
    workspace.index(branch="feature")
    assert found(workspace, "def gamma_1", "feature") == {"lib/gamma.py"}


def test_a_branch_that_was_not_indexed_names_the_command_that_does_it(workspace: Workspace) -> None:
    with pytest.raises(IndexMissingError) as caught:
        workspace.search("alpha_1", branch="feature")
    assert caught.value.hint == "cairn index --branch feature"


@pytest.mark.parametrize("name", ["nonsense", "", "-x", "main:alpha.py", "a b", "main^{tree}"])
def test_a_revision_that_git_does_not_know_is_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(RevisionError) as caught:
        workspace.index(branch=name)
    assert "git branch --all" in caught.value.hint


def test_a_branch_that_only_a_remote_has_is_offered(project: Path, git: Git, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(project), str(clone))
    with Workspace.open(clone) as workspace:
        with pytest.raises(RevisionError) as caught:
            workspace.index(branch="feature")
        assert caught.value.hint == "name it with its remote: origin/feature"
        workspace.index(branch="origin/feature")
        assert found(workspace, "def gamma_1", "origin/feature") == {"lib/gamma.py"}


def test_a_branch_outside_git_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"alpha.py": module("alpha")})
    with Workspace.open(tmp_path) as workspace, pytest.raises(RevisionError, match="in no git repository"):
        workspace.index(branch="main")


def test_what_is_no_plain_file_in_a_commit_is_listed_with_its_reason(workspace: Workspace, git: Git) -> None:
    git(workspace.root, "switch", "-q", "feature")
    write_files(workspace.root, {"data.txt": POINTER, ".gitattributes": "*.txt filter=lfs\n*.py text eol=crlf\n"})
    (workspace.root / "link.py").symlink_to("alpha.py")
    write_files(workspace.root, {"image.png": "x", ".cairnignore": "ignored/\n", "ignored/a.py": "a = 1\n"})
    commit(git, workspace.root, {"crlf.py": module("crlf")})
    git(workspace.root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    git(workspace.root, "commit", "-qm", "submodule")
    git(workspace.root, "switch", "-q", "main")
    report = workspace.index(branch="feature")
    reasons = {skip.path: skip.reason for skip in report.skipped}
    assert reasons["data.txt"] == "git LFS pointer"
    assert reasons["link.py"] == "symlink"
    assert reasons["image.png"] == "binary (extension)"
    assert reasons["ignored/a.py"] == "excluded by .cairnignore"
    assert reasons["sub"] == "submodule that is not checked out"
    (hit,) = [one for one in workspace.search("crlf_1", branch="feature").code if one.name == "crlf_1"]
    assert hit.preview.startswith("def crlf_1(offset):")


def test_a_part_of_a_repository_has_revisions_of_its_own(project: Path) -> None:
    with Workspace.open(project / "lib") as workspace:
        workspace.index(branch="feature")
        answer = workspace.search("gamma_1", branch="feature")
        assert answer.view == "refs/heads/feature:lib"
        assert answer.code[0].path == "gamma.py"
        assert workspace.fetch([answer.code[0].id])[0].path == "gamma.py"


def test_a_worktree_shares_revisions_with_the_others(workspace: Workspace, git: Git, tmp_path: Path) -> None:
    workspace.index(branch="feature")
    git(workspace.root, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    with Workspace.open(tmp_path / "tree") as other:
        assert found(other, "def gamma_1", "feature") == {"lib/gamma.py"}


def test_a_hit_of_a_branch_is_fetched_from_that_branch_only_when_asked(workspace: Workspace) -> None:
    workspace.index(branch="feature")
    (hit,) = [one for one in workspace.search("alpha_2", branch="feature").code if one.name == "alpha_2"]
    assert workspace.fetch([hit.id], branch="feature")[0].name == "alpha_2"
    workspace.index(branch="main")
    with pytest.raises(NotFoundError):
        workspace.fetch([hit.id], branch="main")


def test_a_commit_that_git_dropped_leaves_its_hits_marked(workspace: Workspace, git: Git) -> None:
    workspace.index(branch="feature")
    (hit,) = [one for one in workspace.search("gamma_1", branch="feature").code if one.name == "gamma_1"]
    workspace.close()
    git(workspace.root, "branch", "-qD", "feature")
    git(workspace.root, "reflog", "expire", "--expire=now", "--all")
    git(workspace.root, "gc", "-q", "--prune=now")
    (fetched,) = workspace.fetch([hit.id])
    assert (fetched.stale, fetched.text) == (True, "")


def test_objects_are_not_taken_for_files_that_a_filter_changed(project: Path, git: Git, tmp_path: Path) -> None:
    commit(git, project, {f"many/file_{number}.py": module(f"name_{number}", 1) for number in range(100)})
    index(project, "main")
    commit(git, project, {".gitattributes": "*.py text eol=crlf\n"})
    shutil.rmtree(project / "many")
    git(project, "checkout", "--", "many")
    assert b"\r\n" in (project / "many" / "file_1.py").read_bytes()
    with Workspace.open(project) as workspace:
        workspace.index()
        check_equals_fresh(workspace, tmp_path / "fresh")


def test_what_another_branch_defines_does_not_crowd_out_a_name(project: Path, git: Git) -> None:
    git(project, "switch", "-q", "feature")
    commit(git, project, {f"twins/{number}.py": f"def twin():\n    return {number}\n" for number in range(250)})
    index(project)
    git(project, "switch", "-q", "main")
    write_files(project, {"alone.py": "def twin():\n    return None\n"})
    with Workspace.open(project) as workspace:
        workspace.index()
        (hit,) = [one for one in workspace.search("twin", explain=True).code if one.name == "twin"]
        assert hit.path == "alone.py"
        assert "symbol" in (hit.explain or {})


def test_a_commit_is_answered_alike_by_itself_and_beside_many_others(checkout: Path, git: Git, tmp_path: Path) -> None:
    names = ("alpha", "beta", "gamma", "delta", "omega")
    revisions = []
    for number in range(8):
        changed = {f"{name}.py": module(f"{name}_{number}", 1 + number % 3) for name in names[number % 4 :]}
        revisions.append(commit(git, checkout, {**changed, "store.py": module("store", 2)}))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(checkout), str(clone))
    git(clone, "checkout", "-q", revisions[2])
    with Workspace.open(checkout) as beside, Workspace.open(clone) as alone:
        for revision in revisions:
            beside.index(branch=revision)
        alone.index()
        for query in (*QUERIES, "gamma_2_1", "where is offset stored by the beta handler"):
            hits = [(hit.id, hit.score) for hit in beside.search(query, branch=revisions[2], limit=20).code]
            assert hits == [(hit.id, hit.score) for hit in alone.search(query, limit=20).code]
            assert hits
