"""Reads the import statements of each language: the module, the imported name, and its local name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from cairn.source.languages import load_part
from cairn.source.languages.import_reading import ImportFlag as ImportFlag
from cairn.source.languages.import_reading import Parts


class Import(NamedTuple):
    """One imported name.

    `name` is empty if the module itself is imported, `*` for all its names. `alias` is the local name, empty if nothing
    is bound. An empty `module` with a name means that this file exports the name as `alias`.
    """

    module: str
    name: str
    alias: str
    line: int
    flags: ImportFlag = ImportFlag(0)


def read_import(text: str, language: str, line: int, flags: ImportFlag) -> list[Import]:
    """Return the names that one import statement binds; `flags` are added to those the statement itself implies."""
    return [Import(module, name, alias, line, own | flags) for module, name, alias, own in _reader(language)(text)]


@cache
def _reader(language: str) -> Callable[[str], Parts]:
    resolution = load_part(language, "resolution")
    if resolution is None:
        raise LookupError(f"{language} has a query for imports, but no resolution.py that reads them")
    reader: Callable[[str], Parts] = resolution.read_import
    return reader


def without_known(imports: list[Import], defined: Iterable[str]) -> list[Import]:
    """Return a file's imports without those template components that it imports or defines in code.

    Args:
        imports: all of them; the module of a component begins with `<`.
        defined: the names that the file defines.
    """
    own = [imported for imported in imports if not imported.module.startswith("<")]
    if len(own) == len(imports):
        return imports
    known = {imported.alias for imported in own}.union(defined)
    return [one for one in imports if not one.module.startswith("<") or one.alias not in known]
