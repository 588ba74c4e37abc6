from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cairn.memory.visibility import Birthplace, Visibility
from cairn.source.git import find_repository


class Checkout:
    """A repository whose branches a test moves."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._n_commits = 0
        self.git("init", "-q", "-b", "main")
        self.commit()

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        result = subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)
        return result.stdout.decode().strip()

    def commit(self) -> str:
        self._n_commits += 1  # commits of the same second are told apart by what they say
        self.git("commit", "-q", "--allow-empty", "-m", f"work {self._n_commits}")
        return self.git("rev-parse", "HEAD")

    def place(self) -> Birthplace:
        return Birthplace(self.git("branch", "--show-current"), self.git("rev-parse", "HEAD"))

    def counts(self, place: Birthplace) -> bool:
        return Visibility(self.root, find_repository(self.root)).visible([place])[place]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_memory_counts_on_its_branch_and_one_without_everywhere(checkout: Checkout) -> None:
    assert checkout.counts(checkout.place())
    assert checkout.counts(Birthplace("", ""))
    assert Visibility(checkout.root, None).visible([Birthplace("any", "")])[Birthplace("any", "")]


def test_work_on_a_branch_stays_there_until_it_is_merged(checkout: Checkout) -> None:
    checkout.git("switch", "-q", "-c", "feature")
    before = checkout.place()  # nothing is committed yet
    checkout.commit()
    made = checkout.place()
    checkout.commit()
    checkout.git("switch", "-q", "main")
    checkout.commit()
    assert not checkout.counts(before)
    assert not checkout.counts(made)
    checkout.git("merge", "-q", "feature")
    assert checkout.counts(before)
    assert checkout.counts(made)


def test_a_memory_made_before_the_first_commit_of_its_branch_stays_there(checkout: Checkout) -> None:
    checkout.git("switch", "-q", "-c", "feature")
    place = checkout.place()
    checkout.git("switch", "-q", "main")
    assert not checkout.counts(place)


def test_work_that_was_merged_fast_forward_counts_while_its_branch_is_still_there(checkout: Checkout) -> None:
    checkout.git("switch", "-q", "-c", "feature")
    checkout.commit()
    made = checkout.place()
    checkout.git("switch", "-q", "main")
    checkout.git("merge", "-q", "--ff-only", "feature")
    assert checkout.counts(made)
    checkout.commit()
    assert checkout.counts(made)


def test_a_memory_counts_on_descendants_of_its_branch(checkout: Checkout) -> None:
    checkout.git("switch", "-q", "-c", "feature")
    checkout.commit()
    place = checkout.place()
    checkout.git("switch", "-q", "-c", "further")
    checkout.commit()
    assert checkout.counts(place)


def test_a_memory_of_the_default_branch_counts_where_its_commit_is(checkout: Checkout) -> None:
    old = checkout.place()
    checkout.git("branch", "feature")
    checkout.commit()
    new = checkout.place()
    checkout.git("switch", "-q", "feature")
    assert checkout.counts(old)
    assert not checkout.counts(new)


def test_a_memory_of_a_commit_that_was_rewritten_on_the_default_branch_still_counts(checkout: Checkout) -> None:
    checkout.commit()
    place = checkout.place()
    checkout.git("commit", "-q", "--amend", "--allow-empty", "-m", "better")
    checkout.git("switch", "-q", "-c", "feature")
    assert checkout.counts(place)


def test_a_memory_of_a_branch_that_is_gone_counts_everywhere(checkout: Checkout) -> None:
    checkout.git("switch", "-q", "-c", "feature")
    checkout.commit()
    place = checkout.place()
    checkout.git("switch", "-q", "main")
    assert not checkout.counts(place)
    checkout.git("branch", "-q", "-D", "feature")
    assert checkout.counts(place)
    assert checkout.counts(Birthplace("colleague", "0" * 40))


def test_memories_of_branches_count_anew_where_another_commit_is_checked_out(checkout: Checkout) -> None:
    visibility = Visibility(checkout.root, find_repository(checkout.root))
    checkout.git("switch", "-q", "-c", "feature")
    checkout.commit()
    place = checkout.place()
    assert visibility.visible([place])[place]
    checkout.git("switch", "-q", "--detach", "main")
    assert not visibility.visible([place])[place]
    checkout.git("merge", "-q", "feature")
    checkout.git("branch", "-q", "-D", "feature")
    assert visibility.visible([place])[place]


def test_memories_of_a_branch_count_anew_once_it_is_deleted_or_made(checkout: Checkout) -> None:
    visibility = Visibility(checkout.root, find_repository(checkout.root))
    checkout.git("switch", "-q", "-c", "work/feature")
    checkout.commit()
    place = checkout.place()
    checkout.git("switch", "-q", "main")
    assert not visibility.visible([place])[place]
    checkout.git("branch", "-q", "-D", "work/feature")
    assert visibility.visible([place])[place]
    checkout.git("branch", "-q", "work/feature", place.revision)
    assert not visibility.visible([place])[place]
    checkout.git("pack-refs", "--all")
    assert not visibility.visible([place])[place]
    checkout.git("branch", "-q", "-D", "work/feature")
    assert visibility.visible([place])[place]
