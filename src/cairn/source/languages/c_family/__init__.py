"""Shared by C and C++; not a language of its own."""

from __future__ import annotations

# Macros in places where C's grammar allows none: `X_NAMESPACE_BEGIN` or `Q_OBJECT` on a line, `class EXPORT Name {`,
# `X_API int f();`, `int f() X_NOEXCEPT {`; and `[[nodiscard]]`. Missing one can cost a file all of its definitions.
# Each pattern begins with a literal, which makes it fast.
C_NOISE = (
    rb"\n[ \t]*(_*[A-Z]+_[A-Z0-9_]+)(?=[ \t]*\r?\n(?!\w+ ?\())",
    rb"class ([A-Z][A-Z0-9_]*(?:\([^()\n]*\))?)(?=\s+\w+\s*(?:final\s*)?[:{])",
    rb"struct ([A-Z][A-Z0-9_]*(?:\([^()\n]*\))?)(?=\s+\w+\s*(?:final\s*)?[:{])",
    rb"\n[ \t]*([A-Z]+_[A-Z0-9_]+)\s+(?=(?:[\w:<>,]+[\s*&]+){1,6}[\w:~]+\()",
    rb"\)(?: const| noexcept| override)*\s+([A-Z]+_[A-Z0-9_]+(?:\([^()\n]*\))?)(?=\s*[{;])",
    rb"(\[\[[^\[\]\n]*\]\])",
)
