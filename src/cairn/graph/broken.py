"""Finds calls that the parser did not see, since they stand in the midst of code that is half typed."""

from __future__ import annotations

from collections.abc import Collection

from cairn.errors import UnparsableError
from cairn.graph.sightings import code_like_calls
from cairn.graph.source_file import SourceFile
from cairn.index.isolation import run_isolated


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
