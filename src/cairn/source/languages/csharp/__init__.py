"""C#."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, IN_CLASS, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_c_sharp:language",
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("[",),
    parameters="type name",
    frames=(*BRACES, *IN_CLASS),
)
