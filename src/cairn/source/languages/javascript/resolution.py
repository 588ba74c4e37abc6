"""How names and imports of JavaScript find what they mean."""

from cairn.source.languages.ecmascript.resolution import RULES as RULES
from cairn.source.languages.ecmascript.resolution import read_import as read_import
