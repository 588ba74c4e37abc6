"""Svelte: components whose scripts and markup are read as TypeScript."""

from __future__ import annotations

from cairn.source.languages.support import SLASH_BLOCKS, Support
from cairn.source.languages.template_code import code_of_svelte

SUPPORT = Support(
    grammar="tree_sitter_typescript:language_typescript",
    folders=("typescript", "ecmascript", "vue"),
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("@",),
    import_calls=r"(?:const|let|var)\s+[^=;]+=\s*require\(",
    code_of=code_of_svelte,
)
