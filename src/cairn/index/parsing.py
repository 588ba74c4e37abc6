"""Parses files into definitions, chunks and words; helpers run this (see `cairn.index.helper`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cairn.digest import blake2b
from cairn.index.words import MAX_BODY_BYTES, ParsedText, Row, Words
from cairn.source.chunking import chunk_file
from cairn.source.definitions import Lines
from cairn.source.languages import BY_NAME
from cairn.types import Chunk, ParsedFile, Span

CHUNK_KEY_BYTES = 5


def parse_text(data: bytes, language: str) -> ParsedText:
    """Parse one file and count the words of its chunks."""
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
    """Yield the chunks of a parsed file, each with the text of its own lines."""
    bounds = Lines.of(data).bounds
    for chunk in parsed.chunks:
        ((first, last),) = chunk.lines
        yield chunk, data[bounds[first - 1] : bounds[min(last, len(bounds) - 1)]]


def row_of(chunk: Chunk, parsed: ParsedFile, own: bytes) -> Row:
    """Return the name, signature, doc and body that a chunk is searched by; `own` is as from `own_texts`."""
    definitions = parsed.definitions[slice(*chunk.definitions)]
    names = [definition.name for definition in definitions]
    if chunk.owner >= 0:
        owner = parsed.definitions[chunk.owner].qualified_name
        opens = chunk.definitions[0] <= chunk.owner < chunk.definitions[1]
        names.append(owner.rpartition(".")[0] if opens else owner)
    signatures = [definition.signature for definition in definitions]
    docs = [definition.doc for definition in definitions]
    body = own[:MAX_BODY_BYTES].decode("utf-8", "replace")
    return "\n".join(names), "\n".join([chunk.header, *signatures]), "\n".join(docs), body


def _key(chunk: Chunk, parsed: ParsedFile, own: bytes) -> int:
    owner = parsed.definitions[chunk.owner].qualified_name if chunk.owner >= 0 else ""
    return _hash_key(f"{parsed.language}\0{chunk.kind}\0{owner}\0".encode("utf-8", "replace") + own)


def _hash_key(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=CHUNK_KEY_BYTES).digest(), "big")


def _pack(result: ParsedText) -> tuple[Any, ...]:
    """Return plain tuples, which pickle much faster than frozen dataclasses."""
    parsed = result.parsed
    definitions = [
        (entry.kind, entry.name, entry.qualified_name, entry.signature, entry.doc, entry.parent, *_plain(entry.span))
        for entry in parsed.definitions
    ]
    chunks = [
        (chunk.kind, chunk.owner, chunk.part, chunk.definitions, chunk.header, chunk.lines, *_plain(chunk.span))
        for chunk in parsed.chunks
    ]
    return parsed.language, parsed.note, definitions, chunks, tuple(result.words), result.keys


def _plain(span: Span) -> tuple[int, int, int, int]:
    return span.start_line, span.end_line, span.start_byte, span.end_byte


def pack_text(data: bytes, language: str) -> tuple[Any, ...]:
    """Parse one file into tuples that pickle quickly; `cairn.index.beside` unpacks them."""
    return _pack(parse_text(data, language))
