"""Kotlin."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

# Things at which the grammar loses the rest of the file: a variable called `where`, an argument called `suspend`,
# guards of Kotlin 2.1 (`is Some if ready ->`, whose condition is kept), annotations above accessors or before
# constructors.
_NOISE = (
    rb"\n[ \t]*(where\??\.)(?=\w)",
    rb"\n[ \t]*(suspend = )(?=\{)",
    rb"\b(is [\w.<>?*, ]+ if)(?=[\s(])",
    rb"\n[ \t]*(@\w+(?:\([^()\n]*\))?)(?=\s+(?:\w+ )?[gs]et\()",
    rb"\n[ \t]*(@\w+)(?= (?:internal|private|protected|public) constructor\b)",
)

SUPPORT = Support(
    grammar="tree_sitter_kotlin:language",
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("@",),
    noise=_NOISE,
    frames=(*BRACES, ("class A { ", "", " }")),
)
