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
    answer: BoundedAnswer
    find: Callable[[], BoundedAnswer]


class Answers:
    """The last few answers, until a file changes.

    Args:
        patience: the time of each question.
        is_prepared: tells whether all edges are known by now, so that what was cut is answered whole at once.
    """

    def __init__(self, patience: Callable[[], GraphPatience], is_prepared: Callable[[], bool]) -> None:
        self._patience = patience
        self._is_prepared = is_prepared
        self._kept: dict[Hashable, object] = {}
        self._cut: dict[Hashable, _Cut] = {}
        self._is_gone_on_with = False  # between questions, so that no question need go on with what was cut

    @property
    def are_cut(self) -> bool:
        """Whether there are any that were cut and are to be gone on with."""
        return bool(self._cut)

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

        One that was cut is given as it is by then while somebody goes on with it; else this does.

        Args:
            key: of the question.
            find: finds the answer.
            keeps: whether to keep one that was never cut.
        """
        if key in self._kept:
            return cast("_A", self._kept[key])
        cut = self._cut.get(key)
        if cut is not None and self._is_gone_on_with and not self._is_prepared():
            return cast("_A", cut.answer)
        answer = find()
        if answer.unfollowed is not None:
            _keep(self._cut, key, _Cut(answer, find))
        elif keeps or cut is not None:
            self._cut.pop(key, None)
            _keep(self._kept, key, answer)
        return answer

    def go_on(self, is_awaited: Callable[[], bool]) -> bool:
        """Go on with what was cut until that is whole, or somebody asks; return whether there is more to do.

        Args:
            is_awaited: tells whether somebody asks. Then what was found until now becomes the answer.
        """
        self._is_gone_on_with = True
        for key in list(self._cut):
            if is_awaited():
                return True
            before = self._cut[key]
            patience = self._patience()
            with patience.behind(is_awaited):
                answer = before.find()
            if answer.unfollowed is None:
                del self._cut[key]
                _keep(self._kept, key, answer)
            elif not patience.is_stopped:
                del self._cut[key]  # even this time was too short: the next question goes on with it itself
            elif _extent(answer) >= _extent(before.answer):  # or it was stopped before it had got as far
                self._cut[key] = before._replace(answer=answer)
        return bool(self._cut)


def _extent(answer: BoundedAnswer) -> int:
    """Return how much an answer lists."""
    values = [getattr(answer, name) for name in getattr(answer, "__dataclass_fields__", ()) if name != "notes"]
    return sum(len(value) for value in values if isinstance(value, tuple)) + int(getattr(answer, "omitted", 0))


def _keep(answers: dict[Hashable, _T], key: Hashable, answer: _T) -> None:
    while len(answers) >= _MOST_KEPT:
        del answers[next(iter(answers))]
    answers[key] = answer
