"""Goes through the files of one question while there is time, and knows which it did not come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

from cairn.graph.code import Code
from cairn.graph.facts import Progress
from cairn.graph.values import Unfollowed
from cairn.hints import Hint
from cairn.source.languages import BY_NAME
from cairn.source.text import pluralize

MOST_NAMES = 100  # of an answer
_MOST_SAID = 5  # of these in words
_FILES_AT_ONCE = 80  # parsed in a row: what two helpers do in some 80 ms
# Shares of the time of a question, in the order in which they are used up: for other names of what is asked about, for
# its users, for lines that cannot be resolved.
FOR_NAMES, FOR_USERS, FOR_LINES = 0.4, 0.75, 1.0


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
        lines_left: whether there was no time to look for all lines that cannot be resolved.
    """

    def __init__(
        self, code: Code, lasts: Callable[[float], bool] | None, seconds: float = 0.0, progress: Progress | None = None
    ) -> None:
        self.unread: set[int] = set()
        self.unnamed: set[int] = set()
        self.lines_left = False
        self._open_names: list[str] = []
        self._code = code
        self._lasts = lasts
        self._seconds = seconds
        self._progress = progress

    def lasts(self, share: float) -> bool:
        """Tell whether a share of the time is left."""
        return self._lasts is None or self._lasts(share)

    def read(self, files: Iterable[int], near: int = -1) -> Iterator[int]:
        """Yield files whose facts are found, the nearest to one first, until the time for users is over."""
        return self._read(files, FOR_USERS, self.unread, near)

    def read_for_names(self, files: Iterable[int], share: float) -> Iterator[int]:
        """Yield files to look for other names in, until a share of the time is over."""
        return self._read(files, share, self.unnamed)

    def _read(self, files: Iterable[int], share: float, left: set[int], near: int = -1) -> Iterator[int]:
        if self._lasts is None:
            numbers = sorted(files)
            self._code.load(numbers, self._progress)
            yield from numbers
            return
        numbers = nearest_first(self._code.paths, self._code.languages, files, near)
        for begin in range(0, len(numbers), _FILES_AT_ONCE):
            if self.lasts(share):
                self._code.load(numbers[begin : begin + _FILES_AT_ONCE])
            for at in range(begin, min(begin + _FILES_AT_ONCE, len(numbers))):
                if not self.lasts(share):
                    left.update(numbers[at:])
                    return
                left.discard(numbers[at])
                yield numbers[at]

    def look_at(self, files: Iterable[int]) -> Iterator[int]:
        """Yield files that may have lines that cannot be resolved, as long as there is time, without unread ones."""
        for number in files:
            if number in self.unread:
                self.lines_left = True
            elif not self.lasts(FOR_LINES):
                self.lines_left = True
                return
            else:
                yield number

    def leave(self, names: Iterable[str]) -> None:
        """Note definitions whose users were not looked for, by their names."""
        self._open_names += names

    def unfollowed(self) -> Unfollowed | None:
        """Return what the answer leaves out for want of time, None if that is nothing."""
        files = self.unread | self.unnamed
        if not (files or self.lines_left or self._open_names):
            return None
        names = tuple(dict.fromkeys(self._open_names))[:MOST_NAMES]
        return Unfollowed(len(self._open_names), names, len(files), self.lines_left, self._seconds)


def nearest_first(paths: Sequence[str], languages: Sequence[str], files: Iterable[int], number: int) -> list[int]:
    """Return the files of code among some, those that share the most folders with a file first; -1 for none."""
    own = paths[number].split("/") if number >= 0 else []

    def nearness(other: int) -> tuple[bool, int, int]:
        pairs = zip(own, paths[other].split("/"), strict=False)
        return other != number, -sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)), other

    return sorted((other for other in files if BY_NAME[languages[other]].has_references), key=nearness)


def note_on_unfollowed(unfollowed: Unfollowed | None) -> tuple[Hint, ...]:
    """Return what a reader has to know of an answer whose time was up."""
    if unfollowed is None:
        return ()
    said = []
    if unfollowed.definitions:
        names = ", ".join(f"`{name}`" for name in unfollowed.names[:_MOST_SAID])
        rest = ", …" if len(unfollowed.names) > _MOST_SAID or unfollowed.definitions > len(unfollowed.names) else ""
        said.append(f"what uses {pluralize(unfollowed.definitions, 'definition')} ({names}{rest}) is not all known")
    if unfollowed.files:
        said.append(f"{pluralize(unfollowed.files, 'file')} that may concern this {_were(unfollowed.files)} not read")
    if unfollowed.lines:
        said.append("lines that say the name without being resolved were not all counted")
    return (Hint(f"This is not all: after {unfollowed.seconds:g} s {', '.join(said)}. Ask again to go on from there"),)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
