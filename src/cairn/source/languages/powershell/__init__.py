"""PowerShell."""

from __future__ import annotations

from cairn.source.languages.support import Support

SUPPORT = Support(
    grammar="tree_sitter_powershell:language",
    line_comments=("#",),
    block_comments=(("<#", "#>"),),
    attributes=("[",),
    noise=(rb"(=[ \t]*\{[ \t]*\})",),  # an empty block as a parameter's default value
    import_calls=r"(?:using|Import-Module)\s|\.\s+\S",
)
