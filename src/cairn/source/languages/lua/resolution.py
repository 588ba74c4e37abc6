"""How names and imports of Lua find what they mean."""

from __future__ import annotations

from cairn.source.languages.import_reading import read_file_name
from cairn.source.languages.rules import Rules

RULES = Rules("", finder="lua", package="all")
read_import = read_file_name
