"""Reads the input of agents' tools, whatever they call it, in one form for all of them.

Payloads come from other programs and change with their versions. So nothing here fails: anything missing, far too long
or of an unexpected type counts as not given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cairn.hooks.patches import is_patch, parse_patch
from cairn.hooks.report import ToolUse
from cairn.hooks.tool_result import NO_RESULT, ToolResult, plain, size_of
from cairn.memory.moments import MAX_NAME_CHARS, MAX_TARGET_CHARS, ToolCall, canonical_tool

Given = Mapping[str, Any]

# Agents' names for fields, in lower case and without `_` and `-`; the first one present counts.
_PATH = (
    "filepath",
    "path",
    "targetfile",
    "absolutepath",
    "absolutefilepath",
    "notebookpath",
    "filename",
    "file",
    "relativepath",
    "dirpath",
    "directory",
    "targetdirectory",
    "searchpath",
    "searchdirectory",
    "directorypath",
    "folder",
    "uri",
)
_PATHS = ("paths", "filepaths", "files", "targetdirectories")
_OFFSET = ("offset", "startline", "startlineoneindexed", "linestart")
_END = ("endline", "endlineoneindexedinclusive", "lineend")
_LIMIT = ("limit", "numlines", "linecount")
_RANGE = ("viewrange", "linerange")
_PATTERN = ("pattern", "query", "querystring", "regex", "searchterm", "search")
_GLOBS = ("glob", "globs", "globpattern", "includepattern", "includeglobs", "include", "includes", "filepattern")
_COMMAND = ("command", "commandline", "cmd", "script")
_WORKING = ("cwd", "workdir", "workingdirectory", "dirpath", "directory", "dir")  # where a command runs
_OLD = ("oldstring", "oldstr", "oldtext", "targetcontent", "search")
_NEW = ("newstring", "newstr", "newtext", "replacementcontent", "replace", "inserttext", "newsource")
_CONTENT = ("content", "contents", "filetext", "codecontent", "codeedit", "code", "text")
_EDITS = ("edits", "replacements", "replacementchunks")
_PATCH = ("patchtext", "patch", "input", "command")
_OTHER_TARGETS = ("url", "description", "prompt", "task", "title", "name", "skill")
_IDS = ("ids", "id")

_MAX_COMMAND_CHARS = 20_000
_MAX_EDIT_CHARS = 200_000
_MAX_FILES = 100
_MAX_GLOBS = 20
_MAX_LINE = 2**31
_DIGITS = re.compile(r"-?[0-9]{1,10}")
_OURS = ("cairn-", "cairn_")  # our tools' names in agents that do not prefix them with `mcp`
_STR_REPLACE = {"view": "read", "create": "write"}  # the kind of this single tool by its `command`


def uses_of(name: str, given: object, tool: str = "") -> tuple[ToolUse, ...]:
    """Return a tool's uses: one, or one for each file if it reads or changes several.

    Args:
        name: the agent's name for the tool.
        given: its input: an object, one as JSON in a string, or a patch.
        tool: one of `TOOLS`, if the agent's event tells.
    """
    name = _clean(name)[:MAX_NAME_CHARS] if isinstance(name, str) else ""
    arguments = _arguments(given)
    tool = tool or _tool_of(name, arguments)
    if tool in ("edit", "write") and (patch := _patch_of(given, arguments)):
        changes = parse_patch(patch)[:_MAX_FILES]
        return tuple(
            ToolUse(change.tool, name, _path(change.path), edits=_bounded(change.edits)) for change in changes
        ) or (ToolUse(tool, name),)
    paths = _paths(arguments) if tool in ("read", "delete") else []
    use = _use(tool, name, arguments)
    if len(paths) > 1 or (paths and not use.path):
        return tuple(use._replace(path=path) for path in paths)
    return tuple(_by_file(use, arguments))


def calls_of(
    uses: Sequence[ToolUse],
    given: object,
    result: ToolResult = NO_RESULT,
    duration_ms: float = 0,
) -> tuple[ToolCall, ...]:
    """Return the calls for the memory, one for each use; only the first has sizes and output."""
    calls = [
        ToolCall(
            tool=use.tool,
            name=use.name,
            target=target_of(use, given),
            outcome=result.outcome,
            exit_code=result.exit_code,
            duration_ms=max(0, _line(duration_ms)),
        )
        for use in uses
    ]
    calls[:1] = [
        call._replace(input_bytes=size_of(given), output_bytes=result.output_bytes, output=result.output)
        for call in calls[:1]
    ]
    return tuple(calls)


def target_of(use: ToolUse, given: object) -> str:
    """Return the target of a tool: a path, a command, a pattern, a URL, or the ids given to one of ours."""
    arguments = _arguments(given)
    by_tool = {"shell": use.command, "search": use.pattern}.get(use.tool, use.path)
    if not by_tool and use.tool == "shell":
        return _text(arguments, _COMMAND, 2**62)[:MAX_TARGET_CHARS]  # too long to parse
    ids = " ".join(_texts(arguments, _IDS, 50))
    others = (use.path, use.pattern, ids, _text(arguments, _OTHER_TARGETS, 2**62))
    return next((target for target in (by_tool, *others) if target), "")[:MAX_TARGET_CHARS]


def _arguments(given: object) -> Given:
    """Return a tool's input by normalized names."""
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    if not isinstance(given, Mapping):
        return {}
    return {plain(key): value for key, value in reversed(list(given.items()))}  # the first of two equal names counts


def _tool_of(name: str, arguments: Given) -> str:
    tool = canonical_tool(name)
    if tool == "other" and name.startswith(_OURS):
        return "mcp"
    if tool == "edit" and isinstance(command := arguments.get("command"), str):
        return _STR_REPLACE.get(command, tool)
    return tool


def _patch_of(given: object, arguments: Given) -> str:
    """Return a tool's input if it is a patch."""
    texts = [given, *(arguments.get(name) for name in _PATCH)]
    parts = (part for text in texts for part in (text if isinstance(text, list) else [text]))
    return next((part for part in parts if isinstance(part, str) and is_patch(part)), "")


def _use(tool: str, name: str, arguments: Given) -> ToolUse:
    """Return the use of a tool, with the fields that its kind has."""
    use = ToolUse(tool, name)
    if tool in ("read", "edit", "write", "delete", "list", "search"):
        paths = _paths(arguments)
        use = use._replace(path=_path(_text(arguments, _PATH)) or (paths[0] if len(paths) == 1 else ""))
    if tool == "read":
        offset, limit = _lines(arguments)
        use = use._replace(offset=offset, limit=limit)
    elif tool == "search":
        globs = tuple(_texts(arguments, _GLOBS, _MAX_GLOBS))
        use = use._replace(pattern=_text(arguments, _PATTERN), globs=globs)
    elif tool == "shell":
        command = _text(arguments, _COMMAND, _MAX_COMMAND_CHARS) or _joined(arguments)
        use = use._replace(command=command, path=_path(_text(arguments, _WORKING)))
    elif tool in ("mcp", "web"):
        use = use._replace(pattern=_text(arguments, _PATTERN))
    elif tool in ("edit", "write"):
        use = use._replace(edits=_bounded(_edits(tool, arguments)))
    return use


def _by_file(use: ToolUse, arguments: Given) -> Iterator[ToolUse]:
    """Yield a use, or one for each file if the edits name files."""
    entries = [_arguments(entry) for entry in _list(arguments, _EDITS)] if use.tool == "edit" else []
    paths = [_path(_text(entry, _PATH)) or use.path for entry in entries]
    if len(set(paths)) < 2 and (use.path or not any(paths)):
        yield use
        return
    for path in list(dict.fromkeys(paths))[:_MAX_FILES]:
        own = [_edit("edit", entry) for entry, entry_path in zip(entries, paths, strict=True) if entry_path == path]
        yield use._replace(path=path, edits=_bounded(edit for edit in own if edit is not None))


# -- values ------------------------------------------------------------------------------------------------------------


def _clean(text: str) -> str:
    """Return a text without lone surrogates, which files and databases refuse."""
    return text.encode("utf-8", "replace").decode()


def _text(arguments: Given, names: Iterable[str], max_chars: int = MAX_TARGET_CHARS) -> str:
    """Return the first text under some names that is not too long."""
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and 0 < len(value) <= max_chars:
            return _clean(value)
    return ""


def _list(arguments: Given, names: Iterable[str]) -> list[Any]:
    return next((value for name in names if isinstance(value := arguments.get(name), list)), [])


def _texts(arguments: Given, names: Sequence[str], most: int) -> list[str]:
    """Return the texts under some names: a list, or a single one."""
    single = _text(arguments, names, MAX_NAME_CHARS)
    values = [single] if single else _list(arguments, names)
    return [_clean(value) for value in values if isinstance(value, str) and 0 < len(value) <= MAX_NAME_CHARS][:most]


def _joined(arguments: Given) -> str:
    """Return a command that is given as a list of words, such as `["bash", "-lc", "ls"]`."""
    words = [word for word in _list(arguments, _COMMAND) if isinstance(word, str)]
    command = words[-1] if len(words) == 3 and words[1] in ("-c", "-lc") else ""
    return _clean(command) if len(command) <= _MAX_COMMAND_CHARS else ""


def _path(text: str) -> str:
    text = text.removeprefix("file://")
    return "" if "\0" in text or "://" in text else text


def _paths(arguments: Given) -> list[str]:
    return [path for text in _texts(arguments, _PATHS, _MAX_FILES) if (path := _path(text))]


def _line(value: object) -> int:
    """Return a whole number, however it is written; 0 if it is not a number."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MAX_LINE <= value <= _MAX_LINE:
        return 0
    return int(value)


def _lines(arguments: Given) -> tuple[int, int]:
    """Return the first line and the number of lines of a read, 0 for no limit."""
    start, end = _number(arguments, _OFFSET), _number(arguments, _END)
    limit = _number(arguments, _LIMIT)
    view_range = _list(arguments, _RANGE)
    if len(view_range) == 2:
        start, end = _line(view_range[0]), _line(view_range[1])
    if end > 0 and limit <= 0:
        limit = max(1, end - max(1, start) + 1)
    return max(0, start), max(0, limit)


def _number(arguments: Given, names: Iterable[str]) -> int:
    return next((_line(arguments[name]) for name in names if name in arguments), 0)


def _edits(tool: str, arguments: Given) -> Iterator[tuple[str, str]]:
    entries = [_arguments(entry) for entry in _list(arguments, _EDITS)]
    for entry in entries or [arguments]:
        edit = _edit(tool, entry)
        if edit is not None:
            yield edit


def _edit(tool: str, entry: Given) -> tuple[str, str] | None:
    """Return the old and new text of an edit; None if it does not say."""
    old, new = (_body(entry, names) for names in (_OLD, _NEW))
    if tool == "write" or (old is None and new is None):
        old, new = None, _body(entry, _CONTENT)
    return None if old is None and new is None else (old or "", new or "")


def _body(entry: Given, names: Iterable[str]) -> str | None:
    return next((_clean(value) for name in names if isinstance(value := entry.get(name), str)), None)


def _bounded(edits: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the leading edits that are not too long together."""
    kept: list[tuple[str, str]] = []
    n_chars = 0
    for old, new in edits:
        n_chars += len(old) + len(new)
        if n_chars > _MAX_EDIT_CHARS:
            break
        kept.append((old, new))
    return tuple(kept)
