"""Elixir."""

from __future__ import annotations

from cairn.source.languages.heex_code import code_of_elixir
from cairn.source.languages.support import BARE, Support

SUPPORT = Support(
    grammar="tree_sitter_elixir:language",
    line_comments=("#",),
    attributes=("@",),
    code_of=code_of_elixir,
    import_calls=r"(?:import|alias|use|require)\s",
    frames=(BARE, ("", " do\n  $$$\nend", "")),
)
