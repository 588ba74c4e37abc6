"""The piece of code that others are compared with: the code at a line of a file now, or a text without a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cairn.embedding.static import StaticModel
from cairn.errors import NotFoundError, QueryError, UnparsableError
from cairn.hints import Hint
from cairn.index.analysis import Analyzer
from cairn.index.beside import parse_safely
from cairn.index.isolation import run_isolated
from cairn.index.parsing import own_texts, row_of
from cairn.index.snapshot import Snapshot
from cairn.index.words import ParsedText, Words
from cairn.protocol.requests import SimilarRequest
from cairn.search.query import MINOR_KINDS
from cairn.search.score import Floats
from cairn.source.clones import Tokenizer, Tokens
from cairn.source.definitions import parse
from cairn.source.languages import BY_NAME, TEXT, Language
from cairn.structure.locate import code_lines, read_source
from cairn.types import Chunk, Definition, ParsedFile, Span

_HINT = Hint.of("similar", place=None)


@dataclass(frozen=True, slots=True)
class Sample:
    """A piece of code to find others like.

    `vector` has shape (dimensions,) and unit length; None when the model knows none of the words. `first_line` and
    `last_line` are its place in `path`, with the comment above; `path` is empty for code without a place.
    """

    label: str
    path: str
    first_line: int
    last_line: int
    language: Language
    kind: str
    n_lines: int
    tokens: Tokens
    vector: Floats | None
    file: ParsedText | None = None
    notes: tuple[str, ...] = ()


def take_sample(root: Path, request: SimilarRequest, snapshot: Snapshot, model: StaticModel, max_bytes: int) -> Sample:
    """Return the code at the request's place, or its text, in the first of its languages or a guessed one.

    Raises:
        QueryError: if both or neither are given, or the text cannot be used.
        NotFoundError, PathError: if there is nothing to read at the place.
    """
    if request.file is not None and request.code is None:
        return sample_at(root, request.file, request.line, model)
    if request.code is None or request.file is not None:
        raise QueryError("similar needs either a place or code", _HINT)
    return sample_of(request.code, request.languages[0] if request.languages else None, snapshot, model, max_bytes)


def sample_at(root: Path, path: str | Path, line: int, model: StaticModel) -> Sample:
    """Return the innermost definition at a line of a file as it is now, or the chunk there when there is none.

    Raises:
        NotFoundError: if there is no such file or line, or nothing is there.
        PathError: if the file is outside the root, not a regular file, not readable, too large, or not text.
    """
    source = read_source(root, path)
    n_lines = source.data.count(b"\n") + (not source.data.endswith(b"\n"))
    if not 0 < line <= n_lines:
        raise NotFoundError(f"{source.path} has no line {line}: it has {n_lines:,}", _HINT)
    file = parse_safely(source.data, source.language.name)
    chunks = list(own_texts(file.parsed, source.data))
    if not chunks:
        raise NotFoundError(f"{source.path} is empty", _HINT)
    chunk, own = next((chunk, own) for chunk, own in chunks if chunk.lines[0][0] <= line <= chunk.lines[0][1])
    number = _innermost(file.parsed, chunk, line)
    if number is not None:
        definition = file.parsed.definitions[number]
        first = min(line, definition.span.start_line)
        own = source.data[definition.span.start_byte : definition.span.end_byte]
        chunk = chunk._replace(kind=definition.kind, owner=number, definitions=(number, number + 1))
        span = definition.span
    else:
        first, span = chunk.span.start_line, chunk.span
    text = code_lines(source.data, span.start_line, span.end_line)
    return Sample(
        label=f"{source.path}:{line}",
        path=source.path,
        first_line=first,
        last_line=span.end_line,
        language=source.language,
        kind=chunk.kind,
        n_lines=span.end_line - span.start_line + 1,
        tokens=Tokenizer(source.language)(text),
        vector=_vector(model, file.parsed, chunk, own),
        file=file,
    )


def sample_of(text: str, name: str | None, snapshot: Snapshot, model: StaticModel, max_bytes: int) -> Sample:
    """Return a piece of code without a place: its only definition, else all of it.

    Args:
        text: the code.
        name: its language; None to guess it from those that are indexed.
        snapshot: what is indexed.
        model: embeds it.
        max_bytes: longer code is refused.

    Raises:
        QueryError: if it is empty, longer than `max_bytes`, or not text.
    """
    data = text.encode("utf-8", "surrogateescape")
    if not data.strip():
        raise QueryError("there is no code to compare with", Hint("name a place with code", "similar", place=None))
    if len(data) > max_bytes:
        raise QueryError(
            f"the code has more than {max_bytes:,} bytes", Hint("pass the part that matters", "similar", place=None)
        )
    if "\0" in text:
        raise QueryError("the code is not text", Hint("name a place with code", "similar", place=None))
    language = BY_NAME[name] if name is not None else _guess_language(data, snapshot)
    parsed = parse_safely(data, language.name).parsed
    outer = [number for number, definition in enumerate(parsed.definitions) if definition.parent < 0]
    n_lines = data.rstrip().count(b"\n") + 1
    chunk = Chunk("text", -1, 0, (0, len(parsed.definitions)), "", Span(1, n_lines, 0, len(data)), ((1, n_lines),))
    if len(outer) == 1 and parsed.definitions[outer[0]].kind not in MINOR_KINDS:
        definition = parsed.definitions[outer[0]]
        chunk = chunk._replace(kind=definition.kind, owner=outer[0], span=definition.span)
    return Sample(
        label="-",
        path="",
        first_line=0,
        last_line=0,
        language=language,
        kind=chunk.kind,
        n_lines=chunk.span.end_line - chunk.span.start_line + 1,
        tokens=Tokenizer(language)(code_lines(data, chunk.span.start_line, chunk.span.end_line)),
        vector=_vector(model, parsed, chunk, data),
        notes=() if name is not None else (_guessed_note(language),),
    )


def _guessed_note(language: Language) -> Hint:
    return Hint(f"Taken for {language.name}; name another language", "similar", place=None, languages=None)


def _guess_language(data: bytes, snapshot: Snapshot) -> Language:
    """Return the commonest indexed language whose grammar parses a text without an error, else the commonest."""
    counts = np.bincount(snapshot.files.languages, minlength=len(snapshot.files.language_names))
    names = [snapshot.files.language_names[number] for number in np.argsort(-counts, kind="stable")]
    known = [BY_NAME[name] for name in names if BY_NAME[name].group == "code" and BY_NAME[name].support.grammar]
    candidates = [one for one in known if one.support.code_of is None]  # these see nothing in a part of a script
    try:
        parsing = run_isolated("cairn.search.sample:first_that_parses", data, "", tuple(row.name for row in candidates))
    except UnparsableError:
        parsing = ""
    return BY_NAME[parsing] if parsing else candidates[0] if candidates else TEXT


def first_that_parses(data: bytes, language: str, names: Sequence[str]) -> str:
    """Return the first of some languages whose grammar parses a text without an error, empty if none does."""
    return next((name for name in names if not parse(data, BY_NAME[name]).root_node.has_error), "")


def chunk_vectors(model: StaticModel, file: ParsedText) -> Floats:
    """Return the unit vectors of a parsed file's chunks as the index would hold them, shape (n_chunks, dimensions)."""
    _, vectors = Analyzer(model.word_vectors, model.dimensions).analyze([file.words])
    return vectors.astype(np.float32) / np.float32(127)


def _innermost(parsed: ParsedFile, chunk: Chunk, line: int) -> int | None:
    """Return the innermost definition around a line, else the next one in its chunk, above which the line then is."""

    def counts(definition: Definition) -> bool:
        return definition.kind not in MINOR_KINDS

    around = [
        number
        for number, definition in enumerate(parsed.definitions)
        if counts(definition) and definition.span.start_line <= line <= definition.span.end_line
    ]
    if around:
        return around[-1]
    following = [
        number
        for number in range(*chunk.definitions)
        if counts(parsed.definitions[number]) and parsed.definitions[number].span.start_line > line
    ]
    return following[0] if following else None


def _vector(model: StaticModel, parsed: ParsedFile, chunk: Chunk, own: bytes) -> Floats | None:
    words = Words.of([row_of(chunk, parsed, own)])
    _, vectors = Analyzer(model.word_vectors, model.dimensions).analyze([words])
    vector: Floats = vectors[0].astype(np.float32)
    norm = float(np.linalg.norm(vector))
    return vector / np.float32(norm) if norm > 0 else None
