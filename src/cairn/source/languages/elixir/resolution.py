"""How names and imports of Elixir find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import NO_FLAG, SPACE, ImportFlag, Parts, unfold
from cairn.source.languages.rules import Rules, words

RULES = Rules(
    "elixir",
    this=words("__MODULE__"),
    implicit=True,
    parents=words(),
    package="package",
    open_namespaces=False,
    constructor="",
    capital_types=True,
    functions_apart=True,
)

_STATEMENT = re.compile(r"^(alias|import|require|use)[ (]\s*(.*)$", re.DOTALL)
_OPTION = re.compile(r",\s*\w+:.*$", re.DOTALL)
_RENAMED = re.compile(r",\s*as:\s*([\w.]+)")
_MODULES = re.compile(r"[\w.]+(?:\{[^{}]*\})?")


def read_import(text: str) -> Parts:
    """Read one import statement; see `cairn.source.languages.import_reading`."""
    statement = _STATEMENT.match(text)
    if statement is None:
        return
    keyword, rest = statement[1], SPACE.sub(" ", statement[2])
    renamed = _RENAMED.search(rest)
    named = _MODULES.match(_OPTION.sub("", rest).replace(".{", "{").replace("unquote(__MODULE__)", "__MODULE__"))
    for whole in unfold(named[0], ".") if named is not None else ():
        module, _, name = whole.strip(".").rpartition(".")
        if keyword == "import":
            yield whole, "*", "", NO_FLAG
        elif keyword == "use":
            yield whole, "*", "", ImportFlag.REEXPORT
        elif keyword == "alias" or renamed is not None:
            yield module, name, renamed[1] if renamed is not None else name, NO_FLAG
        else:
            yield module, name, "", NO_FLAG
