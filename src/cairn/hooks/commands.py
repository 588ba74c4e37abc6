"""The commands by which agents start Cairn, and how to recognise them in agents' files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from cairn.hooks.adapter import Place

# A shell starts the hook. If Cairn is missing or broken, this still exits silently with 0: a colleague may have the
# file without the program, and Copilot CLI denies a tool whose hook fails. It costs no measurable time.
_GUARD = " 2>/dev/null || exit 0"
_GUARD_OF_POWERSHELL = " 2>$null; exit 0"
_NAME = re.compile(r"[\w-]+")
_PROGRAMS = ("cairn", "cairn.exe")


def hook_command(place: Place, event: str, agent: str) -> str:
    """Return the shell command for an event of `cairn.memory.moments.EVENTS`.

    Do not change it lightly: Codex asks the user to approve a changed command again.
    """
    return f"{shlex.join(place.command)} hook {event} --agent {agent}{_GUARD}"


def mcp_server(place: Place) -> dict[str, Any]:
    """Return `command` and `args` of the MCP server, the form for most agents."""
    program, *arguments = place.command
    return {"command": program, "args": [*arguments, "mcp"]}


def is_ours(value: object) -> bool:
    """Tell whether a server or hooks in an agent's file start Cairn exactly as Cairn writes it, and nothing else."""
    commands = list(iter_commands(value))
    return bool(commands) and all(_is_hook(each) if isinstance(each, str) else _is_server(each) for each in commands)


def iter_ours(value: object) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of our parts within a value that may also contain commands of others."""
    if is_ours(value):
        yield ()
    elif isinstance(value, Mapping):
        for name, part in value.items():
            if is_ours({name: part}):
                yield (name,)
            else:
                yield from ((name, *path) for path in iter_ours(part))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from ((index, *path) for path in iter_ours(part))


def mentions_cairn(value: object) -> bool:
    """Tell whether a value starts Cairn in any way, for example as written by a user."""
    words = [word for each in iter_commands(value) for word in (_split(each) if isinstance(each, str) else each)]
    return any(_is_program(word) for word in words)


def _split(command: str) -> list[str]:
    """Return the words of a command, split like a shell and also at spaces, for Windows paths and odd quotes."""
    try:
        return [*shlex.split(command), *command.split()]
    except ValueError:
        return command.split()


def iter_commands(value: object) -> Iterator[str | tuple[str, ...]]:
    """Yield the commands within a value: shell commands as text, MCP servers' as words."""
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
    """Return the words of a program with arguments, from any of the agents' forms for MCP servers."""
    program = value.get("command", value.get("cmd"))
    arguments = value.get("args")
    if isinstance(program, str) and _is_list_of_text(arguments):
        return (program, *arguments)
    return tuple(program) if _is_list_of_text(program) else ()


def _is_list_of_text(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


def _is_hook(command: str) -> bool:
    try:
        words = shlex.split(command.strip().removeprefix("& ").removesuffix(_GUARD).removesuffix(_GUARD_OF_POWERSHELL))
    except ValueError:
        return False
    match words:
        case [*program, "hook", event, "--agent", agent]:
            return _is_start(program) and _NAME.fullmatch(event) is not None and _NAME.fullmatch(agent) is not None
    return False


def _is_server(words: Sequence[str]) -> bool:
    return words[-1:] == ("mcp",) and _is_start(words[:-1])


def _is_start(words: Sequence[str]) -> bool:
    """Tell whether words start Cairn, as the program or as Python with the module, as in `Place.command`."""
    return (len(words) == 1 and _is_program(words[0])) or tuple(words[1:]) in (("-m", "cairn"), ("-P", "-m", "cairn"))


def _is_program(word: str) -> bool:
    return re.split(r"[/\\]", word)[-1] in _PROGRAMS
