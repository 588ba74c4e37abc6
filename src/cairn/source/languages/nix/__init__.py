"""Nix."""

from __future__ import annotations

from cairn.source.languages.support import BARE, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_nix:language",
    line_comments=("#",),
    block_comments=SLASH_BLOCKS,
    import_calls=r"import\s",
    frames=(BARE,),
)
