"""HTML."""

from __future__ import annotations

from cairn.source.languages.support import BARE, MARKUP_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_html:language",
    block_comments=MARKUP_BLOCKS,
    frames=(BARE,),
)
