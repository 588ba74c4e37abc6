"""Goes through the files of one question while there is time, and knows which it did not come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import TypeVar

from cairn import waiting
from cairn.graph.code import Code
from cairn.graph.facts import Progress
from cairn.graph.file_queue import FIRST_AT_ONCE, MOST_AT_ONCE, FileQueue
from cairn.graph.nodes import file_of, place_of
from cairn.graph.values import Unfollowed
from cairn.hints import Hint
from cairn.source.languages import BY_NAME
from cairn.source.text import pluralize

MOST_NAMES = 100  # of an answer
_MOST_SAID = 5  # of these in words
# Shares of the time of a question, in the order in which they are used up: to look for likely files while there was
# none, for users of what is asked about, for lines that cannot be resolved.
FOR_LIKELY, FOR_USERS, FOR_LINES = 0.5, 0.75, 1.0
_T = TypeVar("_T")


class Reader:
    """Reads files for one question.

    Args:
        code: the files.
        lasts: tells whether a share of the time is left; None for a question that takes the time that it needs.
        seconds: how long that is.
        progress: as for `Graph`.

    Attributes:
        unread: the files that there was no time for.
        unnamed: the files in which there was no time to look for other names of what is asked about.
        unresolved: the definitions for which there was no time to resolve all that they refer to.
        lines_left: whether there was no time to look for all lines that cannot be resolved.
    """

    def __init__(
        self, code: Code, lasts: Callable[[float], bool] | None, seconds: float = 0.0, progress: Progress | None = None
    ) -> None:
        self.unread: set[int] = set()
        self.unnamed: set[int] = set()
        self.unresolved: set[int] = set()
        self.lines_left = False
        self._open_names: list[str] = []
        self._code = code
        self._lasts = lasts
        self._seconds = seconds
        self._progress = progress

    @property
    def is_patient(self) -> bool:
        """Whether the question takes the time that it needs."""
        return self._lasts is None

    def lasts(self, share: float) -> bool:
        """Tell whether a share of the time is left."""
        return self._lasts is None or self._lasts(share)

    def attempt(self, share: float, work: Callable[[], _T]) -> _T | None:
        """Return what some work gives; None if a share of the time was over before, in the middle of a file as well."""
        if self._lasts is None:
            return work()
        try:
            with waiting.limited(partial(self._lasts, share)):
                return work()
        except waiting.TimeUp:
            return None

    def resolve(self, number: int, work: Callable[[], _T]) -> _T | None:
        """Return what some work on a file gives; None if the time for users was over before: then it is unread."""
        found = self.attempt(FOR_USERS, work)
        if found is None:
            self.unread.add(number)
        return found

    def look_up(self, work: Callable[[], _T]) -> _T | None:
        """Return what some work gives for lines that cannot be resolved; None if the time was over before."""
        found = self.attempt(FOR_LINES, work)
        self.lines_left = self.lines_left or found is None
        return found

    def read(
        self,
        files: Iterable[int],
        says: Callable[[int], bool],
        near: int = -1,
        is_likely: Callable[[int], bool] | None = None,
    ) -> Iterator[int]:
        """Yield files whose facts are found, until the time for users is over: the likely ones first, and near ones.

        Args:
            files: the files.
            says: tells from the text of one whether it is to be read.
            near: the file that the others are near to.
            is_likely: tells from the text of one whether it is to be read before others.
        """
        return self._read(files, says, self.unread, near, is_likely)

    def read_for_names(self, files: Iterable[int], says: Callable[[int], bool]) -> Iterator[int]:
        """Yield files to look for other names in, until the time for users is over."""
        return self._read(files, says, self.unnamed)

    def _read(
        self,
        files: Iterable[int],
        says: Callable[[int], bool],
        left: set[int],
        near: int = -1,
        is_likely: Callable[[int], bool] | None = None,
    ) -> Iterator[int]:
        if self._lasts is None:
            numbers = [number for number in sorted(files) if says(number)]
            self._code.load(numbers, self._progress)
            yield from numbers
            return
        numbers = nearest_first(self._code.paths, self._code.languages, files, near)
        queue = FileQueue(numbers, says, is_likely)
        may_go_on, may_look_on = partial(self.lasts, FOR_USERS), partial(self.lasts, FOR_LIKELY)
        size = FIRST_AT_ONCE
        while some := queue.take(size, may_go_on, may_look_on):
            self._code.load(some, None, may_go_on)
            for at, number in enumerate(some):
                if not may_go_on():
                    queue.put_back(some[at:])
                    break
                left.discard(number)
                yield number
            size = min(2 * size, MOST_AT_ONCE)
        left.update(queue.files)

    def look_at(self, files: Iterable[int], says: Callable[[int], bool]) -> Iterator[int]:
        """Yield files that may have lines that cannot be resolved, as long as there is time, without unread ones.

        Args:
            files: the files.
            says: tells from the text of one whether it is to be looked at.
        """
        for number in files:
            if number in self.unread:
                self.lines_left = True
            elif not self.lasts(FOR_LINES):
                self.lines_left = True
                return
            elif says(number):
                yield number

    def leave(self, names: Iterable[str]) -> None:
        """Note definitions whose users were not looked for, by their names."""
        self._open_names += names

    def unfollowed(self) -> Unfollowed | None:
        """Return what the answer leaves out for want of time, None if that is nothing."""
        files = self.unread | self.unnamed
        open_names = [*self._open_names, *map(self._name_of, sorted(self.unresolved))]
        if not (files or self.lines_left or open_names):
            return None
        names = tuple(dict.fromkeys(open_names))[:MOST_NAMES]
        return Unfollowed(len(open_names), names, len(files), self.lines_left, self._seconds)

    def _name_of(self, node: int) -> str:
        return self._code.definition(node).name if place_of(node) >= 0 else self._code.paths[file_of(node)]


def nearest_first(paths: Sequence[str], languages: Sequence[str], files: Iterable[int], number: int) -> list[int]:
    """Return the files of code among some, those that share the most folders with a file first; -1 for none."""
    own = paths[number].split("/") if number >= 0 else []

    def nearness(other: int) -> tuple[bool, int, int]:
        pairs = zip(own, paths[other].split("/"), strict=False)
        return other != number, -sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)), other

    return sorted((other for other in files if BY_NAME[languages[other]].has_references), key=nearness)


def note_on_unfollowed(unfollowed: Unfollowed | None, *, of_callees: bool = False) -> tuple[Hint, ...]:
    """Return what a reader has to know of an answer whose time was up, which may be about what is called."""
    if unfollowed is None:
        return ()
    what = "what is called by" if of_callees else "what uses"
    lines = "lines that call something unknown" if of_callees else "lines that say the name without being resolved"
    said = []
    if unfollowed.definitions:
        names = ", ".join(f"`{name}`" for name in unfollowed.names[:_MOST_SAID])
        rest = ", …" if len(unfollowed.names) > _MOST_SAID or unfollowed.definitions > len(unfollowed.names) else ""
        said.append(f"{what} {pluralize(unfollowed.definitions, 'definition')} ({names}{rest}) is not all known")
    if unfollowed.files:
        said.append(
            f"{pluralize(unfollowed.files, 'file')} that may concern this {_were(unfollowed.files)} still unread"
        )
    if unfollowed.lines:
        said.append(f"{lines} were not all counted")
    left = "; ".join(said)
    return (Hint(f"This is not all: after {unfollowed.seconds:.2g} s, {left}. Ask again to go on from there."),)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
