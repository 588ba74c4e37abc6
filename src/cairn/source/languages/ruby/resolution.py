"""How names and imports of Ruby find what they mean."""

from __future__ import annotations

import re

from cairn.source.languages.import_reading import ImportFlag, Parts, read_file_name
from cairn.source.languages.rules import Rules, words

RULES = Rules(
    "ruby",
    finder="ruby",
    this=words("self"),
    prefix="@",
    implicit=True,
    package="all",
    open_types=True,
    open_namespaces=False,
    capital_types=True,
    maker="new",
    constructor="initialize",
    class_part="ClassMethods",
    mixins=words("module"),
)

_AUTOLOAD = re.compile(r"autoload\b\s*\(?\s*:(\w+)")
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def read_import(text: str) -> Parts:
    """Read `require`, and `autoload :Name, "path"`; without a path, as in Rails, that is the name in lower case."""
    found = _AUTOLOAD.match(text)
    if found is None:
        yield from read_file_name(text)
        return
    given = [module for module, *_ in read_file_name(text)]
    module = given[0] if given and given[0] else f"::{_WORD_BEGINS.sub('_', found[1]).lower()}"
    yield module, "", "", ImportFlag.DEFERRED
