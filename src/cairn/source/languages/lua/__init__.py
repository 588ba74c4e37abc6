"""Lua."""

from __future__ import annotations

from cairn.source.languages.support import BARE, Support

SUPPORT = Support(
    grammar="tree_sitter_lua:language",
    line_comments=("--",),
    block_comments=(("--[[", "--]]"),),
    import_calls=r"(?:local\s+[\w, ]+=\s*)?require\b",
    frames=(BARE, ("return ", "", ""), ("", " end", ""), ("", " do end", "")),
)
