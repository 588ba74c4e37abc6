"""The text that gives an agent the outline of a file, and tells it how to read what it needs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

from cairn.errors import RequestError
from cairn.hints import Hint
from cairn.hooks.adapter import Adapter
from cairn.hooks.agents import adapter_of
from cairn.hooks.occasion import Occasion
from cairn.hooks.shell_programs import FileRead
from cairn.memory.inert import CLOSE, OPEN, inert_code, inert_line
from cairn.source.text import pluralize
from cairn.structure.outline import FileOutline

_EXAMPLE_LINES = range(4, 200)


class LinesToRead(NamedTuple):
    """Lines of a file to read, and their content."""

    id: str
    name: str
    first: int
    last: int


class Shown(NamedTuple):
    """What an agent is shown of a file.

    Attributes:
        outline: of the file.
        file_tokens: those of the whole file.
        span: the example of lines to read.
        around: the surroundings of the definition that it searched for, or empty.
        places: the definitions that match its recent searches, or empty.
        text: that of the outline.
    """

    outline: FileOutline
    file_tokens: int
    span: LinesToRead
    around: str
    places: str
    text: str


def example_of(outline: FileOutline, target: int | None) -> LinesToRead:
    """Return the example of lines to read: of what was searched for, else of the first definition worth reading.

    Args:
        outline: of a file that defines something.
        target: the index of the definition that was searched for.
    """
    numbers = [] if target is None else [target]
    for number, symbol in enumerate(outline.symbols):
        is_leaf = number + 1 == len(outline.symbols) or outline.symbols[number + 1].depth <= symbol.depth
        if is_leaf and symbol.end_line - symbol.start_line + 1 in _EXAMPLE_LINES:
            numbers.append(number)
    symbol = outline.symbols[(numbers or [0])[0]]
    return LinesToRead(symbol.id, symbol.qualified_name, symbol.start_line, symbol.end_line)


def hint_text(root: Path, occasion: Occasion, shown: Shown, *, is_replacing: bool) -> str:
    """Return the text for the agent: what this is, what to do next, and the outline between two marker lines."""
    path = inert_line(shown.outline.path, 300)
    size = f"{pluralize(shown.outline.lines, 'line')}, about {pluralize(shown.file_tokens, 'token')}"
    what = f"was not read, because it is long ({size})" if is_replacing else f"is long ({size})"
    again = " To get the whole file, read it again." if is_replacing else ""
    step = _next_step(root, occasion, shown.span)
    lines = [
        f"{OPEN}cairn{CLOSE} {path} {what}. Its outline, as the file is now, is below.",
        f"Next: read only the lines that you need, {step}.{again}",
    ]
    if shown.around:
        lines += [f"{OPEN}cairn: what was searched for{CLOSE}", inert_code(shown.around)]
    if shown.places:
        lines += [f"{OPEN}cairn: the definitions in which your last searches match{CLOSE}", inert_code(shown.places)]
    lines += [f"{OPEN}cairn: outline; lines begin with the numbers of lines{CLOSE}", inert_code(shown.text)]
    return "\n".join([*lines, f"{OPEN}cairn: end of outline{CLOSE}"])


def _next_step(root: Path, occasion: Occasion, span: LinesToRead) -> str:
    name = inert_line(span.name, 120)
    if occasion.is_shell:
        is_here = isinstance(occasion.command, FileRead) and not (occasion.command.folder or occasion.asked.path)
        file = occasion.use.path if is_here else str(root / occasion.path)
        command = f"sed -n '{span.first},{span.last}p' {shlex.quote(file)}"
        hint = str(Hint.of("fetch", ids=(span.id,)))
        return f"such as {span.first}-{span.last} for {name}: {inert_line(command, 400)} (or: {inert_line(hint, 400)})"
    lines = adapter_or_any(occasion.agent).some_lines.format(
        first=span.first, last=span.last, count=span.last - span.first + 1, before=span.first - 1
    )
    hint = Hint.of("fetch", ids=(span.id,)).for_tools
    tool = inert_line(occasion.use.name, 60) or "read"
    return (
        f"such as {span.first}-{span.last} for {name}: {tool} the same file with {lines} (or {inert_line(hint, 400)})"
    )


def adapter_or_any(agent: str) -> type[Adapter] | Adapter:
    """Return the adapter of an agent, or a typical one if the agent is unknown."""
    try:
        return adapter_of(agent)
    except RequestError:  # an agent from another version
        return Adapter
