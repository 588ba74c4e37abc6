"""How names and imports of C++ find what they mean."""

from cairn.source.languages.c_family.resolution import RULES as RULES
from cairn.source.languages.c_family.resolution import read_import as read_import
