"""Scala."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_scala:language",
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("@",),
    frames=(*BRACES, ("class A { ", "", " }")),
)
