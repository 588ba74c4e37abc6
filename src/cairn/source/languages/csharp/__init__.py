"""C#."""

from __future__ import annotations

from cairn.source.languages.support import BRACES, IN_CLASS, SLASH_BLOCKS, Support

# Directives may be inside statements and lists. Both branches are parsed, unless the second is only a fragment, such as
# another head for the same body.
_SECOND_BRANCH = (
    rb"(?m)^[ \t]*(#[ \t]*(?:else|elif)\b[^\n]*(?:\n(?![ \t]*#)[^\n]*)*?(?:[^\s;}\]]|\n\s*;))"
    rb"(?=[ \t\r]*\n[ \t]*#[ \t]*endif)"
)
_DIRECTIVE = rb"(?m)^[ \t]*(#[ \t]*(?:if|elif|else|endif|region|endregion|pragma|nullable|error|warning|line)\b[^\n]*)"

# A block of members that extend a type, since C# 14: they are the class's own, as those with `this` are.
_EXTENSIONS = rb"(?m)^([ \t]*)(extension()[ \t]*(?:<[^<>()\n]*>)?[ \t]*\([^()\n]*\)[^{};()]{0,200}?\{)"

SUPPORT = Support(
    grammar="tree_sitter_c_sharp:language",
    line_comments=("//",),
    block_comments=SLASH_BLOCKS,
    attributes=("[",),
    noise=(_SECOND_BRANCH, _DIRECTIVE),
    wrappers=(_EXTENSIONS,),
    parameters="type name",
    frames=(*BRACES, *IN_CLASS),
)
