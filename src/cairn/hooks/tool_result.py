"""Reads agents' reports of how a tool call ended, in one form for all of them.

As with tools' input, nothing here fails: anything unexpected counts as missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cairn.memory.moments import MAX_OUTPUT_CHARS

# Agents' names for fields, in lower case and without `_` and `-`.
_OUTPUTS = ("output", "stdout", "llmcontent", "textresultforllm", "result", "content", "text")
_ERRORS = ("error", "errormessage", "stderr")
_EXIT_CODES = ("exitcode", "exit", "returncode")
_IS_OK = ("success", "ok")
_IS_FAILED = ("iserror", "failed")
_KINDS = ("resulttype", "outcome")
_OUTCOMES = {"success": "ok", "ok": "ok", "failure": "failed", "failed": "failed", "error": "failed",
             "timeout": "failed", "denied": "denied", "rejected": "denied", "permissiondenied": "denied"}  # fmt: skip

# How agents' shells report the exit code in their text: at the beginning or at the end.
_CODE_BEFORE = re.compile(
    r"\s*Exit code:? (-?\d{1,5})(?:\n|$)(?:Wall time: .*\n)?(?:(?:Total )?.*lines: .*\n)?(?:Output:\n)?", re.I
)
_CODE_AFTER = re.compile(
    r"\n?<?(?:Exit code:|(?:command |process |shellId: \S+ )?(?:exited|completed|failed) with (?:exit )?code:?) "
    r"(-?\d{1,5})>?\s*(?:\n(?:Signal|Background PIDs|Process Group PGID): .*)*\s*$",
    re.I,
)
_GROUP_AFTER = re.compile(r"(?:\n(?:Signal|Background PIDs|Process Group PGID): .*)+\s*$")
_LABEL_BEFORE = re.compile(r"Output: (?:\(empty\)(?=\n|$))?")
_UNTRUSTED = "<untrusted_context>\n", "\n</untrusted_context>"  # Gemini CLI puts a command's output between these
_LOOKED_AT_CHARS = 400  # characters at each end of a text to search for the exit code
_MAX_NODES = 10_000
_MAX_DEPTH = 6


class ToolResult(NamedTuple):
    """How a tool call ended.

    Attributes:
        outcome: one of `cairn.memory.moments.OUTCOMES`.
        exit_code: of a command, None if not reported.
        output: the end of its output, or the error.
        output_bytes: the size of the whole output.
    """

    outcome: str = ""
    exit_code: int | None = None
    output: str = ""
    output_bytes: int = 0


NO_RESULT = ToolResult()


def result_of(answer: object, tool: str, outcome: str = "") -> ToolResult:
    """Return how a call ended.

    Args:
        answer: the agent's report: a text, an object of any known form, or a list of parts.
        tool: one of `TOOLS`; only a shell's output is searched for an exit code.
        outcome: the default if the answer does not say.
    """
    text = _text(answer)
    exit_code: int | None = None
    if isinstance(answer, Mapping):
        named = _named(answer)
        exit_code = _exit_code(named)
        outcome = _outcome(named) or outcome
    if tool == "shell":
        said, text = _parse_shell(text)
        exit_code = said if exit_code is None else exit_code
    if exit_code is not None and outcome != "denied":
        outcome = "failed" if exit_code else (outcome if outcome == "failed" else "ok")
    return _result(outcome, exit_code, text, size_of(answer))


def failure_of(error: object, tool: str, kind: str = "") -> ToolResult:
    """Return the result of a call that failed or was denied.

    Args:
        error: the agent's message.
        tool: one of `TOOLS`.
        kind: the agent's name for the failure, such as `permission_denied`.
    """
    result = result_of(error, tool, "failed")
    is_denied = isinstance(kind, str) and _OUTCOMES.get(plain(kind)) == "denied"
    return result._replace(outcome="denied" if is_denied or result.outcome == "denied" else "failed")


def size_of(value: object) -> int:
    """Estimate how many bytes of text and numbers are in a JSON value."""
    total = 0
    waiting = [value]
    for _ in range(_MAX_NODES):
        if not waiting:
            break
        value = waiting.pop()
        if isinstance(value, str):
            total += len(value) if value.isascii() else len(value.encode("utf-8", "replace"))
        elif isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif value is not None:
            total += len(str(value))
    return total


def _result(outcome: str, exit_code: int | None, text: str, n_bytes: int) -> ToolResult:
    output = text[-MAX_OUTPUT_CHARS:].encode("utf-8", "replace").decode()
    return ToolResult(outcome, exit_code, output, n_bytes)


def unpack(answer: object) -> object:
    """Parse a text that is a JSON object or list, for agents that encode their answers like that."""
    if isinstance(answer, str) and answer.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(answer)
        except (ValueError, RecursionError):
            return answer
    return answer


def plain(name: object) -> str:
    """Return a name in lower case and without `_` and `-`, in which agents differ."""
    return str(name).lower().replace("_", "").replace("-", "")


def _named(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {plain(name): value for name, value in answer.items()}


def _exit_code(named: Mapping[str, Any]) -> int | None:
    places = [named, *(_named(inner) for name in ("metadata", "data") if isinstance(inner := named.get(name), Mapping))]
    for place in places:
        for name in _EXIT_CODES:
            code = place.get(name)
            if isinstance(code, int) and not isinstance(code, bool):
                return max(-(2**31), min(2**31, code))
    return None


def _outcome(named: Mapping[str, Any]) -> str:
    """Return the outcome of a call according to an object."""
    for name in _KINDS:
        if isinstance(named.get(name), str) and (outcome := _OUTCOMES.get(plain(named[name]))):
            return outcome
    if any(named.get(name) is True for name in _IS_FAILED) or any(named.get(name) is False for name in _IS_OK):
        return "failed"
    if named.get("error"):
        return "failed"
    return "ok" if any(named.get(name) is True for name in _IS_OK) or named.get("iserror") is False else ""


def _text(answer: object) -> str:
    return "\n".join(_texts(answer, 0)) if not isinstance(answer, str) else answer


def _texts(answer: object, depth: int) -> Iterator[str]:
    """Yield the human-readable texts in an answer."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(answer, str):
        if answer:
            yield answer
    elif isinstance(answer, list):
        for part in answer[:1_000]:
            yield from _texts(part, depth + 1)
    elif isinstance(answer, Mapping):
        named = _named(answer)
        output = next((named[name] for name in _OUTPUTS if named.get(name)), named.get("file"))
        yield from _texts(output, depth + 1)
        for name in _ERRORS:
            error = named.get(name)
            yield from _texts(error.get("message") if isinstance(error, Mapping) else error, depth + 1)


def _parse_shell(text: str) -> tuple[int | None, str]:
    """Return the exit code in a shell's text, and the rest of the text."""
    text = text.removeprefix(_UNTRUSTED[0]).removesuffix(_UNTRUSTED[1])
    before = _CODE_BEFORE.match(text[:_LOOKED_AT_CHARS])
    if before is not None:
        return int(before[1]), text[before.end() :]
    label = _LABEL_BEFORE.match(text)
    text = text[label.end() :] if label is not None else text
    start = max(0, len(text) - _LOOKED_AT_CHARS)
    after = _CODE_AFTER.search(text, start)
    if after is not None:
        return int(after[1]), text[: after.start()]
    group = _GROUP_AFTER.search(text, start)
    return None, text[: group.start()] if group is not None else text
