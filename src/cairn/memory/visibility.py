"""Which memories count on the branch that is checked out: work on a branch stays there until it is merged."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from cairn.errors import PathError
from cairn.source.ancestry import branch_stamp, branch_tips, default_branch, first_commit_of, not_behind
from cairn.source.git import Repository, current_branch, head_revision, printable_name


class Birthplace(NamedTuple):
    """What was checked out when a memory was made; both are empty outside git."""

    branch: str
    revision: str


class _KnownCommits(NamedTuple):
    """Whether a memory counts, and how its branch stood when that was judged."""

    counts: bool
    stamp: object


class Visibility:
    """Tells which memories count where the checkout stands now; git is asked again once a branch of theirs has moved.

    A memory counts if it has no branch, or its branch is checked out. One of the default branch counts where its commit
    is behind HEAD, and one of another branch where that was merged into HEAD, or is gone. What git does not know is no
    reason to leave a memory out.

    Args:
        root: the project's folder.
        repository: the checkout it belongs to, None outside git.
    """

    def __init__(self, root: Path, repository: Repository | None) -> None:
        self._root, self._repository = root, repository
        self._head = Birthplace("", "")
        self._known: dict[Birthplace, _KnownCommits] = {}
        self._lock = Lock()

    def visible(self, places: Collection[Birthplace]) -> dict[Birthplace, bool]:
        """Return of each place whether memories from there count."""
        if self._repository is None:
            return dict.fromkeys(places, True)
        common_dir = self._repository.common_dir
        head = Birthplace(printable_name(current_branch(self._repository) or ""), head_revision(self._repository) or "")
        elsewhere = {place for place in places if place.branch not in ("", head.branch)}
        stamps = {branch: branch_stamp(common_dir, branch) for branch in {place.branch for place in elsewhere}}
        with self._lock:
            if head != self._head:
                self._head, self._known = head, {}
            unknown = {place for place in elsewhere if not self._knows(place, stamps[place.branch])}
            if unknown:
                judged = self._judge(unknown, head)
                self._known.update(
                    {place: _KnownCommits(counts, stamps[place.branch]) for place, counts in judged.items()}
                )
            return {place: place not in elsewhere or self._known[place].counts for place in places}

    def _knows(self, place: Birthplace, stamp: object) -> bool:
        known = self._known.get(place)
        return known is not None and known.stamp == stamp

    def _judge(self, places: Collection[Birthplace], head: Birthplace) -> Mapping[Birthplace, bool]:
        try:
            return judge(self._root, places, head.revision)
        except PathError:  # git cannot say
            return dict.fromkeys(places, True)


def judge(folder: Path, places: Collection[Birthplace], head: str) -> dict[Birthplace, bool]:
    """Return of memories made on other branches whether they count at a commit.

    Raises:
        PathError: if git does not answer.
    """
    tips = branch_tips(folder)
    default = default_branch(folder, tips)
    commits = [*(place.revision for place in places), *tips.values()]
    ahead = not_behind(folder, commits, head)
    not_on_default = not_behind(folder, commits, tips.get(default, ""))

    def counts(place: Birthplace) -> bool:
        tip = tips.get(place.branch)
        is_behind = place.revision not in ahead
        if place.branch == default:  # one that the branch itself no longer has was rewritten
            return is_behind or place.revision in not_on_default
        if tip is None:
            return True
        if tip != place.revision and tip not in ahead:
            return True
        if not is_behind:
            return False
        return not default or place.revision in not_on_default or has_begun_before(folder, place)

    return {place: counts(place) for place in places}


def has_begun_before(folder: Path, place: Birthplace) -> bool:
    """Tell whether a branch had commits of its own when a memory was made, as one that was merged fast-forward had."""
    return first_commit_of(folder, place.branch) not in ("", place.revision)
