"""Parses files, in this process or in some beside it: on every core, and where a crashing grammar does no harm."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import IO, Any, Generic, NamedTuple, TypeVar

from cairn.index.limits import Limits
from cairn.index.words import Row, Words
from cairn.source.chunking import chunk_file
from cairn.source.languages import BY_NAME, TEXT
from cairn.source.references import NO_FACTS, encode, read_facts
from cairn.types import Chunk, Definition, ParsedFile, Span

CHUNK_KEY_BYTES = 5
MAX_BODY_BYTES = 20_000  # of a chunk's text; only a single line can be longer
_IN_FLIGHT = 1_024  # files handed to other processes and not yet back

T = TypeVar("T")
R = TypeVar("R")


class ParsedText(NamedTuple):
    """A parsed file, ready to be analysed: the words and stable key of each chunk."""

    parsed: ParsedFile
    words: Words
    keys: list[int]


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """A file to parse: its normalised content, its language's name, and what the caller wants back with the result."""

    data: bytes
    language: str
    tag: T


def parse_text(data: bytes, language: str) -> ParsedText:
    """Parse one file and take its chunks' words."""
    parsed = chunk_file(data, BY_NAME[language])
    rows: list[Row] = []
    keys: list[int] = []
    occurrences: dict[int, int] = {}
    for chunk, own in own_texts(parsed, data):
        rows.append(row_of(chunk, parsed, own))
        key = _key(chunk, parsed, own)
        occurrences[key] = occurrences.get(key, -1) + 1
        if occurrences[key]:
            key = _hash_key(key.to_bytes(8, "little") + occurrences[key].to_bytes(4, "little"))
        keys.append(key)
    return ParsedText(parsed, Words.of(rows), keys)


def own_texts(parsed: ParsedFile, data: bytes) -> Iterator[tuple[Chunk, bytes]]:
    """Yield the chunks of a parsed file with the lines that belong to each alone."""
    line_starts = [0]
    position = data.find(b"\n")
    while position >= 0:
        line_starts.append(position + 1)
        position = data.find(b"\n", position + 1)
    line_starts.append(len(data))
    for chunk in parsed.chunks:
        ((first, last),) = chunk.lines
        yield chunk, data[line_starts[first - 1] : line_starts[min(last, len(line_starts) - 1)]]


def row_of(chunk: Chunk, parsed: ParsedFile, own: bytes) -> Row:
    """Return the name, signature, doc and body under which a chunk is found; `own` is as from `own_texts`."""
    definitions = parsed.definitions[slice(*chunk.definitions)]
    names = [one.name for one in definitions]
    if chunk.owner >= 0:
        owner = parsed.definitions[chunk.owner].qualified_name
        opens = chunk.definitions[0] <= chunk.owner < chunk.definitions[1]
        names.append(owner.rpartition(".")[0] if opens else owner)
    signatures = [one.signature for one in definitions]
    docs = [one.doc for one in definitions]
    body = own[:MAX_BODY_BYTES].decode("utf-8", "replace")
    return "\n".join(names), "\n".join([chunk.header, *signatures]), "\n".join(docs), body


def _key(chunk: Chunk, parsed: ParsedFile, own: bytes) -> int:
    owner = parsed.definitions[chunk.owner].qualified_name if chunk.owner >= 0 else ""
    return _hash_key(f"{parsed.language}\0{chunk.kind}\0{owner}\0".encode("utf-8", "replace") + own)


def _hash_key(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=CHUNK_KEY_BYTES).digest(), "big")


class Job(NamedTuple, Generic[R]):
    """What is done with each file in another process.

    `pack` makes a result of what pickle is fast with, `unpack` undoes that. `give_up` is the result for a file whose
    grammar crashed.
    """

    name: str
    run: Callable[[bytes, str], R]
    pack: Callable[[R], Any]
    unpack: Callable[[Any], R]
    give_up: Callable[[bytes, str], R]


def parse_here(tasks: Iterable[Task[T]]) -> Iterator[tuple[T, ParsedText]]:
    """Parse files one after the other in this process."""
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
    result = parse_text(data, TEXT.name)
    parsed = result.parsed._replace(language=language, note="the grammar crashed on this file")
    return result._replace(parsed=parsed)


def _pack(result: ParsedText) -> tuple[Any, ...]:
    """Return plain tuples, which pickle far faster than frozen dataclasses."""
    parsed = result.parsed
    definitions = [
        (one.kind, one.name, one.qualified_name, one.signature, one.doc, one.parent, *_plain(one.span))
        for one in parsed.definitions
    ]
    chunks = [
        (one.kind, one.owner, one.part, one.definitions, one.header, one.lines, *_plain(one.span))
        for one in parsed.chunks
    ]
    return parsed.language, parsed.note, definitions, chunks, _plain_words(result.words), result.keys


def _plain_words(words: Words) -> tuple[list[str], array[int], array[int]]:
    return words.words, words.ids, words.lengths


def _plain(span: Span) -> tuple[int, int, int, int]:
    return span.start_line, span.end_line, span.start_byte, span.end_byte


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


TEXT_JOB = Job("text", parse_text, _pack, _unpack, _without_grammar)
FACTS_JOB = Job(
    "facts",
    lambda data, language: encode(read_facts(data, BY_NAME[language])[1]),
    _unchanged,
    _unchanged,
    lambda data, language: encode(NO_FACTS),
)
_JOBS: dict[str, Job[Any]] = {job.name: job for job in (TEXT_JOB, FACTS_JOB)}


class _Helper(Generic[R]):
    """Another process, with a thread for each direction, so that neither side ever waits for the other to read."""

    def __init__(self, job: Job[R]) -> None:
        self._unpack = job.unpack
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cairn.index.parsing", job.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
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


def serve(job: Job[Any], tasks: IO[bytes], results: IO[bytes]) -> None:
    """Do a job with what comes in until the other side closes; this is all another process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that a person started
    while True:
        try:
            data, language = pickle.load(tasks)
        except EOFError:
            return
        pickle.dump(job.pack(job.run(data, language)), results, protocol=pickle.HIGHEST_PROTOCOL)
        results.flush()


if __name__ == "__main__":
    serve(_JOBS[sys.argv[1]], sys.stdin.buffer, sys.stdout.buffer)
