"""Rust."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

# Macros around items that they only switch on or off, or give another form. Without the name, the grammar sees a block.
_ITEM = rb"(?:pub|fn|struct|enum|union|impl|mod|use|trait|type|const|static|unsafe|async|extern)\b"
_LEAD = rb"(?:\s|//[^\n]*\n|#\[[^\]\n]*\])*"
_NOISE = (rb"(?m)^((?:cfg|pin_project)\w*!)[ \t]*\{(?=" + _LEAD + _ITEM + rb")",)

SUPPORT = Support(
    grammar="tree_sitter_rust:language",
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("#[",),
    noise=_NOISE,
    frames=(
        *BRACES,
        ("fn f() { ", "", "; }"),
        ("impl A { ", "", " }"),
        ("impl A { ", " { $$$ }", " }"),
    ),
)
