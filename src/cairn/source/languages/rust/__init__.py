"""Rust."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, SLASH_BLOCKS, Support

# Macros around items that are kept as they are, often under a condition. Inside a function, such a block may be an
# argument that becomes other code, so only macros known to switch items on or off count there.
_ITEM = rb"(?:pub|fn|struct|enum|union|impl|mod|use|trait|type|const|static|unsafe|async|extern|macro_rules)\b"
_LEAD = rb"(?:\s|//[^\n]*\n|#!?\[[^\]\n]*\])*"
_OPENING = rb"![ \t]*\{)(?=" + _LEAD + _ITEM + rb")"
_WRAPPERS = (
    rb"(?m)^()((?!(?:macro_rules|quote|parse_quote)\b)(?:\w+::)*(\w+)" + _OPENING,
    rb"(?m)^([ \t]+)(((?:cfg|feature|if)_\w+|cfg_if|pin_project|pin_project_lite)" + _OPENING,
)

SUPPORT = Support(
    grammar="tree_sitter_rust:language",
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("#[",),
    wrappers=_WRAPPERS,
    frames=(
        *BRACES,
        ("fn f() { ", "", "; }"),
        ("impl A { ", "", " }"),
        ("impl A { ", " { $$$ }", " }"),
    ),
)
