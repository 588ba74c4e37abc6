"""Tells which definitions of a file are tests, or belong to tests, by the attributes that test frameworks read."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from cairn.graph.resolve import DECORATE
from cairn.graph.rules import NAMESPACE_KINDS, TYPE_KINDS
from cairn.graph.source_file import SourceFile
from cairn.source.expressions import called_name


class MarksOfTests(NamedTuple):
    """How a language marks its tests.

    Attributes:
        words: each file with a mark says one of these.
        names: the names of attributes that mark a test.
        in_text: a mark as it stands in the text.
    """

    words: tuple[str, ...]
    names: re.Pattern[str]
    in_text: re.Pattern[bytes]


def _marks(words: str, names: str, before: str) -> MarksOfTests:
    return MarksOfTests(tuple(words.split()), re.compile(names), re.compile(rf"(?m){before}(?:{names})\b".encode()))


_JUNIT = _marks("test", r"\w*Test|Test(?:Factory|Template)", r"@(?:\w+\.)*")
_BY_LANGUAGE = {
    "csharp": _marks(
        "fact theory test",
        r"\w*(?:Fact|Theory|Test|TestMethod|TestCase(?:Source)?)",
        r"^[ \t]*\[(?:[^\]\n]*,)?\s*(?:\w+\.)*",
    ),
    "groovy": _JUNIT,
    "java": _JUNIT,
    "kotlin": _JUNIT,
    "php": _marks("test", "Test", r"#\[\s*\\?(?:\w+\\)*"),
    "rust": _marks("test rstest", r"(?:\w+_)?test(?:_\w+)?|rstest", r"^[ \t]*#\[\s*(?:\w+\s*::\s*)*"),
    "scala": _JUNIT,
    "swift": _marks("test", "Test", "@"),
    "zig": _marks("test", "test", "^"),
}


def marks_of(language: str) -> MarksOfTests | None:
    """Return how a language marks its tests, None where it does not, or not with attributes."""
    return _BY_LANGUAGE.get(language)


def find_marked(source: SourceFile) -> AbstractSet[int]:
    """Return the definitions of a file that are marked as tests, with the types and modules of these and all in them.

    What is around a test of Rust is a module for tests if it is there under a condition (`#[cfg(test)]`).
    """
    decorations = _decorations(source)
    if (marks := marks_of(source.language)) is None:
        return frozenset()
    tests = {place for place, names in decorations.items() if any(map(marks.names.fullmatch, names))}
    tests |= {place for place, definition in enumerate(source.definitions) if definition.kind == "test"}
    for parent in {source.definitions[place].parent for place in tests} - {-1}:
        kind = source.definitions[parent].kind
        if kind in TYPE_KINDS or (kind in NAMESPACE_KINDS and "cfg" in decorations.get(parent, ())):
            tests.add(parent)
    for place, definition in enumerate(source.definitions):
        if definition.parent in tests:
            tests.add(place)
    return tests


def _decorations(source: SourceFile) -> dict[int, set[str]]:
    """Return the names of the attributes of each definition that has any."""
    found: dict[int, set[str]] = {}
    facts = source.facts
    for kind, scope, expression in zip(facts.kinds, facts.scopes, facts.expressions, strict=True):
        if kind == DECORATE and scope >= 0:
            found.setdefault(scope, set()).add(called_name(facts.texts[expression]))
    return found
