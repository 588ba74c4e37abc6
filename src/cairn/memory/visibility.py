"""Which memories count on the branch that is checked out: work on a branch stays there until it is merged."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from cairn.errors import PathError
from cairn.source.ancestry import branch_tips, default_branch, not_behind
from cairn.source.git import Repository, current_branch, head_revision, printable_name


class Birthplace(NamedTuple):
    """What was checked out when a memory was made; both are empty outside git."""

    branch: str
    revision: str


class Visibility:
    """Tells which memories count where the checkout stands now; git is asked once for each commit checked out.

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
        self._known: dict[Birthplace, bool] = {}
        self._lock = Lock()

    def visible(self, places: Collection[Birthplace]) -> dict[Birthplace, bool]:
        """Return of each place whether memories from there count."""
        if self._repository is None:
            return dict.fromkeys(places, True)
        head = Birthplace(printable_name(current_branch(self._repository) or ""), head_revision(self._repository) or "")
        with self._lock:
            if head != self._head:
                self._head, self._known = head, {}
            unknown = {place for place in places if place not in self._known}
            elsewhere = {place for place in unknown if place.branch not in ("", head.branch)}
            self._known.update(dict.fromkeys(unknown - elsewhere, True))
            if elsewhere:
                self._known.update(self._judge(elsewhere, head))
            return {place: self._known[place] for place in places}

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
        return is_behind and (not default or place.revision in not_on_default)

    return {place: counts(place) for place in places}
