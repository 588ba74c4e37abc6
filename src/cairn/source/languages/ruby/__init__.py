"""Ruby."""

from __future__ import annotations

from cairn.source.languages.support import BARE, Support

SUPPORT = Support(
    grammar="tree_sitter_ruby:language",
    line_comments=("#",),
    block_comments=(("=begin", "=end"),),
    import_calls=r"(?:require|require_relative|load|autoload)\b[ (]",
    frames=(BARE, ("", "\nend", "")),
)
