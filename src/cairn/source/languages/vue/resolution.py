"""How names and imports of Vue find what they mean."""

from __future__ import annotations

from cairn.source.languages.ecmascript.resolution import RULES as _SCRIPTS
from cairn.source.languages.ecmascript.resolution import read_import as _read_script
from cairn.source.languages.import_reading import NO_FLAG, Parts

RULES = _SCRIPTS._replace(component="default")


def read_import(text: str) -> Parts:
    """Read an import, or a component's name in a template, as module `<Name>`, wherever its file is."""
    if text.isidentifier():
        if text[0].isupper():
            yield f"<{text}>", "default", text, NO_FLAG
    else:
        yield from _read_script(text)
