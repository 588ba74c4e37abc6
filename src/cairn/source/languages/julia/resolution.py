"""How names and imports of Julia find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, SPACE, Parts, pair, read_file_name
from cairn.source.languages.rules import Rules, words

_COMMENT = re.compile(r"#=.*?=#|#[^\n]*", re.DOTALL)
_KEYWORD = re.compile(r"(?:using|import)\s+")

# An included file is part of the enclosing module, so a project's files share their names.
RULES = Rules(
    "julia",
    finder="julia",
    this=words(),
    parents=words(),
    package="all",
    open_types=True,
    type_side="after",
    result="::",
    constructor="",
)


def read_import(text: str) -> Parts:
    """Read `using A, B.C`, `import A: b as c` or `include("a.jl")`.

    A leading dot means a module of the same project, whose names are visible without an import.
    """
    if not _KEYWORD.match(text):
        yield from read_file_name(text)
        return
    text = SPACE.sub(" ", _COMMENT.sub(" ", _KEYWORD.sub("", text, count=1))).strip()
    module, colon, names = text.partition(":")
    for part in names.split(",") if colon else ():
        name, alias = pair(part)
        if name and not module.startswith("."):
            yield module.strip(), name, alias, NO_FLAG
    for part in () if colon else text.split(","):
        module, alias = pair(part)
        if module and not module.startswith("."):
            yield module, "", alias if alias != module else module.rpartition(".")[2], NO_FLAG
