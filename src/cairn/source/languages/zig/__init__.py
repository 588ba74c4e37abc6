"""Zig."""

from __future__ import annotations

from cairn.source.languages.support import Support

SUPPORT = Support(
    grammar="tree_sitter_zig:language",
    line_comments=("//",),
    import_calls=r"(?:pub\s+)?const\s+\w+\s*=\s*@import\(",
)
