"""How names and imports of Swift find what they mean."""

from __future__ import annotations

from cairn.source.languages.rules import Rules, words

RULES = Rules(
    "swift",
    this=words("self"),
    types=words("Self"),
    implicit=True,
    package="all",
    open_types=True,
    type_side="after",
    result="->",
    constructor="init",
    exports="word",
    bounds=True,
    fields_apart=True,
)
