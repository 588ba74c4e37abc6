"""Reads the import statements of each language: which module, which name of it, and what it is called here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import IntFlag
from typing import NamedTuple


class ImportFlag(IntFlag):
    """What is special about an import."""

    REEXPORT = 1  # whoever imports this file can use the name, too
    TYPE_ONLY = 2  # gone at run time
    DEFERRED = 4  # runs when a function does, not when the file is loaded


class Import(NamedTuple):
    """One imported name.

    `name` is empty where the module itself is imported, `*` where all its names are. `alias` is what the code calls it,
    empty where nothing is bound. An empty `module` with a name gives a name of this file another one for whoever
    imports it.
    """

    module: str
    name: str
    alias: str
    line: int
    flags: ImportFlag = ImportFlag(0)


_Parts = Iterator[tuple[str, str, str, ImportFlag]]
_NONE = ImportFlag(0)
_MAX_DEPTH = 20
_SPACE = re.compile(r"\s+")
_PYTHON_COMMENT = re.compile(r"#[^\n]*")
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_QUOTED = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
_CLAUSE = re.compile(r"\{([^}]*)\}")
_BINDING = re.compile(r"^(?:const|let|var)?\s*(?:\{([^}]*)\}|([\w$]+))\s*(?::[^=]*)?=", re.DOTALL)


def _pair(text: str, separator: str = " as ") -> tuple[str, str]:
    """Split `name as alias`; what has no alias is called by its name."""
    name, found, alias = _SPACE.sub(" ", text.strip()).partition(separator)
    return name.strip(), alias.strip() if found else name.strip()


def _python(text: str) -> _Parts:
    text = _SPACE.sub(" ", _PYTHON_COMMENT.sub("", text).replace("\\\n", " ")).strip()
    if text.startswith("from "):
        module, _, names = text[5:].partition(" import ")
        module = module.replace(" ", "")
        for part in names.strip("() ").split(","):
            name, alias = _pair(part)
            if name:
                # `from x import name as name` hands the name on, by the rule for stub files.
                flags = ImportFlag.REEXPORT if f"{name} as {name}" in part else _NONE
                yield module, name, "" if name == "*" else alias, flags
        return
    for part in text.removeprefix("import ").split(","):
        module, alias = _pair(part)
        if alias != module:
            yield module, "", alias, _NONE
        elif module:
            yield module, "", module.partition(".")[0] if "." in module else module, _NONE


def _ecmascript(text: str) -> _Parts:
    text = _BLOCK_COMMENT.sub(" ", text)
    head, module = _split_module(text)
    if not text.startswith(("import", "export")):
        yield from _required(text, module)
        return
    flags = ImportFlag.REEXPORT if text.startswith("export") else _NONE
    head = _SPACE.sub(" ", head.removeprefix("export").removeprefix("import")).strip()
    if head.startswith("type ") and not head.startswith("type from"):
        head, flags = head[5:], flags | ImportFlag.TYPE_ONLY
    head = head.removesuffix("from").strip()
    if not head and module:
        yield module, "", "", flags
    if clause := _CLAUSE.search(head):
        yield from _named(clause[1], module, flags)
        head = head[: clause.start()] + head[clause.end() :]
    for part in (part.strip() for part in head.split(",")):
        if part.startswith("*"):
            alias = _pair(part)[1] if " as " in part else ""
            yield module, "" if alias else "*", alias, flags
        elif assigned := re.fullmatch(r"([\w$]+) ?= ?require ?\(", part):
            yield module, "=", assigned[1], flags
        elif re.fullmatch(r"[\w$]+", part):
            yield module, "default", part, flags


def _named(clause: str, module: str, flags: ImportFlag) -> _Parts:
    """Read what stands in the braces of `import { a as b, type C } from "x"`."""
    for part in clause.split(","):
        only = part.strip().startswith("type ")
        name, alias = _pair(part.strip().removeprefix("type ") if only else part)
        if name:
            yield module, name, alias, flags | (ImportFlag.TYPE_ONLY if only else _NONE)


def _required(text: str, module: str) -> _Parts:
    """Read `const {a, b: c} = require("x")`; a whole module is called `=`, for it may be one value."""
    binding = _BINDING.match(text)
    if binding is None:
        yield module, "", "", _NONE
    elif binding[2]:
        yield module, "=", binding[2], _NONE
    else:
        for part in binding[1].split(","):
            name, alias = _pair(part, ":")
            if name and not name.startswith("..."):
                yield module, name, alias.partition("=")[0].strip(), _NONE


def _split_module(text: str) -> tuple[str, str]:
    found = list(_QUOTED.finditer(text))
    return (text[: found[-1].start()], found[-1][1]) if found else (text.rstrip("; \n"), "")


def _go(text: str) -> _Parts:
    head, module = _split_module(text)
    alias = head.strip()
    if module and alias not in ("_", "."):
        last = re.sub(r"^v\d+$", "", module.rsplit("/", 1)[-1]) or module.rsplit("/", 2)[-2]
        yield module, "", alias or re.sub(r"^go-|\.v\d+$|-go$", "", last), _NONE
    elif module:
        yield module, "*" if alias == "." else "", "", _NONE


def _dotted(text: str) -> _Parts:
    """Java, Kotlin and Scala 2: `import static a.b.C.d;`, `import a.b.*`, `import a.b as c`, `import a.{b, c => d}`."""
    text = _SPACE.sub(" ", _BLOCK_COMMENT.sub(" ", text)).strip("; ")
    for whole in _unfold(re.sub(r"^import (?:static )?", "", text), "."):
        path, alias = _pair(whole.replace("=>", " as "))
        module, _, name = path.rpartition(".")
        if name in ("*", "_"):
            yield module, "*", "", _NONE
        elif name:
            yield module, name, alias if alias != path else name, _NONE


def _rust(text: str) -> _Parts:
    text = _SPACE.sub(" ", _BLOCK_COMMENT.sub(" ", text)).strip("; ")
    flags = ImportFlag.REEXPORT if text.startswith("pub") else _NONE
    if (found := re.match(r"(?:pub(?:\([^)]*\))? )?mod (\w+)$", text)) is not None:
        yield f"self::{found[1]}", "", found[1], _NONE
        return
    body = re.sub(r"^(?:pub(?:\([^)]*\))? )?(?:use|extern crate) ", "", text)
    for whole in _unfold(body, "::"):
        path, alias = _pair(whole)
        module, _, name = path.rpartition("::")
        if name == "self":
            last = module.rpartition("::")[2]
            yield module, "", alias if alias != path else last, flags
        elif name == "*":
            yield module, "*", "", flags
        elif name:
            yield module, name, alias if alias != path else name, flags


def _php(text: str) -> _Parts:
    text = _SPACE.sub(" ", _BLOCK_COMMENT.sub(" ", text)).strip("; ")
    if text.startswith(("require", "include")):
        _, module = _split_module(text)
        if module:
            yield "/" + module.lstrip("./"), "", "", _NONE
        return
    for whole in _unfold(re.sub(r"^use (?:function |const )?", "", text), "\\"):
        path, alias = _pair(whole)
        module, _, name = path.strip("\\ ").rpartition("\\")
        yield module, name, alias if alias != path else name, _NONE


def _unfold(text: str, separator: str, depth_left: int = _MAX_DEPTH) -> Iterator[str]:
    """Yield each path of `a::{b, c::{d, e}}` in full, without those in more brackets than anybody writes."""
    open_at = text.find("{")
    if not depth_left:
        return
    if open_at < 0:
        yield from (part.strip() for part in text.split(",") if part.strip())
        return
    prefix = text[:open_at].strip().removesuffix(separator)
    depth, start = 0, open_at + 1
    inside = text[open_at + 1 : text.rfind("}")] + ","
    for place, letter in enumerate(inside):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            part = inside[start - open_at - 1 : place].strip()
            start = open_at + 2 + place
            for one in _unfold(part, separator, depth_left - 1) if part else ():
                yield f"{prefix}{separator}{one}" if prefix else one


def _csharp(text: str) -> _Parts:
    text = _SPACE.sub(" ", text).strip("; ")
    text = re.sub(r"^(?:global )?using (?:static )?", "", text)
    alias, found, module = text.partition("=")
    if found:
        module, _, name = module.strip().rpartition(".")
        yield module, name, alias.strip(), _NONE
    elif text:
        yield text, "*", "", _NONE


def _quoted_module(text: str) -> _Parts:
    """`#include "x.h"`, `require "x"`, `import 'x'`, `source x.sh`: a file, whose names need no qualification."""
    found = re.search(r"""["'<]([^"'>\n]+)["'>]""", text)
    if found:
        prefix = "./" if "require_relative" in text else ""
        yield prefix + found[1], "*", "", _NONE


READERS: dict[str, Callable[[str], _Parts]] = {
    "python": _python,
    "javascript": _ecmascript,
    "typescript": _ecmascript,
    "tsx": _ecmascript,
    "go": _go,
    "java": _dotted,
    "kotlin": _dotted,
    "scala": _dotted,
    "rust": _rust,
    "php": _php,
    "csharp": _csharp,
    "c": _quoted_module,
    "cpp": _quoted_module,
    "ruby": _quoted_module,
    "dart": _quoted_module,
    "lua": _quoted_module,
    "solidity": _quoted_module,
}


def read_import(text: str, language: str, line: int, flags: ImportFlag) -> list[Import]:
    """Return the names that one import statement binds; `flags` are added to what the statement says itself."""
    return [Import(module, name, alias, line, own | flags) for module, name, alias, own in READERS[language](text)]
