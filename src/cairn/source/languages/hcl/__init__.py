"""HCL and Terraform."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_hcl:language",
    line_comments=("#", "//"),
    block_comments=SLASH_BLOCKS,
    frames=BRACES,
)
