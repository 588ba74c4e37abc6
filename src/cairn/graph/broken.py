"""Finds what the parser did not see, since it stands in the midst of code that is half typed: calls and names."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

from cairn.errors import UnparsableError
from cairn.graph.code import Code
from cairn.graph.sightings import code_like_calls, lines_with
from cairn.graph.source_file import SourceFile
from cairn.index.isolation import run_isolated
from cairn.source.languages import BY_NAME

_MAX_READ, _MAX_PARSED = 40, 5  # files that may say a name, and that do


class HalfTyped(NamedTuple):
    """A line that says a name, and the first line of its file that is not understood."""

    path: str
    line: int
    error_line: int


def lines_of_broken_calls(
    source: SourceFile, data: bytes, names: frozenset[str], code_lines: Collection[int]
) -> set[int]:
    """Return the lines of a file that call one of some names in code that is not understood.

    The file is parsed again if it seems to call one on another line than those on which the parser found code.
    """
    lines = dict(code_like_calls(data, names, source.language, code_lines))
    if not lines:
        return set()
    job = "cairn.source.broken:starts_in_errors"
    try:
        starts: tuple[int, ...] = run_isolated(job, data, source.language, tuple(lines))
    except UnparsableError:
        return set()
    return {lines[start] for start in starts}


def name_in_half_typed(code: Code, name: str) -> HalfTyped | None:
    """Return a line that says a name where a file is not understood any more; few files are looked at."""
    for number in islice(_files_saying(code, name), _MAX_PARSED):
        data = code.checkout.read(number) or b""
        error_line = error_line_in(data, code.file(number).language)
        behind = [line for line in lines_with(data, frozenset({name})) if line >= error_line]
        if error_line and behind:
            return HalfTyped(code.paths[number], min(behind), error_line)
    return None


def error_line_in(data: bytes, language: str, start: int = 1) -> int:
    """Return the first line of a file from `start` on that is not understood, 0 if all are, or if that is unknown."""
    if not data or not BY_NAME[language].support.grammar:
        return 0
    try:
        line: int = run_isolated("cairn.source.broken:find_error_line", data, language, start)
    except UnparsableError:
        return 0
    return line


def _files_saying(code: Code, name: str) -> Iterator[int]:
    """Yield files of code that say a name, those that have changed before all others."""
    changed = code.checkout.files
    likely = sorted(code.mentions.may_mention(name), key=lambda number: (number not in changed, number))
    for number in likely[:_MAX_READ]:
        language = BY_NAME[code.file(number).language]
        if language.group == "code" and language.support.grammar and code.mentions.says(number, name):
            yield number
