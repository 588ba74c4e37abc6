"""SQL."""

from __future__ import annotations

from cairn.source.languages.support import SLASH_BLOCKS, Support

# Things at which the grammar loses surrounding statements: function bodies, which may be in any language, `OUT`
# parameters, client commands, and rarer kinds of objects.
_NOISE = (
    rb"(?is)\bAS\s+\$[A-Za-z_]\w*\$(.*?)\$[A-Za-z_]\w*\$",
    rb"(?is)\bAS\s+\$\$(.*?)\$\$",
    rb"(?i)[(,]\s*(OUT)\s",
    rb"(?im)^(\\\w.*|GO|DELIMITER\b.*)[ \t\r]*$",
    rb"(?im)^((?:CREATE|ALTER|DROP|COMMENT ON)\s+"
    rb"(?:OPERATOR|AGGREGATE|CAST|DOMAIN|TEXT SEARCH|FOREIGN|EXTENSION)\b[^;]*;)",
)

SUPPORT = Support(
    grammar="tree_sitter_sql:language",
    line_comments=("--",),
    block_comments=SLASH_BLOCKS,
    noise=_NOISE,
)
