"""How names and imports of Python find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, SPACE, ImportFlag, Parts, pair
from cairn.source.languages.rules import Rules, words

_COMMENT = re.compile(r"#[^\n]*")

RULES = Rules(
    "python",
    finder="python",
    this=words("self"),
    types=words("cls"),
    parents=words("super()"),
    type_side="after",
    result="->",
    constructor="__init__",
    functions_are_objects=True,
)


def read_import(text: str) -> Parts:
    """Read one import statement; see `cairn.source.languages.import_reading`."""
    text = SPACE.sub(" ", _COMMENT.sub("", text).replace("\\\n", " ")).strip()
    if text.startswith("from "):
        module, _, names = text[5:].partition(" import ")
        module = module.replace(" ", "")
        for part in names.strip("() ").split(","):
            name, alias = pair(part)
            if name:
                # `from x import name as name` re-exports the name, by the rule for stub files.
                flags = ImportFlag.REEXPORT if f"{name} as {name}" in part else NO_FLAG
                yield module, name, "" if name == "*" else alias, flags
        return
    for part in text.removeprefix("import ").split(","):
        module, alias = pair(part)
        if alias != module:
            yield module, "", alias, NO_FLAG
        elif module:
            yield module, "", module.partition(".")[0] if "." in module else module, NO_FLAG
