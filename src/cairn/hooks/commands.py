"""The commands by which agents start Cairn, as their files have them, and how such a command is known as ours."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from cairn.hooks.adapter import Place

# A shell starts the hook. Where Cairn is missing or broken this still exits with 0, and says nothing: a colleague may
# have the file without the program, and Copilot CLI denies a tool whose hook fails. It takes no measurable time.
_GUARD = " 2>/dev/null || exit 0"
_HOOK = re.compile(r"(?:^|[/\\\s'\"])cairn(?:\.exe)?['\"]?\s+hook\s")
_SERVER = re.compile(r"(?:^|[/\\\s])cairn(?:\.exe)?\smcp(?:\s|$)")


def hook_command(place: Place, event: str, agent: str) -> str:
    """Return the shell command that an agent runs at an event of `cairn.memory.moments.EVENTS`.

    Keep it as it is: Codex asks the user to approve a changed command again.
    """
    return f"{shlex.join(place.command)}{_hook(event, agent)}{_GUARD}"


def program_of(command: str, event: str, agent: str) -> str | None:
    """Return what a shell command starts if it is the hook of an agent at an event, else None."""
    start, hook, _ = command.partition(_hook(event, agent))
    return start if hook else None


def _hook(event: str, agent: str) -> str:
    return f" hook {event} --agent {agent}"


def mcp_server(place: Place) -> dict[str, Any]:
    """Return `command` and `args` of the MCP server, which most agents take in this form."""
    program, *arguments = place.command
    return {"command": program, "args": [*arguments, "mcp"]}


def is_ours(value: object) -> bool:
    """Tell whether a value in an agent's file starts Cairn and nothing else: an MCP server, or hooks."""
    commands = list(iter_commands(value))
    return bool(commands) and all(map(_starts_cairn, commands))


def iter_commands(value: object) -> Iterator[str | tuple[str, ...]]:
    """Yield the commands within a value: those of a shell as text, those of MCP servers as words."""
    if isinstance(value, Mapping):
        words = _words(value)
        if words:
            yield words
        for name, part in value.items():
            if name in _SHELL_KEYS and isinstance(part, str) and not words:
                yield part
            elif not isinstance(part, str):
                yield from iter_commands(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from iter_commands(part)


_SHELL_KEYS = ("command", "bash", "powershell", "commandWindows", "windows", "linux", "osx")


def _words(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words of a program with its arguments, in the forms that agents have for MCP servers."""
    program = value.get("command", value.get("cmd"))
    arguments = value.get("args")
    if isinstance(program, str) and _is_list_of_text(arguments):
        return (program, *arguments)
    return tuple(program) if _is_list_of_text(program) else ()


def _is_list_of_text(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


def _starts_cairn(command: str | Sequence[str]) -> bool:
    return bool(_HOOK.search(command) if isinstance(command, str) else _SERVER.search(" ".join(command)))
