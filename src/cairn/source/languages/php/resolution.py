"""How names and imports of PHP find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, Parts, in_one_line, pair, split_module, unfold
from cairn.source.languages.rules import Rules, words

RULES = Rules(
    "php",
    finder="php",
    this=words("$this"),
    types=words("self", "static"),
    parents=words("parent"),
    package="package",
    type_side="before",
    result=":",
    constructor="__construct",
    exports="word",
    global_functions=True,
    capital_types=True,
)


def read_import(text: str) -> Parts:
    """Read one import statement; see `cairn.source.languages.import_reading`."""
    text = in_one_line(text)
    if text.startswith(("require", "include")):
        _, module = split_module(text)
        if module:
            yield "/" + module.lstrip("./"), "", "", NO_FLAG
        return
    for whole in unfold(re.sub(r"^use (?:function |const )?", "", text), "\\"):
        path, alias = pair(whole)
        module, _, name = path.strip("\\ ").rpartition("\\")
        yield module, name, alias if alias != path else name, NO_FLAG
