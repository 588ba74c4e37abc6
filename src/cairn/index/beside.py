"""Parses files in helper processes: on every core, so that a grammar that crashes or hangs costs one file only.

The parser is only imported in the helpers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from cairn.errors import UnparsableError
from cairn.index.helper import CRASHED, Helper, Result
from cairn.index.isolation import borrow_several, count_waiting, find_failure, give_back, remember, run_isolated
from cairn.index.words import NO_WORDS, ParsedText, Words
from cairn.types import Chunk, Definition, ParsedFile, Span

_IN_FLIGHT = 1_024  # files handed to helpers and not yet back
_MOST_KEPT = 2  # helpers of a build, for the next one

_new = tuple.__new__
T = TypeVar("T")
R = TypeVar("R")


class Task(NamedTuple, Generic[T]):
    """A file to parse: its normalised content, the name of its language, and the caller's own tag for the result.

    `arguments` are further arguments for the job's function.
    """

    data: bytes
    language: str
    tag: T
    arguments: tuple[Any, ...] = ()


class Job(NamedTuple, Generic[R]):
    """What a helper does with each file.

    `name` is the function to call. `unpack` turns its reply into a result. `give_up` makes the result for a file on
    which it failed, from the content, its language and the reason.
    """

    name: str
    unpack: Callable[[Any], R]
    give_up: Callable[[bytes, str, str], R]
    scope: str = ""


def parse_beside(
    tasks: Iterable[Task[T]], job: Job[R], *, n_helpers: int, in_flight_bytes: int
) -> Iterator[tuple[T, R]]:
    """Parse files in helper processes; yield results in order, so that the caller can work on them meanwhile.

    If a grammar crashes its process, that one file is cut between lines and has no definitions.

    Args:
        tasks: the files.
        job: what to do with each.
        n_helpers: how many processes, at least one.
        in_flight_bytes: how much source the helpers may hold at once.
    """
    crew = _Crew(job, max(1, n_helpers))
    waiting: deque[tuple[int, Task[T]]] = deque()  # with the number of the helper that has it
    waiting_bytes = 0
    following = iter(tasks)
    try:
        exhausted = False
        while waiting or not exhausted:
            while not exhausted and len(waiting) < _IN_FLIGHT and (waiting_bytes < in_flight_bytes or not waiting):
                if (task := next(following, None)) is None:
                    exhausted = True
                    break
                waiting.append((crew.send(task), task))
                waiting_bytes += len(task.data)
            if not waiting:
                break
            number, task = waiting.popleft()
            waiting_bytes -= len(task.data)
            result = crew.receive(number, task, waiting)
            yield task.tag, outcome(result, task, job)
        crew.dismiss()
    finally:
        crew.close()


def outcome(result: Result, task: Task[T], job: Job[R]) -> R:
    """Turn a helper's reply into the result for a file."""
    if result.failure or result.error:
        return job.give_up(task.data, task.language, result.failure or str(result.error))
    return job.unpack(result.value)


class _Crew:
    """Helpers that do one job; started with the first file, since there often is none."""

    def __init__(self, job: Job[Any], size: int) -> None:
        self._job = job
        self._size = size
        self._helpers: list[Helper] = []
        self._bytes_ahead: list[int] = []  # by helper, bytes sent and not answered yet
        self._n_waited = 0  # idle helpers before this crew borrowed some

    def send(self, task: Task[Any]) -> int:
        """Send a file and return the number of the helper that got it, -1 if it is known to fail."""
        if find_failure(task.data, task.language, self._job.scope):
            return -1
        if not self._helpers:
            self._n_waited = count_waiting()
            self._helpers = borrow_several(self._size)
            self._bytes_ahead = [0] * len(self._helpers)
        number = self._bytes_ahead.index(min(self._bytes_ahead))
        self._bytes_ahead[number] += len(task.data)
        self._hand_over(number, task)
        return number

    def _hand_over(self, number: int, task: Task[Any]) -> None:
        self._helpers[number].send(self._job.name, len(task.data), task.data, task.language, *task.arguments)

    def receive(self, number: int, task: Task[Any], waiting: Iterable[tuple[int, Task[Any]]]) -> Result:
        """Return the outcome for a file; a helper that died is replaced, and its other files are sent again.

        Args:
            waiting: the other files without a result, with the number of the helper that has each.
        """
        if number < 0:
            return Result(failure=find_failure(task.data, task.language, self._job.scope) or CRASHED)
        result = self._helpers[number].receive()
        self._bytes_ahead[number] -= len(task.data)
        if result.failure:
            remember(result, task.data, task.language, self._job.scope)
        if result.died:
            self._helpers[number].close()
            self._helpers[number] = Helper()
            for owner, other in waiting:
                if owner == number:
                    self._hand_over(number, other)
        return result

    def dismiss(self) -> None:
        """Give the helpers back. Two stay idle for the next build if this one used several or found two idle."""
        most = min(_MOST_KEPT, max(self._n_waited, len(self._helpers)))
        while self._helpers:
            give_back(self._helpers.pop(), most)

    def close(self) -> None:
        """End the helpers, whatever they do."""
        while self._helpers:
            self._helpers.pop().close()


def _as_text(data: bytes, language: str, reason: str) -> ParsedText:
    """Return a file that is cut between lines because it has no syntax tree."""
    try:
        result = _unpack(run_isolated(TEXT_JOB.name, data, "text"))
    except UnparsableError:
        result = ParsedText(ParsedFile("text", (), ()), NO_WORDS, [])
    return result._replace(parsed=result.parsed._replace(language=language, note=reason))


def _unpack(packed: tuple[Any, ...]) -> ParsedText:
    language, note, definitions, chunks, words, keys = packed
    parsed = ParsedFile(
        language,
        # As `Definition(*entry[:6], Span(*entry[6:]))`, in a third of the time.
        tuple([_new(Definition, (*entry[:6], _new(Span, entry[6:]))) for entry in definitions]),
        tuple(
            [
                _new(Chunk, (kind, owner, part, own, header, _new(Span, span), lines))
                for kind, owner, part, own, header, lines, *span in chunks
            ]
        ),
        note,
    )
    return ParsedText(parsed, Words(*words), keys)


TEXT_JOB = Job("cairn.index.parsing:pack_text", _unpack, _as_text)


def parse_safely(data: bytes, language: str) -> ParsedText:
    """Parse one file and take its chunks' words; see `cairn.index.parsing.parse_text`.

    A file that cannot be parsed is cut between lines, and its note says why.
    """
    try:
        return _unpack(run_isolated(TEXT_JOB.name, data, language))
    except UnparsableError as error:
        return _as_text(data, language, str(error))
