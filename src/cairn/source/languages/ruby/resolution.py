"""How names and imports of Ruby find what they mean."""

from __future__ import annotations

from cairn.source.languages.import_reading import read_file_name
from cairn.source.languages.rules import Rules, words

RULES = Rules(
    "ruby",
    finder="ruby",
    this=words("self"),
    prefix="@",
    implicit=True,
    package="all",
    open_types=True,
    open_namespaces=False,
    capital_types=True,
    maker="new",
    constructor="initialize",
    class_part="ClassMethods",
    mixins=words("module"),
)
read_import = read_file_name
