"""How names and imports of Java find what they mean."""

from __future__ import annotations

from cairn.source.languages.import_reading import read_dotted
from cairn.source.languages.rules import Rules

RULES = Rules(
    "jvm",
    implicit=True,
    package="package",
    type_side="before",
    bounds=True,
    constructor="",
    exports="word",
    methods_apart=True,
    parameters_keep_types=True,
)
read_import = read_dotted
