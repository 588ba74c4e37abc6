"""How names and imports of Go find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, Parts, split_module
from cairn.source.languages.rules import Rules, words

RULES = Rules(
    "go",
    finder="go",
    this=words(),
    parents=words(),
    package="directory",
    open_types=True,
    type_side="go",
    exports="capital",
)


def read_import(text: str) -> Parts:
    """Read one import statement; see `cairn.source.languages.import_reading`."""
    head, module = split_module(text)
    alias = head.strip()
    if module and alias not in ("_", "."):
        last = re.sub(r"^v\d+$", "", module.rsplit("/", 1)[-1]) or module.rsplit("/", 2)[-2]
        yield module, "", alias or re.sub(r"^go-|\.v\d+$|-go$", "", last), NO_FLAG
    elif module:
        yield module, "*" if alias == "." else "", "", NO_FLAG
