"""Dockerfiles."""

from __future__ import annotations

from cairn.source.languages.support import Support

SUPPORT = Support(
    grammar="tree_sitter_dockerfile:language",
    line_comments=("#",),
    import_calls=r"FROM\s",
)
