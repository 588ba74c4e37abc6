"""Make."""

from __future__ import annotations

from cairn.source.languages.support import Support

SUPPORT = Support(
    grammar="tree_sitter_make:language",
    line_comments=("#",),
    # The grammar mistakes a conditional for part of the rule above it.
    noise=(rb"(?m)^( *(?:ifn?def|ifn?eq|else|endif)\b.*)$",),
    import_calls=r"-?include\s",
)
