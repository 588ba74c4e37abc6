"""Solidity."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_solidity:language",
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    parameters="type name",
    frames=(*BRACES, ("contract A { ", "", " }"), ("contract A { function f() { ", "", "; } }")),
)
