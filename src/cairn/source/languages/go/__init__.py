"""Go."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_go:language",
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    parameters="name type",
    frames=(*BRACES, ("func f() { ", "", " }"), ("func f() { ", " { $$$ }", " }")),
)
