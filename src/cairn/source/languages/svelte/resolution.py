"""How names and imports of Svelte find what they mean."""

from cairn.source.languages.ecmascript.resolution import RULES as RULES
from cairn.source.languages.vue.resolution import read_import as read_import
