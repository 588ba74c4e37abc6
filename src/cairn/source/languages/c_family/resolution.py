"""How names and imports of C and C++ find what they mean."""

from __future__ import annotations

from cairn.source.languages.import_reading import read_file_name
from cairn.source.languages.rules import Rules

RULES = Rules(
    "c",
    finder="c",
    implicit=True,
    package="all",
    open_types=True,
    type_side="before",
    constructor="",
    parameters_keep_types=True,
)
read_import = read_file_name
