"""Python."""

from __future__ import annotations

from cairn.source.languages.support import BARE, Support

SUPPORT = Support(
    grammar="tree_sitter_python:language",
    line_comments=("#",),
    attributes=("@",),
    frames=(
        BARE,
        ("", ":\n    $$$", ""),
        ("try:\n    pass\n", "", ""),
        ("try:\n    pass\n", ":\n    $$$", ""),
        ("", "\ndef f(): pass", ""),
    ),
)
