"""Haskell."""

from __future__ import annotations

from cairn.source.languages.support import BARE, Support

SUPPORT = Support(
    grammar="tree_sitter_haskell:language",
    line_comments=("--",),
    block_comments=(("{-", "-}"),),
    # The grammar reads only the first branch of a conditional.
    noise=(rb"(?m)^(#[ \t]*(?:if|ifdef|ifndef|else|elif|endif)\b.*)$",),
    frames=(BARE,),
)
