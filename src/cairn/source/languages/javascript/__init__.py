"""JavaScript."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

SUPPORT = Support(
    grammar="tree_sitter_javascript:language",
    folders=("javascript", "ecmascript"),
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("@",),
    import_calls=r"(?:const|let|var)\s+[^=;]+=\s*require\(",
    frames=(*BRACES, ("class A { ", "", " }"), ("class A { ", " { $$$ }", " }")),
)
