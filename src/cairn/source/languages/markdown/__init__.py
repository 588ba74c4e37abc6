"""Markdown."""

from __future__ import annotations

from cairn.source.languages.support import Support

SUPPORT = Support(
    grammar="tree_sitter_markdown:language",
)
