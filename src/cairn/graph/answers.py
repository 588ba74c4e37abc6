"""Keeps the answers about one state of the code: whole ones, and those that were cut, until they are gone on with."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple, Protocol, TypeVar, cast

from cairn.graph.patience import GraphPatience
from cairn.graph.values import Unfollowed

_MOST_KEPT = 16  # long answers


class BoundedAnswer(Protocol):
    """An answer that says what it leaves out for want of time."""

    @property
    def unfollowed(self) -> Unfollowed | None:
        """What is left out, None for nothing."""


_T = TypeVar("_T")
_A = TypeVar("_A", bound=BoundedAnswer)


class _Cut(NamedTuple):
    """An answer that was cut, what finds it, and whether it is gone on with before it is asked for again."""

    answer: BoundedAnswer
    find: Callable[[], BoundedAnswer]
    goes_on: bool = True


class Answers:
    """The last few answers, until a file changes.

    Args:
        patience: the time of each question.
    """

    def __init__(self, patience: Callable[[], GraphPatience]) -> None:
        self._patience = patience
        self._kept: dict[Hashable, object] = {}
        self._cut: dict[Hashable, _Cut] = {}  # what was asked last is the last

    @property
    def are_cut(self) -> bool:
        """Whether there are any that were cut and are to be gone on with."""
        return any(cut.goes_on for cut in self._cut.values())

    def forget(self) -> None:
        """Drop all answers, since files changed."""
        self._kept.clear()
        self._cut.clear()

    def remember(self, key: Hashable, find: Callable[[], _T], is_whole: Callable[[_T], bool]) -> _T:
        """Return what `find` gives for a key; what is whole is remembered."""
        if key in self._kept:
            return cast("_T", self._kept[key])
        found = find()
        if is_whole(found):
            _keep(self._kept, key, found)
        return found

    def give(self, key: Hashable, find: Callable[[], _A], *, keeps: bool = True) -> _A:
        """Return the answer to a question: as it is known, or else as far as there is time to find it.

        One that was cut is gone on with, and takes nothing back that was found before.

        Args:
            key: of the question.
            find: finds the answer.
            keeps: whether to keep one that was never cut.
        """
        if key in self._kept:
            return cast("_A", self._kept[key])
        answer = find()
        cut = self._cut.pop(key, None)
        if answer.unfollowed is not None:
            answer = answer if cut is None else _further(cast("_A", cut.answer), answer)
            _keep(self._cut, key, _Cut(answer, find))
        elif keeps or cut is not None:
            _keep(self._kept, key, answer)
        return answer

    def go_on(self, is_awaited: Callable[[], bool]) -> bool:
        """Go on with what was cut, what was asked last first, until that is whole, or somebody asks.

        Args:
            is_awaited: tells whether somebody asks. Then what was found until now becomes the answer.
        """
        for key in [key for key, cut in reversed(self._cut.items()) if cut.goes_on]:
            if is_awaited():
                return True
            before = self._cut[key]
            patience = self._patience()
            with patience.behind(is_awaited):
                answer = before.find()
            if answer.unfollowed is None:
                del self._cut[key]
                _keep(self._kept, key, answer)
            else:  # if not even this time was enough, the next question goes on
                self._cut[key] = _Cut(_further(before.answer, answer), before.find, patience.is_stopped)
        return self.are_cut


def _further(before: _A, after: _A) -> _A:
    """Return which of two cut answers to one question got further: it lists more, or left fewer files unread."""
    return after if _extent(after) >= _extent(before) else before


def _extent(answer: BoundedAnswer) -> tuple[int, int]:
    """Return how much an answer lists, and how many files it has not left unread: less than none."""
    values = [getattr(answer, name) for name in getattr(answer, "__dataclass_fields__", ()) if name != "notes"]
    listed = sum(len(value) for value in values if isinstance(value, tuple)) + int(getattr(answer, "omitted", 0))
    return listed, -answer.unfollowed.files if answer.unfollowed is not None else 0


def _keep(answers: dict[Hashable, _T], key: Hashable, answer: _T) -> None:
    while len(answers) >= _MOST_KEPT:
        del answers[next(iter(answers))]
    answers[key] = answer
