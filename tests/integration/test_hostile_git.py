"""A repository that names programs in its settings, in all the ways git knows: none is ever run."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cairn.errors import CairnError, DiffError, PathError
from cairn.index.project import name_of
from cairn.index.views import Views
from cairn.index.watch import watched_folders
from cairn.source.git import current_branch, find_ignored, find_repository, is_ignored, list_files, remote_url
from cairn.source.objects import ObjectReader, list_tree, missing_commits, resolve_revision
from cairn.source.walk import list_folders, walk
from cairn.workspace import Workspace

Git = Callable[..., str]
_HOOKS = (
    "post-index-change",
    "reference-transaction",
    "pre-commit",
    "post-checkout",
    "fsmonitor-watchman",
    "pre-auto-gc",
)


_QUIET = ("-c", "filter.process.process=")  # git gives up when a filter of this kind does not answer


class Trap(NamedTuple):
    """Settings that name a program, and what makes plain git run it."""

    settings: dict[str, str]
    springs: tuple[tuple[str, ...], ...]
    in_folder: str = "."


def _programs(folder: Path, trap: str) -> str:
    """Return a program that leaves a mark of its own."""
    program = folder / trap
    program.write_text(f"#!/bin/sh\ntouch '{folder}/marks/{trap}'\nexit 1\n")
    program.chmod(0o755)
    return str(program)


class Traps:
    """A checkout in which every way is laid that makes git run a program.

    `files` are 70 tracked files that all changed since git saw them last, which makes every comparison ask filters.
    """

    def __init__(self, base: Path, git: Git) -> None:
        self.base = base
        self.root = base / "clone"
        self.marks = base / "marks"
        self.marks.mkdir()
        self.git = git
        self._commit_files()
        self._lay()
        self._touch_files()

    def sprung(self) -> set[str]:
        """Return the programs that ran, and forget them."""
        found = {path.name for path in self.marks.iterdir()}
        for path in self.marks.iterdir():
            path.unlink()
        return found

    def _commit_files(self) -> None:
        self.root.mkdir()
        self.git(self.root, "init", "-q")
        (self.root / ".gitattributes").write_text("*.py filter=evil diff=evil\nf1.py diff=other filter=process\n")
        for number in range(70):
            (self.root / f"f{number}.py").write_text(f"def f{number}(x):\n    return x + {number}\n")
        (self.root / "uses.py").write_text("from f1 import f1\n\n\ndef uses():\n    return f1(2)\n")
        self._embed()
        self.git(self.root, "add", "-A")
        self.git(self.root, "commit", "-qm", "first")
        self.git(self.root, "branch", "side")
        self._add_submodule()
        self._sign()

    def _embed(self) -> None:
        """Put a bare repository that claims a checkout into the files of the clone."""
        inner = self.root / "vendored.repo"
        inner.mkdir()
        self.git(inner, "init", "-q", "--bare", ".")
        (inner / "objects" / "keep").touch()
        (inner / "refs" / "keep").touch()
        (inner / "a.py").write_text("a = 1\n")
        # `bare = false` with a checkout of its own is what turns a folder of a clone into a repository.
        config = f"[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {_programs(self.base, 'embedded')}\n"
        (inner / "config").write_text("[core]\n\trepositoryformatversion = 0\n" + config)

    def _add_submodule(self) -> None:
        origin = self.base / "origin"
        origin.mkdir()
        self.git(origin, "init", "-q")
        (origin / ".gitattributes").write_text("*.py filter=inner\n")
        (origin / "inner.py").write_text("def inner():\n    return 1\n")
        self.git(origin, "add", "-A")
        self.git(origin, "commit", "-qm", "inner")
        self.git(self.root, "submodule", "--quiet", "add", str(origin), "sub")
        self.git(self.root, "commit", "-qm", "second")

    def _sign(self) -> None:
        commit = self.git(self.root, "cat-file", "commit", "HEAD")
        header, _, text = commit.partition("\n\n")
        signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----"
        file = self.base / "signed"
        file.write_text(f"{header}\n{signature}\n\n{text}\n")
        signed = self.git(self.root, "hash-object", "-t", "commit", "-w", str(file))
        self.git(self.root, "update-ref", "refs/heads/signed", signed)

    def _lay(self) -> None:
        for trap in TRAPS.values():
            for name, value in trap.settings.items():
                for program in _words(value):
                    value = value.replace(f"<{program}>", _programs(self.base, program))
                self.git(self.root, "config", name, value)
        hooks = self.base / "hooks"
        hooks.mkdir()
        for hook in _HOOKS:
            (hooks / hook).write_text(f"#!/bin/sh\ntouch '{self.marks}/hooks'\n")
            (hooks / hook).chmod(0o755)
        self.git(self.root, "config", "core.hooksPath", str(hooks))
        self.git(self.root / "sub", "config", "filter.inner.clean", _programs(self.base, "submodule"))
        (self.base / "more").write_text(f'[alias]\n\tincluded = "!{_programs(self.base, "include")}"\n')
        planted = self.root / "git"
        planted.write_text(f"#!/bin/sh\ntouch '{self.marks}/path'\n")
        planted.chmod(0o755)

    def _touch_files(self) -> None:
        for number in range(70):
            (self.root / f"f{number}.py").write_text(f"def f{number}(x):\n    return x + {number + 1}\n")
        (self.root / "sub" / "inner.py").write_text("def inner():\n    return 2\n")
        self.sprung()


def _words(value: str) -> list[str]:
    return [part.partition(">")[0] for part in value.split("<")[1:]]


TRAPS = {
    "clean": Trap({"filter.evil.clean": "<clean>"}, (("status",), ("ls-files", "--modified"))),
    "smudge": Trap({"filter.evil.smudge": "<smudge>"}, (("checkout-index", "-f", "f2.py"),)),
    "process": Trap({"filter.process.process": "<process>"}, (("status",),)),
    "fsmonitor": Trap({"core.fsmonitor": "<fsmonitor>"}, (("status",),)),
    "textconv": Trap({"diff.evil.textconv": "<textconv>"}, (("diff", "--no-ext-diff", "HEAD", "--", "f3.py"),)),
    "command": Trap({"diff.other.command": "<command>"}, ((*_QUIET, "diff", "HEAD", "--", "f1.py"),)),
    "external": Trap({"diff.external": "<external>"}, ((*_QUIET, "diff", "HEAD", "--", "f4.py"),)),
    "ssh": Trap({"core.sshCommand": "<ssh>"}, (("ls-remote", "ssh://localhost/nowhere"),)),
    "pager": Trap({"core.pager": "<pager>"}, (("-p", "log"),)),
    "alias": Trap({"alias.odd": "!<alias>"}, (("odd",),)),
    "promisor": Trap(
        {
            "core.repositoryFormatVersion": "1",
            "extensions.partialClone": "origin",
            "remote.origin.promisor": "true",
            "remote.origin.url": "ext::<promisor> %S",
            "protocol.ext.allow": "always",
        },
        (("cat-file", "-p", "1" * 40),),
    ),
    "gpg": Trap({"gpg.program": "<gpg>"}, (("log", "--show-signature", "-1", "signed"),)),
    "credential": Trap({"credential.helper": "<credential>"}, (("credential", "fill"),)),
    "editor": Trap({"core.editor": "<editor>"}, ((*_QUIET, "commit", "--amend", "--allow-empty"),)),
    "hooks": Trap({}, (("update-ref", "refs/heads/other", "HEAD"),)),
    "submodule": Trap({}, ((*_QUIET, "--no-pager", "diff", "--no-ext-diff", "--no-textconv", "HEAD"),)),
    "embedded": Trap({}, (("status",),), "vendored.repo"),
    "include": Trap({"include.path": "../../more"}, (("included",),)),
}


@pytest.fixture
def traps(tmp_path: Path, git: Git) -> Traps:
    return Traps(tmp_path, git)


def spring(folder: Path, arguments: tuple[str, ...]) -> str:
    """Run plain git as a person would, with a terminal as its output; return what it complains about."""
    terminal, output = pty.openpty()
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "0"}
    environment.pop("GIT_EDITOR", None)
    environment |= {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org"}
    environment |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org", "TERM": "xterm"}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, env=environment, input=b"url=https://example.org/\n\n", stdout=output,
            stderr=subprocess.PIPE, timeout=20, check=False,
        )  # fmt: skip
    finally:
        os.close(output)
        os.close(terminal)
    return done.stderr.decode(errors="replace")[-500:]


def test_plain_git_runs_each_of_the_programs(traps: Traps) -> None:
    quiet = []
    for name, trap in TRAPS.items():
        for arguments in trap.springs:
            for number in range(70):  # git asks a filter only about what it has not seen
                os.utime(traps.root / f"f{number}.py")
            complaints = spring(traps.root / trap.in_folder, arguments)
            if name not in traps.sprung():
                quiet.append((name, arguments, complaints))
    assert quiet == []
    subprocess.run(
        ["git", "version"], cwd=traps.root, env=os.environ | {"PATH": f".:{os.environ['PATH']}"}, check=False
    )
    assert traps.sprung() == {"path"}


def _questions(traps: Traps) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield all that is ever asked of git, by name."""
    root = traps.root
    repository = find_repository(root)
    assert repository is not None
    yield "find", lambda: find_repository(root)
    yield "branch", lambda: current_branch(repository)
    yield "remote", lambda: (remote_url(root), name_of(root))
    yield "list", lambda: (list_files(root), list_files(root / "sub", own_repository=True))
    yield "walk", lambda: (walk(root, repository=repository), list_folders(root, repository=repository))
    yield "ignored", lambda: (is_ignored(root), find_ignored(root, ["f1.py", "sub/inner.py", "new.py"]))
    yield "revision", lambda: [resolve_revision(root, name) for name in ("side", "signed", "HEAD~1", "@{0}")]
    yield "missing", lambda: missing_commits(root, ["refs/heads/side", "1" * 40])
    yield "tree", lambda: [list_tree(root, name) for name in ("HEAD", "side", "signed")]
    yield (
        "clean",
        lambda: Views(root, repository, 1_000_000).checkout.object_ids(walk(root, repository=repository).files),
    )
    yield "submodule", lambda: find_repository(root / "sub")
    with Workspace.containing(root) as workspace:
        yield "index", lambda: workspace.index(full=True)
        yield "branches", lambda: [workspace.index(branch=name) for name in ("side", "signed")]
        yield "search", lambda: (workspace.search("uses f1"), workspace.search("f1", branch="side"))
        yield "impact", lambda: (workspace.graph.impact(diff="HEAD"), workspace.graph.impact(diff="side"))
        yield "tests", lambda: workspace.graph.choose_tests(diff="HEAD")
        yield "doctor", lambda: (workspace.upkeep.doctor(fix=True), workspace.upkeep.collect())
        yield "watch", lambda: watched_folders(root, repository)


def test_nothing_that_cairn_asks_runs_a_program_or_changes_the_repository(
    traps: Traps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f".:{traps.root}::{os.environ['PATH']}")
    before = _state_of_git(traps.root)
    ran = {}
    for name, ask in _questions(traps):
        ask()
        if sprung := traps.sprung():
            ran[name] = sprung
    assert ran == {}
    assert _state_of_git(traps.root) == before


def _state_of_git(root: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for folder, _, names in os.walk(root / ".git"):
        for name in names:
            status = os.lstat(os.path.join(folder, name))
            found[os.path.join(folder, name)] = (status.st_mtime_ns, status.st_size)
    return found


def test_a_repository_among_the_files_of_a_clone_is_not_used(traps: Traps) -> None:
    with pytest.raises(PathError, match="bare repository"):
        Workspace.containing(traps.root / "vendored.repo")
    with pytest.raises(PathError, match="bare repository"):
        list_files(traps.root / "vendored.repo" / "refs", own_repository=True)
    assert traps.sprung() == set()


def test_a_change_is_told_without_filters_and_submodules(traps: Traps) -> None:
    with Workspace.containing(traps.root) as workspace:
        workspace.index()
        changed = {one.path for one in workspace.graph.impact(diff="HEAD").changed}
    assert {"f0.py", "f69.py"} <= changed
    assert not {path for path in changed if path.startswith("sub/")}


def test_an_object_that_was_never_fetched_is_missing_and_not_fetched(traps: Traps) -> None:
    blob = traps.git(traps.root, "rev-parse", "HEAD:f5.py")
    (traps.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with ObjectReader(traps.root) as reader, pytest.raises(FileNotFoundError):
        reader.read(bytes.fromhex(blob))
    with Workspace.containing(traps.root) as workspace:
        report = workspace.index(branch="side")
        assert ("f5.py", "never fetched: the clone is partial") in {(skip.path, skip.reason) for skip in report.skipped}
        workspace.index()
        assert "f5.py" in {one.path for one in workspace.graph.impact(diff="HEAD").changed}
    assert traps.sprung() == set()


def test_a_checkout_elsewhere_is_refused(checkout: Path, git: Git, tmp_path: Path) -> None:
    git(checkout, "config", "core.worktree", str(tmp_path))
    with pytest.raises(PathError, match="names another folder as its checkout"):
        find_repository(checkout)


@pytest.mark.parametrize("name", ["HEAD", "index", "config", "info/exclude", "packed-refs", "objects/info/alternates"])
def test_a_pipe_in_the_place_of_a_file_of_git_is_an_error(name: str, checkout: Path, git: Git) -> None:
    (checkout / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(checkout / ".git" / name)
    with pytest.raises(CairnError) as caught:
        Workspace.containing(checkout)
    assert "is not a regular file" in str(caught.value)


def test_a_shared_index_that_is_a_link_is_refused_and_what_it_leads_to_untouched(
    checkout: Path, git: Git, tmp_path: Path
) -> None:
    (checkout / "a.py").write_text("a = 1\n")
    git(checkout, "add", "-A")
    git(checkout, "update-index", "--split-index")
    (shared,) = (checkout / ".git").glob("sharedindex.*")
    assert find_repository(checkout) is not None
    assert list_files(checkout).paths == ["a.py"]
    shared.rename(tmp_path / "outside")
    shared.symlink_to(tmp_path / "outside")
    os.utime(tmp_path / "outside", (1, 1))
    with pytest.raises(PathError, match="is not a regular file"):
        find_repository(checkout)
    assert (tmp_path / "outside").stat().st_mtime == 1
    git(checkout, "ls-files")  # as git itself would have done
    assert (tmp_path / "outside").stat().st_mtime > 1


@pytest.mark.parametrize("name", ["info/exclude", "packed-refs"])
def test_a_file_of_git_that_is_too_large_to_be_read_is_an_error(name: str, checkout: Path) -> None:
    with (checkout / ".git" / name).open("wb") as file:
        file.truncate(3_000_000_000)
    with pytest.raises(PathError, match="too large for git"):
        find_repository(checkout)


@pytest.mark.parametrize("name", ["include.path", "core.excludesFile"])
def test_a_setting_that_leads_to_a_pipe_is_an_error(name: str, checkout: Path, git: Git, tmp_path: Path) -> None:
    git(checkout, "config", name, str(tmp_path / "pipe"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PathError, match="is not a regular file"):
        find_repository(checkout)


def test_a_pipe_for_ignore_rules_is_told_and_the_files_are_found(checkout: Path, git: Git) -> None:
    (checkout / "a.py").write_text("a = 1\n")
    (checkout / "sub").mkdir()
    (checkout / "sub" / "b.py").write_text("b = 1\n")
    os.mkfifo(checkout / "sub" / ".gitignore")
    with Workspace.containing(checkout) as workspace:
        report = workspace.index()
    assert report.added == 2
    reasons = {skip.path: skip.reason for skip in report.skipped}
    assert "without git" in reasons["sub/.gitignore"] or "not a regular file" in reasons["sub/.gitignore"]
    assert find_ignored(checkout, ["sub/b.py"]) == set()


def test_rules_on_which_git_computes_forever_are_named_and_the_files_are_found(checkout: Path, git: Git) -> None:
    deep = checkout.joinpath(*["aaa"] * 40)
    deep.mkdir(parents=True)
    (deep / "x.py").write_text("x = 1\n")
    (checkout / ".gitignore").write_text("**/" * 12 + "b\n")
    found = walk(checkout, repository=find_repository(checkout))
    assert [file.path for file in found.files] == [".gitignore", str((deep / "x.py").relative_to(checkout))]
    assert [skip.path for skip in found.skipped] == [".gitignore"]
    assert "`**` 12 times" in found.skipped[0].reason


def test_a_commit_with_more_files_than_there_is_room_for_is_an_error(checkout: Path, git: Git) -> None:
    """One file, ten times in a folder, which is ten times in a folder, and so on: a few objects, 10^10 files."""
    (checkout / "f").write_text("x\n")
    entry = f"100644 blob {git(checkout, 'hash-object', '-w', 'f')}"
    for _ in range(10):
        lines = "".join(f"{entry}\td{number}\n" for number in range(10))
        command = ["git", "mktree"]
        tree = subprocess.run(command, cwd=checkout, input=lines, capture_output=True, text=True, check=True)
        entry = f"040000 tree {tree.stdout.strip()}"
    commit = git(checkout, "commit-tree", "-m", "many", entry.split()[-1])
    with pytest.raises(PathError, match="lists more than"):
        list_tree(checkout, commit, max_bytes=1_000_000)


@pytest.mark.parametrize("revision", ["--output=x", "-p", "", "nowhere", "HEAD:f1.py", "\0", "^HEAD"])
def test_what_is_no_revision_changes_nothing(revision: str, checkout: Path, git: Git) -> None:
    (checkout / "f1.py").write_text("def f():\n    return 1\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "first")
    with Workspace.containing(checkout) as workspace:
        workspace.index()
        if revision:
            with pytest.raises(DiffError):
                workspace.graph.impact(diff=revision)
    assert not (checkout / "x").exists()


@pytest.mark.parametrize("way", ["file", "commondir", "worktree"])
def test_a_checkout_that_claims_another_repository_does_not_get_at_its_state(
    way: str, checkout: Path, git: Git, tmp_path: Path
) -> None:
    (checkout / "a.py").write_text("a = 1\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "first")
    git(checkout, "worktree", "add", "-q", str(tmp_path / "linked"))
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    own = hostile / "own"
    shutil.copytree(checkout / ".git" / "worktrees" / "linked", own)
    if way == "file":
        (hostile / ".git").write_text(f"gitdir: {checkout / '.git'}\n")
    elif way == "commondir":
        (own / "commondir").write_text(f"{checkout / '.git'}\n")
        (own / "gitdir").write_text(f"{hostile / '.git'}\n")
        (hostile / ".git").write_text("gitdir: own\n")
    else:
        (hostile / ".git").write_text(f"gitdir: {checkout / '.git' / 'worktrees' / 'linked'}\n")
    assert Workspace.containing(hostile).state.path == hostile / ".cairn"
    assert Workspace.containing(tmp_path / "linked").state.path == checkout / ".cairn"
    assert Workspace.containing(checkout).state.path == checkout / ".cairn"


def test_a_sparse_index_makes_git_write_nothing(checkout: Path, git: Git) -> None:
    for folder in ("kept", "left_out", "left_out/deep"):
        (checkout / folder).mkdir()
        (checkout / folder / "code.py").write_text(f"def of_{folder.replace('/', '_')}():\n    pass\n")
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "Add code")
    git(checkout, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(checkout, "sparse-checkout", "set", "kept")
    objects = checkout / ".git" / "objects"
    for file in filter(Path.is_file, objects.rglob("*")):
        os.utime(file, (1, 1))
    before = {file: file.stat().st_mtime_ns for file in objects.rglob("*")}
    with Workspace.open(checkout) as workspace:
        assert workspace.index().files == 1
        assert [hit.path for hit in workspace.search("of_kept").code] == ["kept/code.py"]
        (checkout / "kept" / "more.py").write_text("def more():\n    pass\n")
        assert workspace.index().files == 2
    assert {file: file.stat().st_mtime_ns for file in objects.rglob("*")} == before
