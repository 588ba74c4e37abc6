"""How names and imports of C# find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, SPACE, ImportFlag, Parts
from cairn.source.languages.rules import Rules, words

RULES = Rules(
    "csharp",
    parents=words("base"),
    implicit=True,
    package="package",
    open_types=True,
    type_side="before",
    constructor="",
    exports="word",
    outer_packages=True,
    capital_types=True,
    extension="this",
    attribute_suffix="Attribute",
    parameters_keep_types=True,
)


def read_import(text: str) -> Parts:
    """Read one import statement; see `cairn.source.languages.import_reading`."""
    text = SPACE.sub(" ", text).strip("; ")
    flag = ImportFlag.REEXPORT if text.startswith("global ") else NO_FLAG
    text = re.sub(r"^(?:global )?using (?:static )?", "", text)
    alias, separator, module = text.partition("=")
    if separator:
        module, _, name = module.strip().rpartition(".")
        yield module, name, alias.strip(), flag
    elif text:
        yield text, "*", "", flag
