"""Reads places, `PATH:LINE`, and the frames of tracebacks in texts, whatever language wrote them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from cairn.source.text import without_colours

MAX_CHARS = 40_000  # of a text; a trace may be longer, and its beginning and end matter
_MAX_PLACES = 50
_MAX_DIGITS = 7
# A path begins where what may be part of one begins: a pattern that tries each letter takes minutes for 40 kB of them.
_PATH = r"(?<![^\s\"'`()<>\[\],:;|])(?:(?<![A-Za-z])[A-Za-z]:[\\/])?[^\s\"'`()<>\[\],:;|]+\.[A-Za-z]\w{0,9}"
_LINE = rf"([1-9]\d{{0,{_MAX_DIGITS - 1}}})"
# One pattern, so that the places come in the order of the text. Each alternative captures a path and a line; that of
# Java and Kotlin also the qualified name of the method before it.
_FRAME = re.compile(
    rf"[Ff]ile \"([^\"\n]+)\", line {_LINE}"  # Python, OCaml
    rf"|(?<![\w$.])([\w$.]+)\.[\w$<>]+\(([\w$]+\.(?:java|kt|kts|scala|groovy|clj)):{_LINE}\)"
    rf"|({_PATH})(?:(?:\(|:\[){_LINE}(?:,\d+)?[)\]]|#L{_LINE}\b)"  # PHP, TypeScript, MSBuild; Maven; links
    rf"|({_PATH})`?(?: on line |, line |:line |: line | line ){_LINE}"  # PHP, Swift, C#, shells, Perl, people
    rf"|({_PATH}):{_LINE}(?![\d.])"
)
_LINE_BEHIND = re.compile(r"(?:[:(\[]|line |#L)[1-9]")  # every frame has this, and most lines do not
_SOURCE_ROOTS = ("", "src/", "lib/", "app/", "src/main/java/", "src/main/kotlin/")
_LAST_IS_DEEPEST = re.compile(r"most recent call last|^ *File \"|^\S+\.py:\d+: (?:in \w|$)", re.MULTILINE)
_CAUSE = re.compile(r"^\s*Caused by: ", re.MULTILINE)  # of Java; the last one is the root


class TracebackFrame(NamedTuple):
    """A place that a text names: a path as it stands there, with `/` between its parts, and a line from 1."""

    path: str
    line: int


def read_frames(text: str) -> list[TracebackFrame]:
    """Return the places that a text names, each once, the deepest call of a traceback first."""
    text = without_colours(_shorten(text))
    causes = _CAUSE.split(text)
    frames = list(dict.fromkeys(frame for cause in reversed(causes) for frame in _frames_of(cause)))
    if len(causes) == 1 and _LAST_IS_DEEPEST.search(text):
        frames.reverse()
    return frames[:_MAX_PLACES]


def _frames_of(text: str) -> Iterator[TracebackFrame]:
    lines = "\n".join(filter(_LINE_BEHIND.search, text.split("\n")))
    return map(_frame, _FRAME.finditer(lines))


def is_place(text: str) -> bool:
    """Tell whether a text is a place, `PATH:LINE`, and nothing else."""
    return bool(_FRAME.fullmatch(text.strip()))


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS // 2]}\n{text[-MAX_CHARS // 2 :]}"


def _frame(match: re.Match[str]) -> TracebackFrame:
    *parts, line = [group for group in match.groups() if group is not None]
    if len(parts) == 2:  # the package says in which folder the file is
        package = [part for part in parts[0].split(".")[:-1] if part]
        return TracebackFrame("/".join([*package, parts[1]]), int(line))
    return TracebackFrame(parts[0].replace("\\", "/"), int(line))


def file_of_frame(path: str, exists: Callable[[str], bool]) -> str | None:
    """Return the path of a project's file that a frame means, None if there is none.

    A frame may come from another machine or from an installed package, so the longest end of its path that exists in
    the project is meant, also below a usual folder of sources.
    """
    for end in _ends_of(path):
        roots = _SOURCE_ROOTS if "/" in end else _SOURCE_ROOTS[:1]
        if (found := next((root + end for root in roots if exists(root + end)), None)) is not None:
            return found
    return None


def file_among(path: str, files: Collection[str]) -> str | None:
    """Return the one of a project's files that a frame means, wherever in the project it is; None if that is unclear.

    One part alone, such as `utils.py`, names a file in some folder only if the frame says no more.
    """
    ends = _ends_of(path)
    for end in ends:
        if end in files:
            return end
        if "/" in end or len(ends) == 1:
            longer = [file for file in files if file.endswith(f"/{end}")]
            if longer:
                return longer[0] if len(longer) == 1 else None
    return None


def _ends_of(path: str) -> list[str]:
    """Return the ends of a path in whole parts, the longest first."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return ["/".join(parts[start:]) for start in range(len(parts))]
