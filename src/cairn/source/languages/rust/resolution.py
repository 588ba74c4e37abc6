"""How names and imports of Rust find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, ImportFlag, Parts, in_one_line, pair, unfold
from cairn.source.languages.rules import Rules, words

RULES = Rules(
    "rust",
    finder="rust",
    this=words("self"),
    types=words("Self"),
    parents=words(),
    open_types=True,
    type_side="after",
    result="->",
    exports="word",
    by_name=False,
    bounds=True,
    fields_apart=True,
    paths_marked=True,
)


def read_import(text: str) -> Parts:
    """Read one import statement; see `cairn.source.languages.import_reading`."""
    text = in_one_line(text)
    flags = ImportFlag.REEXPORT if text.startswith("pub") else NO_FLAG
    if (declared := re.match(r"(?:pub(?:\([^)]*\))? )?mod (\w+)$", text)) is not None:
        yield f"self::{declared[1]}", "", declared[1], NO_FLAG
        return
    body = re.sub(r"^(?:pub(?:\([^)]*\))? )?(?:use|extern crate) ", "", text)
    for whole in unfold(body, "::"):
        path, alias = pair(whole)
        module, _, name = path.rpartition("::")
        if name == "self":
            last = module.rpartition("::")[2]
            yield module, "", alias if alias != path else last, flags
        elif name == "*":
            yield module, "*", "", flags
        elif name:
            yield module, name, alias if alias != path else name, flags
