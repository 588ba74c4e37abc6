"""The order in which the files of one question are read: those that look as if they use what is sought come first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

# Files parsed in a row: few at first, so that something is found soon, and then twice as many each time.
FIRST_AT_ONCE, MOST_AT_ONCE = 5, 80
_MOST_LOOKED_AT = 40  # files whose text is looked at before those found among them are read


class FileQueue:
    """Files to read, in their order, but those whose text looks likely before all others.

    Args:
        files: the files.
        says: tells from the text of one whether it is to be read at all.
        is_likely: tells from the text of one whether it is to be read before others; None for no such difference.
    """

    def __init__(
        self, files: Iterable[int], says: Callable[[int], bool], is_likely: Callable[[int], bool] | None = None
    ) -> None:
        self._says = says
        self._is_likely = is_likely
        self._next: deque[int] = deque()
        self._unseen = deque(files)  # whose text was not looked at
        self._unlikely: deque[int] = deque()
        self._has_likely = is_likely is None

    def __bool__(self) -> bool:
        return bool(self._next or self._unseen or self._unlikely)

    @property
    def files(self) -> list[int]:
        """Those that are left."""
        return [*self._next, *self._unseen, *self._unlikely]

    def extend(self, files: Iterable[int]) -> None:
        """Add more files."""
        self._unseen.extend(files)

    def put_back(self, files: Iterable[int]) -> None:
        """Take some files before all others the next time."""
        self._next.extendleft(reversed(list(files)))

    def take(
        self, count: int, may_go_on: Callable[[], bool], may_look_on: Callable[[], bool], *, only_likely: bool = False
    ) -> list[int]:
        """Return the next few files, and take them out; none if there are no more, or no more time.

        Args:
            count: how many at most.
            may_go_on: tells whether there is time.
            may_look_on: tells whether there is time to look for likely files while there was none yet.
            only_likely: whether to return none but likely ones.
        """
        taken: list[int] = []
        n_looked_at = 0
        while len(taken) < count and (n_looked_at < _MOST_LOOKED_AT or not taken) and may_go_on():
            if self._next:
                taken.append(self._next.popleft())
            elif self._unlikely and (not self._unseen or not (self._has_likely or may_look_on())):
                if only_likely:
                    break
                taken.append(self._unlikely.popleft())
            elif self._unseen:
                n_looked_at += 1
                number = self._unseen[0]
                if self._says(number):
                    is_likely = self._is_likely is None or self._is_likely(number)
                    self._has_likely = self._has_likely or is_likely
                    (taken if is_likely else self._unlikely).append(number)
                self._unseen.popleft()
            else:
                break
        return taken
