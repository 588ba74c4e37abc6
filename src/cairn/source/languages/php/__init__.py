"""PHP."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_php:language_php",
    line_comments=("//", "# "),  # `#[` opens an attribute, which is part of the declaration's node
    block_comments=SLASH_BLOCKS,
    import_calls=r"(?:require|include)(?:_once)?\b",
    parameters="type name",
    frames=(*BRACES, ("", ";", ""), ("class A { ", "", " }"), ("class A { ", " { $$$ }", " }")),
)
