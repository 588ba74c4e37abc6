"""Finds the line that a frame means in a file that has changed since: by the source that it shows, or its function."""

from __future__ import annotations

import re
from typing import NamedTuple

from cairn.graph.rules import FUNCTION_KINDS, TYPE_KINDS
from cairn.search.exact import LineMatch
from cairn.search.library import Library, line_in, read_files
from cairn.source.frames import TracebackFrame
from cairn.source.text import places_of_word
from cairn.storage.index import chunk_db
from cairn.types import Definition

# How sure a line is: one of several like the one that is shown, the function's first one, and one whose function the
# file does not know. From that of a function on the file is meant in any case.
_ALIKE, OF_FUNCTION, _UNKNOWN = 0.9, 0.7, 0.6
_CALLED = FUNCTION_KINDS | TYPE_KINDS  # rather than a field
_LEAST_WORDS = 2  # of a line of source that tells by itself where it is
_WORD = re.compile(r"\w+")
_ACCESSOR = re.compile(r"(?:get|set|add|remove)_(?=\w)")  # of a property or an event in .NET


class FrameLine(NamedTuple):
    """The line that a frame means, None if there is none, and how sure that is."""

    line: LineMatch | None
    share: float


def line_of_frame(library: Library, file: int, frame: TracebackFrame) -> FrameLine:
    """Return the line of a file that a frame means.

    A trace may come from another version than what is here. The nearest line that is like the one it shows is meant,
    else the nearest function that is called as it says, unless the line is in it.
    """
    data = read_files(library, [file])[file].data
    named = line_in(file, data, frame.line)
    if not (frame.code or frame.function) or (named is not None and _is_shown(named, frame)):
        return FrameLine(named, 1.0)
    functions = _functions_called(library, file, frame.function)
    around = [one for one in functions if one.span.start_line <= frame.line <= one.span.end_line]
    if (alike := _nearest_alike(data, frame, around or functions)) is not None:
        return FrameLine(line_in(file, data, alike[0]), alike[1])
    if around or not frame.function:
        return FrameLine(named, 1.0)
    if functions:
        nearest = min(functions, key=lambda one: (one.kind not in _CALLED, abs(one.span.start_line - frame.line)))
        return FrameLine(line_in(file, data, nearest.span.start_line), OF_FUNCTION)
    is_said = any(True for _ in places_of_word(data, _ACCESSOR.sub("", frame.function).encode()))
    return FrameLine(named, 1.0 if is_said else _UNKNOWN)


def line_of_function(library: Library, file: int, name: str) -> FrameLine:
    """Return the first line of the first function of a file that has a name, if one has."""
    functions = [one for one in _functions_called(library, file, name) if one.kind in _CALLED]
    if not functions:
        return FrameLine(None, 0.0)
    data = read_files(library, [file])[file].data
    return FrameLine(line_in(file, data, min(one.span.start_line for one in functions)), OF_FUNCTION)


def _is_shown(line: LineMatch, frame: TracebackFrame) -> bool:
    return bool(frame.code) and line.text.decode("utf-8", "replace").strip() == frame.code


def _nearest_alike(data: bytes, frame: TracebackFrame, functions: list[Definition]) -> tuple[int, float] | None:
    """Return the number of the nearest line that is like the one that a frame shows, and how sure that is.

    One in a function that is called as the frame says comes first. A line of few words, such as `pass`, counts only
    there.
    """
    code = frame.code.encode("utf-8", "surrogatepass")
    if not code or code not in data:
        return None
    alike = [number for number, line in enumerate(data.split(b"\n"), start=1) if line.strip() == code]
    inside = [
        number
        for number in alike
        if any(function.span.start_line <= number <= function.span.end_line for function in functions)
    ]
    if not inside and len(_WORD.findall(frame.code)) < _LEAST_WORDS:
        return None
    found = inside or alike
    if not found:
        return None
    return min(found, key=lambda number: abs(number - frame.line)), 1.0 if len(found) == 1 else _ALIKE


def _functions_called(library: Library, file: int, name: str) -> list[Definition]:
    """Return the definitions of a file that have a name."""
    if not name:
        return []
    blob = int(library.snapshot.files.blob_ids[file])
    return chunk_db.definitions_of_blob_called(library.connection, blob, {name, _ACCESSOR.sub("", name)})
