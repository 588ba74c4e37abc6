"""Julia."""

from __future__ import annotations

from cairn.source.languages.support import Support

SUPPORT = Support(
    grammar="tree_sitter_julia:language",
    line_comments=("#",),
    block_comments=(("#=", "=#"),),
    import_calls=r"(?:using\s|include\s*\()",
    import_holders=("module_definition",),
)
