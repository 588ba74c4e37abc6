"""CMake."""

from __future__ import annotations

from cairn.source.languages.support import Support

SUPPORT = Support(
    grammar="tree_sitter_cmake:language",
    line_comments=("#",),
    block_comments=(("#[[", "]]"),),
    import_calls=r"(?:include|find_package|add_subdirectory)\s*\(",
)
