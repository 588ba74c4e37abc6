"""CSS."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_css:language",
    block_comments=SLASH_BLOCKS,
    import_calls=r"@import\s",
    frames=BRACES,
)
