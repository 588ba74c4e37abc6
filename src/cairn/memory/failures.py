"""Whether a tool call failed, and what its output says about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from cairn.memory.commands import CommandStep, parse_command
from cairn.memory.failure_rules import SHAPES, FailureShape
from cairn.memory.linear import linear
from cairn.memory.moments import ToolCall

_COLOUR = re.compile(
    r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_GENERIC = frozenset(
    {"error", "exception", "path", "network", "memory", "disk", "permission", "usage", "port", "git", "docker"}
)
_STOPPED = frozenset({124, 130, 137, 143})  # by a time limit, or by somebody
_RUN_HOOKS = (("git", "commit"), ("git", "push"))
_MAX_MESSAGE_CHARS = 240
_COMPARED = re.compile(r"(?i)(?:expected|actual|got|received|left|right): *\S.{0,80}")
_MAX_COMPARED_CHARS, _MOST_LINES_BETWEEN = 600, 6
_RULER = re.compile(r"[-=_*~#. \t|+]*")
_SAYS_NOTHING = re.compile(
    r"(?i)exit code:? [0-9]+|command failed.*|\[?error\]?:?|failed|npm (?:err!|error).*|error: process completed.*"
)
# Failures of these kinds can be seen in what a program prints even if nobody says how it ended.
_PLAIN_KINDS = frozenset(
    {"test", "compile", "type", "lint", "format", "build", "package", "command", "module", "runtime", "database"}
)


class Failure(NamedTuple):
    """What failed, as the output says.

    Attributes:
        shape: the name of the row that told; empty if none did.
        kind: one of `KINDS`.
        message: one line.
        file, line: where; empty and 0 where nobody says.
        code: of the error.
        test: which test.
        program: of the step that printed it, empty if any may have.
    """

    shape: str
    kind: str
    message: str
    file: str = ""
    line: int = 0
    code: str = ""
    test: str = ""
    program: str = ""


def was_stopped(call: ToolCall) -> bool:
    """Tell whether a call was denied, or ended by a time limit or by somebody: nothing can be learned from it."""
    return call.outcome == "denied" or call.exit_code in _STOPPED


def failure_of(call: ToolCall) -> Failure | None:
    """Return how a call failed; None if it did not, was stopped, or its failure was an answer, as that of `grep`."""
    if was_stopped(call):
        return None
    if call.tool != "shell":
        is_outside = call.tool in ("mcp", "other") and call.is_failure
        return Failure("", "other", _last_words(plain(call.output), call.exit_code)) if is_outside else None
    command = parse_command(call.target)
    output = plain(call.output)
    if not command.work:
        found = recognise(output, ()) if call.is_failure else None
        return found if found is not None and found.kind == "command" else None
    if call.is_failure:
        return recognise(output, command.work) or Failure("", "other", _last_words(output, call.exit_code))
    is_known_good = (call.exit_code == 0 or call.outcome == "ok") and not command.is_masked
    if is_known_good or (len(command.work) < len(command.steps) and _prints_files(command.steps)):
        return None
    return _seen(output, command.work, is_code_known=call.exit_code is not None or call.outcome == "ok")


def _prints_files(steps: Sequence[CommandStep]) -> bool:
    """Whether what is printed may be the content of files."""
    return any(
        step.program in ("cat", "grep", "rg", "sed", "head", "tail", "git", "find") for step in steps if step.is_reading
    )


def _seen(output: str, steps: Sequence[CommandStep], *, is_code_known: bool) -> Failure | None:
    """Return a failure that the output alone shows."""
    found = recognise(output, steps)
    if found is None or found.shape in _GENERIC or found.kind not in _PLAIN_KINDS:
        return None
    if found.program:
        return found
    if is_code_known and found.kind not in ("command", "module", "runtime"):
        return None
    return found if found.message[:60] in output[-1_500:] else None


def plain(output: str) -> str:
    """Return an output without colours, control characters and carriage returns."""
    return _COLOUR.sub("", output.replace("\r\n", "\n").replace("\r", "\n"))


def recognise(output: str, steps: Sequence[CommandStep]) -> Failure | None:
    """Return the failure that an output shows, by the first shape that matches; None if none does.

    Args:
        output: plain text.
        steps: the programs that may have printed it; a shape of another program counts only if none of its own do.
    """
    programs = {step.program for step in steps}
    if any(step.base[:2] in _RUN_HOOKS for step in steps):
        programs.add("pre-commit")
    for shape in SHAPES:
        own = shape.programs.split()
        if own and programs and not programs & set(own) and not _may_run_anything(programs):
            continue
        if (match := _match(shape, output)) is not None:
            return _failure(shape, match, _printer(own, steps))
    return None


def _may_run_anything(programs: set[str]) -> bool:
    """Whether one of them is a script or starts others, so that the output can be anybody's."""
    return any(
        "." in name or name in ("bash", "sh", "make", "docker", "docker-compose", "task", "tox", "nox", "xargs", "ssh")
        for name in programs
    )


def _printer(own: Sequence[str], steps: Sequence[CommandStep]) -> str:
    return next((step.program for step in steps if step.program in own), "")


def _match(shape: FailureShape, output: str) -> Any:  # noqa: ANN401 - re2 ships no types
    if not any(need in output for need in shape.needs.split("|")):
        return None
    pattern = linear(shape.pattern)
    if not shape.is_last:
        return pattern.search(output)
    last = None
    for match in pattern.finditer(output):
        last = match
    return last


def _failure(shape: FailureShape, match: Any, program: str) -> Failure:  # noqa: ANN401 - re2 ships no types
    groups = {name: (value or "").strip() for name, value in match.groupdict().items()}
    message = groups.get("message", "")
    if message and shape.kind == "test":
        message = "; ".join([message.rstrip(" -:"), *_compared(match.string[_end_of(match, "message") :])])
    return Failure(
        shape=shape.name,
        kind=shape.kind,
        message=_line(message).rstrip(" -:"),
        file=groups.get("file", ""),
        line=int(groups.get("line") or 0),
        code=groups.get("code", ""),
        test=_line(groups.get("test", "")).rstrip(" :"),
        program=program,
    )


def _end_of(match: Any, group: str) -> int:  # noqa: ANN401 - re2 ships no types
    """Return where a group of a match ends; re2 knows groups by number alone."""
    end: int = match.end(match.re.groupindex[group])
    return end


def _compared(rest: str) -> list[str]:
    """Return what was expected and what was there, of the lines behind a message."""
    lines = [line.strip() for line in rest[:_MAX_COMPARED_CHARS].splitlines()[:_MOST_LINES_BETWEEN]]
    return [" ".join(line.split()) for line in lines if _COMPARED.fullmatch(line)][:2]


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MAX_MESSAGE_CHARS else words[: _MAX_MESSAGE_CHARS - 1].rstrip() + "…"


def _last_words(output: str, exit_code: int | None) -> str:
    """Return the last line that says something."""
    lines = [line.strip() for line in output[-4_000:].splitlines()]
    for line in reversed(lines):
        if len(line) > 3 and not _RULER.fullmatch(line) and not _SAYS_NOTHING.fullmatch(line):
            return _line(line)
    return f"exit code {exit_code}" if exit_code else ""
