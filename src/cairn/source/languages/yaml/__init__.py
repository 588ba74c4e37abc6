"""YAML."""

from __future__ import annotations

from cairn.source.languages.support import BARE, Support

SUPPORT = Support(
    grammar="tree_sitter_yaml:language",
    line_comments=("#",),
    frames=(BARE,),
)
