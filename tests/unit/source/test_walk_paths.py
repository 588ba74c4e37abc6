"""What is found of a few files is what a walk over all of them finds."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest

from cairn.source.git import Repository, find_repository
from cairn.source.walk import Walk, walk
from cairn.source.walk_paths import walk_paths
from conftest import Git

MAX_BYTES = 500
FOLDERS = ("", "lib", "lib/inner", "vendor", "web/vendor", "static", "out", "out/kept", "node_modules/a", "env/lib")
NAMES = ("a.py", "b.min.js", "c.png", "x.log", "kept.log", "Ünï.py", "we ird[1].py", "star*.py", ":(top)a.py", "-n.py")
IGNORED = ("*.log\n!kept.log\nout/\n", "/lib/*.py\n!/lib/a.py\n", "**/inner/\n", "static\n\\:(top)a.py\n")
EXCLUDED = ("!vendor/\n", "inner/*.py\n!Ünï.py\n", "web/\n", "!*.min.js\n*.py\n")


class Tree:
    """A folder and the dice that change it; what a step touched is remembered until it is taken."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root = root
        self._dice = dice
        self._touched: set[str] = set()
        for _ in range(25):
            self._write()
        for name, texts in ((".gitignore", IGNORED), (".cairnignore", EXCLUDED)):
            for folder in dice.sample(FOLDERS[:6], 2):
                self._put(f"{folder}/{name}".lstrip("/"), dice.choice(texts))
        if dice.random() < 0.5:
            self._put("env/pyvenv.cfg", "")
        if dice.random() < 0.5:
            self._put("web/package.json", "{}")
        (root / "link").symlink_to("lib")
        self.taken()

    def step(self) -> None:
        """Write, remove, move or replace a file."""
        self._dice.choice((self._write, self._write, self._remove, self._move, self._link, self._enlarge))()

    def taken(self) -> set[str]:
        """Return what was touched since."""
        touched, self._touched = self._touched, set()
        return touched

    def _put(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(text)
        self._touched.add(path)

    def _path(self) -> str:
        return f"{self._dice.choice(FOLDERS)}/{self._dice.choice(NAMES)}".lstrip("/")

    def _some(self) -> str | None:
        found = [path for folder in FOLDERS for name in NAMES if self._is_file(path := f"{folder}/{name}".lstrip("/"))]
        return self._dice.choice(found) if found else None

    def _is_file(self, path: str) -> bool:
        return os.path.lexists(self.root / path)

    def _write(self) -> None:
        self._put(self._path(), f"x = {self._dice.random()}\n")

    def _enlarge(self) -> None:
        self._put(self._path(), "x = 1\n" * self._dice.choice((1, 100)))

    def _remove(self) -> None:
        if (path := self._some()) is not None:
            (self.root / path).unlink()
            self._touched.add(path)

    def _move(self) -> None:
        if (path := self._some()) is not None:
            target = self._path()
            (self.root / target).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).replace(self.root / target)
            self._touched |= {path, target}

    def _link(self) -> None:
        path = self._path()
        self._put(path, "")
        (self.root / path).unlink()
        (self.root / path).symlink_to(self._dice.choice(("/", "lib/a.py", "nowhere")))


def of(found: Walk, paths: Collection[str]) -> Walk:
    return Walk(
        [file for file in found.files if file.path in paths], [skip for skip in found.skipped if skip.path in paths]
    )


def look(root: Path, repository: Repository | None, paths: Collection[str]) -> Walk | None:
    found = walk_paths(root, paths, repository=repository, max_file_bytes=MAX_BYTES)
    if found is not None:
        assert found == of(walk(root, repository=repository, max_file_bytes=MAX_BYTES), paths)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_some_files_are_found_as_a_whole_walk_finds_them_in_a_repository(seed: int, checkout: Path, git: Git) -> None:
    tree = Tree(checkout, random.Random(seed))
    git(checkout, "add", "-A")
    git(checkout, "add", "-f", *[str(path) for path in sorted(checkout.glob("out/*.py"))], "lib")
    repository = find_repository(checkout)
    assert repository
    for _ in range(8):
        for _ in range(4):
            tree.step()
        assert look(checkout, repository, tree.taken()) is not None


@pytest.mark.parametrize("seed", range(15))
def test_some_files_are_found_as_a_whole_walk_finds_them_without_git(seed: int, tmp_path: Path) -> None:
    tree = Tree(tmp_path, random.Random(seed))
    for _ in range(8):
        for _ in range(4):
            tree.step()
        assert look(tmp_path, None, tree.taken()) is not None


@pytest.mark.parametrize(
    "name", [".gitignore", ".cairnignore", "lib/.gitignore", "web/package.json", "lib/CACHEDIR.TAG"]
)
def test_a_file_that_decides_about_others_needs_a_whole_walk(name: str, checkout: Path) -> None:
    repository = find_repository(checkout)
    (checkout / "a.py").write_text("x = 1\n")
    assert look(checkout, repository, ["a.py"]) is not None
    assert look(checkout, repository, ["a.py", name]) is None


def test_a_folder_and_what_lies_in_a_repository_within_need_a_whole_walk(checkout: Path, git: Git) -> None:
    repository = find_repository(checkout)
    (checkout / "inner" / "lib").mkdir(parents=True)
    (checkout / "inner" / "lib" / "a.py").write_text("x = 1\n")
    assert look(checkout, repository, ["inner/lib/a.py"]) is not None
    assert look(checkout, repository, ["inner/lib"]) is None
    git(checkout / "inner", "init", "-q")
    assert look(checkout, repository, ["inner/lib/a.py"]) is None
    shutil.rmtree(checkout / "inner")
    assert look(checkout, repository, ["inner/lib/a.py"]) == Walk([], [])


def test_in_an_ignored_project_a_few_files_need_a_whole_walk(checkout: Path) -> None:
    (checkout / ".gitignore").write_text("project/\n")
    project = checkout / "project"
    project.mkdir()
    (project / "a.py").write_text("x = 1\n")
    assert look(project, find_repository(project), ["a.py"]) is None
