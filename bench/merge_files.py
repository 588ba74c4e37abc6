"""Puts what agents need into configuration files as people write them, takes it out again, and counts exact results.

python bench/merge_files.py            all files, and what went wrong
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import yaml

from cairn.documents.document import Document, Edit, parse_document
from cairn.documents.nodes import Format
from cairn.documents.undo import undo
from cairn.documents.values import without_comments
from cairn.errors import ConfigError
from user_files import UserFile, user_files

SERVER = {"command": "/usr/local/bin/cairn", "args": ["mcp"], "env": {"CAIRN_LOG": "näive"}}
_BOM = b"\xef\xbb\xbf"


class Want(NamedTuple):
    """What an agent needs: a value under a path, or an item at the end of a list."""

    path: tuple[str, ...]
    value: Any
    is_item: bool = False


def _hook(event: str) -> dict[str, Any]:
    return {"matcher": "Bash|Read", "hooks": [{"type": "command", "command": f"cairn hook {event}", "timeout": 10}]}


_HOOKS = [Want(("hooks", event), _hook(event), is_item=True) for event in ("SessionStart", "PreToolUse", "Stop")]
_OBJECTS = [
    Want(("mcpServers", "cairn"), {"type": "stdio", **SERVER}),
    Want(("amp.mcpServers", "cairn"), SERVER),
    Want(("context_servers", "cairn"), SERVER),
    Want(("mcp", "cairn"), {"type": "local", "command": ["cairn", "mcp"], "enabled": True}),
]
WANTS: dict[str, list[Want]] = {
    "json": [*_OBJECTS, *_HOOKS],
    "jsonc": [*_OBJECTS, *_HOOKS],
    "yaml": [Want(("extensions", "cairn"), {"type": "stdio", "cmd": "cairn", "args": ["mcp"], "envs": {}}), *_HOOKS],
    "toml": [
        Want(("mcp_servers", "cairn"), SERVER),
        *_HOOKS,
        Want(("features", "hooks"), True),
        Want(("tui", "notify"), ["cairn"]),
    ],
}


class Result(NamedTuple):
    """What became of a file; each is empty, or what went wrong.

    Attributes:
        merged: ours is there, every other value is as it was, and a second merge changes nothing.
        undone: the file is what it was, byte for byte.
        edited: with a change of the user's in between, it is what it was with that change.
        formatted: after a program rewrote it, every value is as it was.
    """

    merged: str = ""
    undone: str = ""
    edited: str = ""
    formatted: str = ""


def merge(content: bytes, format: Format, wants: Sequence[Want]) -> Document:
    """Return a document with all that is wanted, as an installer writes it."""
    document = parse_document(content, format, "file")
    for want in wants:
        if not want.is_item:
            document = document.set(want.path, want.value)
        elif want.value not in document.get(want.path, []):
            document = document.append(want.path, want.value)
    return document


def check(file: UserFile) -> Result:
    """Merge into a file and take it back, in all ways."""
    wants = WANTS[file.format]
    try:
        document = merge(file.content, file.format, wants)
    except ConfigError as error:
        return Result(merged=f"refused: {error}")
    edits = tuple(Edit.from_json(json.loads(json.dumps(list(edit)))) for edit in document.edits)
    return Result(
        _merged(file, document.content, wants),
        _undone(file, document.content, file.content, edits),
        next(filter(None, _edited(file, document.content, edits)), ""),
        _formatted(file, document.content, edits),
    )


def read(content: bytes, format: str) -> Any:  # noqa: ANN401 - whatever it says
    """Return what a file says, by a parser of its format; pairs of JSON and YAML stay pairs."""
    text = content.removeprefix(_BOM)
    if format == "toml":
        return tomllib.loads(text.decode())
    if format == "yaml":
        return yaml.load(text.decode(), _LooseLoader) or {}  # a subclass of the safe one
    return json.loads(without_comments(text) if format == "jsonc" else text) if without_comments(text).strip() else {}


class _LooseLoader(yaml.SafeLoader):
    """Reads values of types of their own, too."""


_LooseLoader.add_constructor(None, lambda loader, node: (node.tag, str(node.value)))


def _merged(file: UserFile, content: bytes, wants: Sequence[Want]) -> str:
    before, after = read(file.content, file.format), read(content, file.format)
    for want in wants:
        if _holds(before, want):
            continue
        if want.is_item:
            items = after
            for name in want.path:
                items = items[name]
            if items[-1] != want.value:
                return f"{want.path} is not the last item"
            items.pop()
        else:
            holder = after
            for name in want.path[:-1]:
                holder = holder[name]
            if holder.pop(want.path[-1]) != want.value:
                return f"{want.path} is not what was wanted"
    if _bare(before) != _bare(after):
        return "another value changed"
    return "" if merge(content, file.format, wants).content == content else "a second merge changes the file"


def _holds(values: Any, want: Want) -> bool:  # noqa: ANN401 - any values
    """Tell whether a value was there before."""
    for name in want.path:
        values = values.get(name) if isinstance(values, dict) else None
    return not want.is_item and bool(values == want.value)


def _bare(value: Any) -> Any:  # noqa: ANN401 - as above
    """Return a value without what is empty at the top two levels, where a merge creates names."""
    top = {name: _without_empty(inner) for name, inner in value.items()}
    return _without_empty(top)


def _without_empty(value: Any) -> Any:  # noqa: ANN401 - as above
    return {name: v for name, v in value.items() if v not in ({}, [], None)} if isinstance(value, dict) else value


def _undone(file: UserFile, content: bytes, expected: bytes, edits: Sequence[Edit]) -> str:
    try:
        result = undo(parse_document(content, file.format, "file"), edits).content
    except ConfigError as error:
        return f"refused: {error}"
    return "" if result == expected else f"{result[-300:]!r} in the place of {expected[-300:]!r}"


def _edited(file: UserFile, content: bytes, edits: Sequence[Edit]) -> Iterator[str]:
    """Yield what goes wrong with each change that a user may make in between."""
    for change in (change_first, change_last, change_words):
        before, after = change(file.content, file.format), change(content, file.format)
        if before == file.content or after == content or not is_valid(before, file.format):
            continue
        yield _undone(file, after, before, edits)


def change_first(content: bytes, format: str) -> bytes:
    """Return a file with another name at its beginning."""
    bom, body = (_BOM, content[3:]) if content.startswith(_BOM) else (b"", content)
    if format in ("json", "jsonc"):
        head, brace, tail = body.partition(b"{")
        is_object = tail.lstrip()[:1] == b'"'
        return bom + head + brace + b'"theirs": {"x": [1]}, ' + tail if is_object else content
    if body.startswith(b"---"):
        return content
    return bom + (b"theirs: [1] # new\n" if format == "yaml" else b"theirs = [1] # new\n") + body


def change_last(content: bytes, format: str) -> bytes:
    """Return a file with another line at its end."""
    if not content.endswith(b"\n") or content.endswith(b"...\n"):
        return content
    return content + {"json": b" \n", "jsonc": b"// theirs\n"}.get(format, b"# theirs\n\n# and more\n")


def change_words(content: bytes, format: str) -> bytes:
    return content.replace(b"dark", b"very light").replace(b"npx", b"bunx").replace(b"builtin", b"built in")


def is_valid(content: bytes, format: str) -> bool:
    try:
        read(content, format)
    except (ValueError, yaml.YAMLError):
        return False
    return True


def _formatted(file: UserFile, content: bytes, edits: Sequence[Edit]) -> str:
    values = read(content, file.format)
    if file.format == "toml" or "twice" in file.name or "types" in file.name:
        return ""
    if file.format == "yaml":
        new = yaml.safe_dump(values, indent=3, width=200, default_flow_style=None, allow_unicode=True).encode()
    else:
        new = json.dumps(values, indent=3).encode()
    try:
        result = undo(parse_document(new, file.format, "file"), edits).content
    except ConfigError as error:
        return f"refused: {error}"
    if _bare(read(result, file.format)) != _bare(read(file.content, file.format)):
        return f"another value changed: {result[-300:]!r}"
    return "ours is still there" if b"cairn" in result else ""


def main() -> int:
    """Check all files and print how many were exact."""
    files = user_files()
    failures: Counter[str] = Counter()
    for file in files:
        for what, problem in check(file)._asdict().items():
            if problem:
                failures[what] += 1
                print(f"{file.name}: {what}: {problem}")
    counts = Counter(file.format for file in files)
    print(f"{len(files)} files: {', '.join(f'{count} {format}' for format, count in counts.items())}")
    for what in Result._fields:
        print(f"{what:10} {len(files) - failures[what]} of {len(files)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
