"""Building blocks for readers of import statements, and readers that several languages share.

A reader takes the text of a statement and yields (module, name, alias, flags) for each name that it binds; see
`cairn.source.imports.Import`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntFlag


class ImportFlag(IntFlag):
    """Special properties of an import."""

    REEXPORT = 1  # re-exported
    TYPE_ONLY = 2  # only types, absent at run time
    DEFERRED = 4  # inside a function, not run when the file is loaded
    WHOLE = 8  # between a library and its parts


Parts = Iterator[tuple[str, str, str, ImportFlag]]
NO_FLAG = ImportFlag(0)
SPACE = re.compile(r"\s+")
SLASH_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_MAX_DEPTH = 20
_QUOTED = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
_NAMED_FILE = re.compile(r"""["'<]([^"'>\n]+)["'>]""")


def in_one_line(text: str) -> str:
    """Return a statement without line breaks, final semicolon, and `//` and `/*` comments."""
    return SPACE.sub(" ", SLASH_COMMENT.sub(" ", text)).strip("; ")


def pair(text: str, separator: str = " as ") -> tuple[str, str]:
    """Split `name as alias`; without an alias, the alias is the name."""
    name, separated, alias = SPACE.sub(" ", text.strip()).partition(separator)
    return name.strip(), alias.strip() if separated else name.strip()


def split_module(text: str) -> tuple[str, str]:
    """Split a statement before its last quoted text, which is the module."""
    quotes = list(_QUOTED.finditer(text))
    return (text[: quotes[-1].start()], quotes[-1][1]) if quotes else (text.rstrip("; \n"), "")


def unfold(text: str, separator: str, depth_left: int = _MAX_DEPTH) -> Iterator[str]:
    """Yield each path of `a::{b, c::{d, e}}` in full, up to a sensible depth."""
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
            for path in unfold(part, separator, depth_left - 1) if part else ():
                yield f"{prefix}{separator}{path}" if prefix else path


def read_dotted(text: str) -> Parts:
    """Read an import of Java, Kotlin or Scala 2: `import a.b.*`, `import a.b as c`, `import a.{b, c => d}`."""
    text = in_one_line(text)
    for whole in unfold(re.sub(r"^import (?:static )?", "", text), "."):
        path, alias = pair(whole.replace("=>", " as "))
        module, _, name = path.rpartition(".")
        if name in ("*", "_"):
            yield module, "*", "", NO_FLAG
        elif name:
            yield module, name, alias if alias != path else name, NO_FLAG


def read_file_name(text: str) -> Parts:
    """Read `#include "x.h"`, `require "x"`, `import 'x'`, `source x.sh`: a file whose names need no qualification."""
    match = _NAMED_FILE.search(text)
    if match:
        prefix = "./" if "require_relative" in text else ""
        yield prefix + match[1], "*", "", NO_FLAG
