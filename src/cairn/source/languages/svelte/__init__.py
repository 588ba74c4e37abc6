"""Svelte."""

from __future__ import annotations

from cairn.source.languages.support import MARKUP_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_svelte:language",
    block_comments=MARKUP_BLOCKS,
)
