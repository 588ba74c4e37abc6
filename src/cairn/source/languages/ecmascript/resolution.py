"""How names and imports of JavaScript, TypeScript and TSX find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, SLASH_COMMENT, SPACE, ImportFlag, Parts, pair, split_module
from cairn.source.languages.rules import Rules

_CLAUSE = re.compile(r"\{([^}]*)\}")
_DYNAMIC = re.compile(r"import\s*\(")
_PATTERN = re.compile(r"[\"'`]([^!\"'`\n][^\"'`\n]*\*[^\"'`\n]*)[\"'`]")
_BINDING = re.compile(r"^(?:const|let|var)?\s*(?:\{([^}]*)\}|([\w$]+))\s*(?::[^=]*)?=", re.DOTALL)

RULES = Rules(
    "ecmascript",
    finder="ecmascript",
    type_side="after",
    result=":",
    exports="word",
    exports_members=True,
    bounds=True,
    parameters_keep_types=True,
    functions_are_objects=True,
)


def read_import(text: str) -> Parts:
    """Read one import statement; see `cairn.source.languages.import_reading`."""
    return _read_patterns(text) if text.startswith("import.meta") else _read_statement(SLASH_COMMENT.sub(" ", text))


def _read_patterns(text: str) -> Parts:
    """Read Vite's glob imports: every file that matches a pattern."""
    for pattern in _PATTERN.findall(text):
        yield pattern, "", "", NO_FLAG


def _read_statement(text: str) -> Parts:
    head, module = split_module(text)
    if _DYNAMIC.match(text):
        yield module, "", "", NO_FLAG
        return
    if not text.startswith(("import", "export")):
        yield from _read_require(text, module)
        return
    flags = ImportFlag.REEXPORT if text.startswith("export") else NO_FLAG
    head = SPACE.sub(" ", head.removeprefix("export").removeprefix("import")).strip()
    if head.startswith("type ") and not head.startswith("type from"):
        head, flags = head[5:], flags | ImportFlag.TYPE_ONLY
    head = head.removesuffix("from").strip()
    if not head and module:
        yield module, "", "", flags
    if clause := _CLAUSE.search(head):
        yield from _read_clause(clause[1], module, flags)
        head = head[: clause.start()] + head[clause.end() :]
    for part in (part.strip() for part in head.split(",")):
        if part.startswith("*"):
            alias = pair(part)[1] if " as " in part else ""
            yield module, "" if alias else "*", alias, flags
        elif assigned := re.fullmatch(r"([\w$]+) ?= ?require ?\(", part):
            yield module, "=", assigned[1], flags
        elif re.fullmatch(r"[\w$]+", part):
            yield module, "default", part, flags


def _read_clause(clause: str, module: str, flags: ImportFlag) -> Parts:
    """Read the braces of `import { a as b, type C } from "x"`."""
    for part in clause.split(","):
        only = part.strip().startswith("type ")
        name, alias = pair(part.strip().removeprefix("type ") if only else part)
        if name:
            yield module, name, alias, flags | (ImportFlag.TYPE_ONLY if only else NO_FLAG)


def _read_require(text: str, module: str) -> Parts:
    """Read `const {a, b: c} = require("x")`; a whole module is called `=`, because it may be a single value."""
    binding = _BINDING.match(text)
    if binding is None:
        yield module, "", "", NO_FLAG
    elif binding[2]:
        yield module, "=", binding[2], NO_FLAG
    else:
        for part in binding[1].split(","):
            name, alias = pair(part, ":")
            if name and not name.startswith("..."):
                yield module, name, alias.partition("=")[0].strip(), NO_FLAG
