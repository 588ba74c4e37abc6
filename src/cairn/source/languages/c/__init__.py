"""C."""

from __future__ import annotations

from cairn.source.languages.c_family import C_NOISE
from cairn.source.languages.support import BRACES, IN_FUNCTION, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_c:language",
    folders=("c", "c_family"),
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("__attribute__",),
    noise=C_NOISE,
    parameters="type name",
    frames=(*BRACES, ("void f() { ", "", "; }"), *IN_FUNCTION),
)
