"""Parses files in this process or in some beside it: on every core, and where a crashing grammar does no harm.

What parses is imported where it is needed, which often is another process.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from cairn.index.words import ParsedText, Words
from cairn.types import Chunk, Definition, ParsedFile, Span

if TYPE_CHECKING:
    import queue

    from cairn.index.limits import Limits

_IN_FLIGHT = 1_024  # files handed to other processes and not yet back

T = TypeVar("T")
R = TypeVar("R")


class Task(NamedTuple, Generic[T]):
    """A file to parse: its normalised content, its language's name, and what the caller wants back with the result."""

    data: bytes
    language: str
    tag: T


class Job(NamedTuple, Generic[R]):
    """What is done with each file in another process; `name` says what, there (`cairn.index.parsing.JOBS`).

    `unpack` makes a result of what comes back. `give_up` is the result for a file whose grammar crashed.
    """

    name: str
    unpack: Callable[[Any], R]
    give_up: Callable[[bytes, str], R]


def parse_here(tasks: Iterable[Task[T]]) -> Iterator[tuple[T, ParsedText]]:
    """Parse files one after the other in this process."""
    from cairn.index.parsing import parse_text  # noqa: PLC0415 - start-up time: other processes may do it

    for task in tasks:
        yield task.tag, parse_text(task.data, task.language)


def parse_beside(tasks: Iterable[Task[T]], job: Job[R], limits: Limits) -> Iterator[tuple[T, R]]:
    """Parse files in processes of their own, in order, while the caller works on those that are done.

    A grammar that brings its process down costs one file its definitions: it is cut on line borders instead.

    Args:
        tasks: the files.
        job: what is done with each.
        limits: how many processes, of which there is one at least, and how much source may be with them at once.
    """
    waiting: deque[tuple[int, Task[T]]] = deque()  # with the number of the helper that has it
    waiting_bytes = 0
    numbered = enumerate(tasks)
    helpers: list[_Helper[R]] = []  # started with the first file: often there turns out to be none
    try:
        exhausted = False
        while waiting or not exhausted:
            while not exhausted and len(waiting) < _IN_FLIGHT and waiting_bytes < limits.in_flight_bytes:
                if (following := next(numbered, None)) is None:
                    exhausted = True
                    break
                if not helpers:
                    helpers = [_Helper(job) for _ in range(max(1, limits.helpers))]
                number, task = following[0] % len(helpers), following[1]
                waiting.append((number, task))
                waiting_bytes += len(task.data)
                helpers[number].send(task.data, task.language)
            if not waiting:
                break
            number, task = waiting.popleft()
            waiting_bytes -= len(task.data)
            if (result := helpers[number].receive()) is None:
                result = job.give_up(task.data, task.language)
                helpers[number].close()
                helpers[number] = _Helper(job)
                for owner, again in waiting:
                    if owner == number:
                        helpers[number].send(again.data, again.language)
            yield task.tag, result
    finally:
        for helper in helpers:
            helper.close()


def _without_grammar(data: bytes, language: str) -> ParsedText:
    from cairn.index.parsing import parse_text  # noqa: PLC0415 - start-up time: few grammars crash
    from cairn.source.languages import TEXT  # noqa: PLC0415 - as above

    result = parse_text(data, TEXT.name)
    parsed = result.parsed._replace(language=language, note="the grammar crashed on this file")
    return result._replace(parsed=parsed)


def _unpack(packed: tuple[Any, ...]) -> ParsedText:
    language, note, definitions, chunks, words, keys = packed
    parsed = ParsedFile(
        language,
        tuple(
            Definition(kind, name, qualified_name, signature, doc, parent, Span(*span))
            for kind, name, qualified_name, signature, doc, parent, *span in definitions
        ),
        tuple(
            Chunk(kind, owner, part, own, header, Span(*span), lines)
            for kind, owner, part, own, header, lines, *span in chunks
        ),
        note,
    )
    return ParsedText(parsed, Words(*words), keys)


def _unchanged(data: bytes) -> bytes:
    return data


def _no_facts(data: bytes, language: str) -> bytes:
    from cairn.source.references import NO_FACTS, encode  # noqa: PLC0415 - start-up time: few grammars crash

    return encode(NO_FACTS)


TEXT_JOB = Job("text", _unpack, _without_grammar)
FACTS_JOB = Job("facts", _unchanged, _no_facts)


class _Helper(Generic[R]):
    """Another process, with a thread for each direction, so that neither side ever waits for the other to read."""

    def __init__(self, job: Job[R]) -> None:
        import queue  # noqa: PLC0415 - start-up time: few runs need such a process

        self._unpack = job.unpack
        self._process = subprocess.Popen(
            # -P: without it Python would look for `cairn` in the current folder first, which may be the repository.
            [sys.executable, "-P", "-m", "cairn.index.parsing", job.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path))},
        )
        self._tasks: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[R | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._feed, self._collect)]
        for thread in self._threads:
            thread.start()

    def send(self, data: bytes, language: str) -> None:
        """Hand over a file; a process that died is noticed when its result is asked for."""
        self._tasks.put(pickle.dumps((data, language), protocol=pickle.HIGHEST_PROTOCOL))

    def receive(self) -> R | None:
        """Return the next result, None when the process died over it."""
        return self._results.get()

    def _feed(self) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin as stream:  # receive() tells of a process that died
            while (task := self._tasks.get()) is not None:
                stream.write(task)
                stream.flush()

    def _collect(self) -> None:
        assert self._process.stdout is not None
        with suppress(EOFError, pickle.UnpicklingError), self._process.stdout as stream:
            while True:
                self._results.put(self._unpack(pickle.load(stream)))
        self._results.put(None)

    def close(self) -> None:
        """End the process."""
        self._tasks.put(None)
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
