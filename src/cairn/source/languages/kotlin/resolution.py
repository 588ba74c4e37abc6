"""How names and imports of Kotlin find what they mean."""

from __future__ import annotations

from cairn.source.languages.import_reading import read_dotted
from cairn.source.languages.rules import Rules

RULES = Rules(
    "jvm",
    implicit=True,
    package="package",
    open_types=True,
    type_side="after",
    result=":",
    constructor="",
    exports="word",
    extension=".",
    head_parameters=True,
    bounds=True,
    fields_apart=True,
)
read_import = read_dotted
