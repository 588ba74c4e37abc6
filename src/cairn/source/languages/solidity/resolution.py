"""How names and imports of Solidity find what they mean."""

from __future__ import annotations

from cairn.source.languages.import_reading import read_file_name
from cairn.source.languages.rules import Rules

RULES = Rules("", finder="file", package="all")
read_import = read_file_name
