from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cairn.source.renames import find_renames, moved_from, moved_to


class Checkout:
    """A repository in which a test renames files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        for name in ("a.txt", "b.txt", "c.txt"):
            (root / name).write_text("".join(f"{name} {line}\n" for line in range(20)))
        self.first = self.commit()

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        result = subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)
        return result.stdout.decode().strip()

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "work")
        return self.git("rev-parse", "HEAD")

    def renamed(self, *paths: str, folder: str = ".", commits: tuple[str, ...] = ()) -> dict[str, str]:
        head = self.git("rev-parse", "HEAD")
        return find_renames(self.root / folder, paths, commits or [self.first], head)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_renames_of_several_commits_are_followed(checkout: Checkout) -> None:
    checkout.git("mv", "a.txt", "between.txt")
    checkout.commit()
    checkout.git("mv", "between.txt", "last.txt")
    last = checkout.root / "last.txt"
    last.write_text(last.read_text() + "more\n")
    checkout.commit()
    assert checkout.renamed("a.txt", "b.txt") == {"a.txt": "last.txt"}


def test_what_git_does_not_know_is_no_rename(checkout: Checkout) -> None:
    (checkout.root / "a.txt").unlink()
    assert checkout.renamed("a.txt") == {}
    checkout.commit()
    assert checkout.renamed("a.txt", "never-there.txt") == {}


def test_commits_that_are_not_here_hide_no_other(checkout: Checkout) -> None:
    checkout.git("mv", "a.txt", "d.txt")
    checkout.commit()
    assert checkout.renamed("a.txt", commits=("f" * 40, "--output=x", checkout.first)) == {"a.txt": "d.txt"}
    assert not (checkout.root / "x").exists()


def test_an_uncommitted_rename_is_found_unless_two_files_could_be_it(checkout: Checkout) -> None:
    checkout.git("mv", "a.txt", "d.txt")
    assert checkout.renamed("a.txt") == {"a.txt": "d.txt"}
    (checkout.root / "e.txt").write_bytes((checkout.root / "d.txt").read_bytes())
    checkout.git("add", ".")
    assert checkout.renamed("a.txt") == {}


def test_paths_are_relative_to_a_folder_of_the_checkout(checkout: Checkout) -> None:
    (checkout.root / "lib").mkdir()
    checkout.git("mv", "a.txt", "lib/a.txt")
    first = checkout.commit()
    checkout.git("mv", "lib/a.txt", "lib/d.txt")
    assert checkout.renamed("a.txt", folder="lib", commits=(first,)) == {"a.txt": "d.txt"}
    checkout.commit()
    assert checkout.renamed("a.txt", folder="lib", commits=(first,)) == {"a.txt": "d.txt"}


def test_outside_git_nothing_is_renamed(tmp_path: Path) -> None:
    assert find_renames(tmp_path, ["a.txt"], ["f" * 40], "e" * 40) == {}


@pytest.mark.parametrize("is_staged", [True, False])
@pytest.mark.parametrize("is_edited", [True, False])
def test_a_rename_that_is_not_committed_is_seen_from_both_sides(
    checkout: Checkout, is_staged: bool, is_edited: bool
) -> None:
    (checkout.root / "a.txt").rename(checkout.root / "d.txt")
    (checkout.root / "new.txt").write_text("quite another\n" * 20)
    if is_edited:
        text = (checkout.root / "d.txt").read_text()
        (checkout.root / "d.txt").write_text("more\n" + text)
    if is_staged:
        checkout.git("add", "--all")
    assert moved_to(checkout.root, checkout.first, "a.txt") == "d.txt"
    assert moved_from(checkout.root, checkout.first, "d.txt") == "a.txt"


def test_a_file_is_no_rename_of_one_that_is_still_there_or_has_little_in_common(checkout: Checkout) -> None:
    (checkout.root / "d.txt").write_bytes((checkout.root / "a.txt").read_bytes())
    (checkout.root / "b.txt").unlink()
    assert moved_to(checkout.root, checkout.first, "a.txt") == ""
    assert moved_to(checkout.root, checkout.first, "b.txt") == ""
    assert moved_from(checkout.root, checkout.first, "d.txt") == ""


def test_a_file_that_two_others_are_equally_like_went_nowhere(checkout: Checkout) -> None:
    text = (checkout.root / "a.txt").read_text()
    (checkout.root / "a.txt").unlink()
    for name in ("d.txt", "e.txt"):
        (checkout.root / name).write_text(text)
    assert moved_to(checkout.root, checkout.first, "a.txt") == ""
    assert moved_to(checkout.root, "no commit", "a.txt") == ""
