"""Dart."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, IN_CLASS, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_dart:language",
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("@",),
    import_calls=r"(?:import|export|part)\s",
    parameters="type name",
    frames=(*BRACES, *IN_CLASS),
)
