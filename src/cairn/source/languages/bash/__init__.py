"""Bash and other shells."""

from __future__ import annotations

from cairn.source.languages.support import BARE, Support

SUPPORT = Support(
    grammar="tree_sitter_bash:language",
    line_comments=("#",),
    import_calls=r"(?:source|\.)\s+\S",
    frames=(BARE,),
)
