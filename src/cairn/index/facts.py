"""Finds and encodes the facts of one file for the symbol graph; helpers run this."""

from __future__ import annotations

from cairn.index.beside import Job
from cairn.source.facts import NO_FACTS, encode
from cairn.source.languages import BY_NAME
from cairn.source.references import read_facts
from cairn.types import Definition


def pack_facts(data: bytes, language: str) -> bytes:
    """Return what one file refers to, encoded."""
    return encode(read_facts(data, BY_NAME[language])[1])


def definitions_and_facts(data: bytes, language: str) -> tuple[tuple[Definition, ...], bytes]:
    """Return what one file defines, and what it refers to, encoded."""
    definitions, facts = read_facts(data, BY_NAME[language])
    return definitions, encode(facts)


def _as_is(data: bytes) -> bytes:
    return data


def _no_facts(data: bytes, language: str, reason: str) -> bytes:
    return encode(NO_FACTS)


FACTS_JOB = Job("cairn.index.facts:pack_facts", _as_is, _no_facts)
